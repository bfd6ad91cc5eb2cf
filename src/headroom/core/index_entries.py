"""What pods and holds are looked up by: their entries in the engine's indexes.

The entries follow from the object, so an index cannot be wrong about an object that is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from headroom.core.actions import CreateGuardian
from headroom.core.claims import claim_of
from headroom.core.fences import is_fence, is_rival, rival_kind
from headroom.core.hold_state.allocate_policy_groups import policy_group_of
from headroom.core.hold_state.memory import Permit, SlotState
from headroom.core.holds import Hold
from headroom.core.latches import claims_on, kept_for, parents_on
from headroom.core.names import (
    DEFAULT_SCHEDULER_NAME,
    ROLE_FENCE,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, Placement, Pod
from headroom.core.owners import EVERYWHERE, pod_keys, reach
from headroom.core.plan import HANDOVER_WORK, Sequence, Work
from headroom.core.pod_memory import PodMemory
from headroom.core.resources import PODS, Resources
from headroom.core.selection import only_node
from headroom.core.subjects import Subject, hold_subject


class By(StrEnum):
    """The kinds of entries: which objects are looked up, and by what."""

    USING = "using"  # holds that have or may have a guardian, by the namespace it is charged to
    QUOTA = "quota"  # objects that it counts, by its name and their namespace; with "": all
    PACE_WAITING = "pace waiting"  # holds that wait for a turn to get a guardian, by pace
    PACE_UNDER_WAY = "pace under way"  # holds whose guardian is being created, by pace
    REACHING = "reaching"  # holds, by a namespace in which they may find an owner
    SLOT = "slot"  # holds without an object of their own, by headroom
    SLOT_IN = "slot in"  # the same, by the headroom's namespace
    SLOT_OBJECT = "slot object"  # holds that are slots and objects of their own, by headroom
    UNSEEN_SLOT = "unseen slot"  # slots that are no objects and have no state yet, by headroom
    SLOT_PHASE = "slot phase"  # slots with a state, by headroom and phase
    SLOT_TROUBLE = "slot trouble"  # those of them that cannot be held, by headroom
    SLOT_LIMITED = "slot limited"  # and those for which a limit is the reason, by headroom
    DEPENDING = "depending"  # headrooms, by what their slots depend on
    OWNER_RULE = "owner rule"  # headrooms with a promise, by namespace and key of their rules
    WITHOUT_WITNESS = "without witness"  # holds and headrooms, by namespace and key of their rules
    WITNESS = "witness"  # holds and headrooms, by the pod that stands for those without a door
    CONTROLLER = "controller"  # pods that came to a door, by the uid of their controller
    KEPT_BACK = "kept back"  # owners that somebody else's gate keeps back, by headroom
    ARRIVED = "arrived"  # owners that have come and have no node, by headroom
    TAKEN = "taken"  # pods that have not ended, by the node whose room they ask for
    USED = "used"  # those of them that are no placeholders, by the same
    UNPLACED = "unplaced"  # those of these for which a node may come, by what they ask for
    COMPANION = "companion"  # headrooms, by the objects that they have besides their slots
    EXPECTING = "expecting"  # workloads with pods to come, by namespace
    DEPLOYMENT = "deployment"  # workloads that have ReplicaSets, by uid
    SCALING = "scaling"  # autoscalers, by namespace, kind and name of their target
    CLAIMANT = "claimant"  # pods with a claim, by hold
    ARRIVING = "arriving"  # owners with a claim that kube-scheduler is to place, by node
    PENDING = "pending"  # pods that kube-scheduler has still to place; all, by nothing
    BURST = "burst"  # the same, by their shape and the room that a burst has for them
    PREEMPTING = "preempting"  # those of them that it has nominated; all, by nothing
    RIVAL = "rival"  # refused pods that wait for any room, by their kind: see `fences`
    GIVEN_UP = "given up"  # guardians that go for a burst; all, by nothing
    RELEASED = "released"  # owners that go on without a hold or headroom, by it
    WAITING = "waiting"  # pods at our doors, and those that grow in place, each by its own key
    OWNER = "owner"  # pods that a hold may be for, by namespace and index key
    GATE = "gate"  # pods, by scheduling gate
    OWNER_LABEL = "owner label"  # pods with their own uid as a label, by that label
    VOLUME_CLAIM = "volume claim"  # owners at our doors, by volume claim
    GUARDIAN = "guardian"  # by hold
    UNPLACED_GUARDIAN = "unplaced guardian"  # by the only node that it may go to
    SLOT_GUARDIAN = "slot guardian"  # guardians of slots that have not ended, by headroom
    SLOT_GUARDIAN_IN = "slot guardian in"  # the same, by the headroom's namespace
    LATCH = "latch"  # those that count, each by its own key
    LATCH_OF_OWNER = "latch of owner"  # latches that name a pod as the one to come, by that pod
    LATCH_OF_HOLD = "latch of hold"  # latches that were made for a hold or its owners, by hold
    REUSABLE_LATCH = "reusable latch"  # latches that may be moved to another handover, by size
    PARKED = "parked"  # owners whose handover is about to start, by node
    RESERVED = "reserved"  # the same, by hold
    FENCE = "fence"  # by node; those that have ended keep nobody off, and are to be removed
    FENCE_FOR = "fence for"  # by the namespace on whose behalf it exists
    RETURNING = "returning"  # holds that have or had owners on a node and may get room back, by it
    POLICY_GROUP = "policy group"  # holds that have not ended: see `allocate_policy_groups`
    HANDOVER = "handover"  # nodes with a handover in progress; all, by nothing
    EXPECTED = "expected"  # work that makes room for others than guardians, by node
    CREATING_GUARDIAN = "creating guardian"  # for kube-scheduler to place, by its only node
    BINDING = "binding"  # guardians that we are binding, by node
    TAKE_BACK = "take back"  # claims that are being taken back, by node


class BurstGroup(NamedTuple):
    """Pods that a burst may place alike, and the node where it has room for them, if any."""

    requests: Resources
    placement: Placement
    priority: int
    preempts: bool
    room: str = ""


class Entry(NamedTuple):
    """One place in an index; `amount` is what the object adds to the total there."""

    by: By
    value: Hashable = ""
    amount: Resources | None = None


def hold_entries(
    hold: Hold,
    across_namespaces: bool,
    state: SlotState | None = None,
    returns_on: tuple[str, ...] = (),
) -> tuple[Entry, ...]:
    """All entries of a hold.

    `state` is what its headroom knows of it, if it is a slot; `returns_on` are nodes on which it
    may get room back.
    """
    found = [Entry(By.REACHING, namespace) for namespace in reach(hold, across_namespaces)]
    found += [Entry(By.RETURNING, node) for node in returns_on]
    group = policy_group_of(hold) if not hold.slot and not hold.terminal else ""
    if group:
        found.append(Entry(By.POLICY_GROUP, group))
    if hold.slot:
        found += (Entry(By.SLOT, hold.group), Entry(By.SLOT_IN, hold.parent.namespace))
        if state is None:
            found.append(Entry(By.UNSEEN_SLOT, hold.group))
    if hold.member is not None:
        found.append(Entry(By.SLOT_OBJECT, hold.group))
    if state is not None:
        found.append(Entry(By.SLOT_PHASE, (hold.group, state.phase)))
        if state.trouble is not None:
            found.append(Entry(By.SLOT_TROUBLE, hold.group))
        if state.limited:
            found.append(Entry(By.SLOT_LIMITED, hold.group))
    return tuple(found)


def work_entries(sequence: Sequence) -> list[tuple[Subject, tuple[Entry, ...]]]:
    """The entries of a sequence: other decisions count its writes while they are in progress."""
    found: list[tuple[Subject, tuple[Entry, ...]]] = []
    for action in chain.from_iterable(sequence.steps):
        match action:
            case CreateGuardian(hold=hold, bound=True):
                entry = Entry(By.BINDING, action.node, action.requests)
                found.append((hold_subject(hold.parent), (entry,)))
            case CreateGuardian(hold=hold, gated=False):
                found.append(
                    (hold_subject(hold.parent), (Entry(By.CREATING_GUARDIAN, pin_of(action)),))
                )
    work, subjects = sequence.work, sequence.subjects
    if work in (Work.DOOR1, Work.DOOR1_SLOW):
        expected = Entry(By.EXPECTED, subjects[0].identity)
        found.append((subjects[0], (expected, Entry(By.HANDOVER))))
    elif work in HANDOVER_WORK:
        found.append((subjects[0], (Entry(By.HANDOVER),)))
    elif work is Work.TAKE_BACK:
        found.append((subjects[1], (Entry(By.TAKE_BACK, subjects[0].identity),)))
    return found


def guardian_to_place(sequence: Sequence) -> CreateGuardian | None:
    """The guardian that a sequence creates for kube-scheduler to place, if it creates one."""
    for action in chain.from_iterable(sequence.steps):
        match action:
            case CreateGuardian(bound=False, gated=False):
                return action
    return None


def pin_of(create: CreateGuardian) -> str:
    """The only node that a guardian may go to; empty for any."""
    return create.node or create.hold.template.node


def usage_entries(permit: Permit | None, guardians: Iterable[Pod]) -> tuple[Entry, ...]:
    """What a hold uses of limits: once, the largest of its guardians or the one it may have."""
    counted = [
        (pod.rules_namespace, pod.requests)
        for pod in guardians
        if pod.deleted is None and not pod.finished
    ]
    counted += [(permit.namespace, permit.requests)] if permit is not None else []
    largest: dict[str, Resources] = {}
    for namespace, requests in counted:
        largest[namespace] = largest.get(namespace, requests).largest(requests)
    return tuple(Entry(By.USING, namespace, each) for namespace, each in largest.items())


def pod_entries(pod: Pod, waits: bool, namespace: str, memory: PodMemory) -> tuple[Entry, ...]:
    """All entries of a pod.

    `waits` says whether it waits at one of our doors or grows in place, `namespace` is the
    operator's own.
    """
    role, claim = pod.labels.get(ROLE_LABEL), claim_of(pod)
    found = [Entry(By.CLAIMANT, claim[0])] if claim is not None else []
    comes = waits
    if role == ROLE_GUARDIAN:
        found += _guardian(pod)
        comes = not pod.node and bool(pod.placement.pod_affinity.required)  # It may follow a pod.
    elif role == ROLE_LATCH and pod.key.namespace == namespace:
        found += _latch(pod)
    elif role == ROLE_FENCE and is_fence(pod):
        found += (Entry(By.FENCE, pod.node), Entry(By.FENCE_FOR, pod.rules_namespace))
    elif waits:
        found.append(Entry(By.WAITING, pod.key))
        found += [Entry(By.VOLUME_CLAIM, Key(pod.key.namespace, name)) for name in pod.claims]
    if comes:
        places = (EVERYWHERE, pod.key.namespace)
        found += [Entry(By.OWNER, (place, key)) for key in pod_keys(pod) for place in places]
    for gate in pod.gates:
        found.append(Entry(By.GATE, gate))
    if pod.uid and pod.uid in pod.labels.values():
        labels = pod.labels.items()
        found += [Entry(By.OWNER_LABEL, label) for label, uid in labels if uid == pod.uid]
    if role is None and not pod.node and not pod.finished:
        if pod.deleted is None and memory.ahead is not None:
            found += [Entry(By.RELEASED, whole) for whole in memory.ahead.wholes]
        if pod.scheduler == DEFAULT_SCHEDULER_NAME:
            found += _unplaced(pod, claim is not None, memory.room_on)
    if pod.unschedulable_since is not None and is_rival(pod):
        found.append(Entry(By.RIVAL, rival_kind(pod)))
    if memory.given_up:
        found.append(Entry(By.GIVEN_UP))
    return tuple(found)


def burst_group(pod: Pod, room: str = "") -> BurstGroup:
    """The group of a pod that kube-scheduler has still to place."""
    return BurstGroup(pod.requests, pod.placement, pod.priority, pod.preempts, room)


def load_entries(pod: Pod) -> tuple[Entry, ...]:
    """What a pod adds to the load of its node; a placeholder does not count as real use."""
    if pod.finished:
        return ()
    taken = Entry(By.TAKEN, pod.node, pod.requests)
    if ROLE_LABEL in pod.labels or pod.placeholder:
        return (taken,)
    used = Entry(By.USED, pod.node, pod.requests)
    asks = not pod.node and not pod.gates and pod.deleted is None  # an autoscaler for a node
    return (taken, used, Entry(By.UNPLACED, pod.requests)) if asks else (taken, used)


def _unplaced(pod: Pod, claims: bool, room: str) -> list[Entry]:
    """A pod that kube-scheduler has still to place; without a claim if we can judge its needs."""
    if claims:
        return [Entry(By.ARRIVING, pod.nominated)] if pod.nominated else []
    if pod.deleted is not None or pod.gates or pod.unsupported or pod.claims:
        return []
    found = [Entry(By.PENDING), Entry(By.BURST, burst_group(pod, room))]
    return [*found, Entry(By.PREEMPTING)] if pod.nominated else found


def _guardian(pod: Pod) -> Iterator[Entry]:
    parent = kept_for(pod)
    yield Entry(By.GUARDIAN, parent)
    if pod.finished:
        return
    if not pod.node and not pod.gates and pod.deleted is None:
        yield Entry(By.UNPLACED_GUARDIAN, only_node(pod.placement))
    whole, of_slot, _ = parent.partition("#")
    if of_slot:
        yield Entry(By.SLOT_GUARDIAN, whole, Resources({**pod.requests, PODS: 1}))
        yield Entry(By.SLOT_GUARDIAN_IN, whole.partition("/")[2].partition("/")[0])


def _latch(pod: Pod) -> list[Entry]:
    owners = dict.fromkeys([line.owner for line in claims_on(pod)])
    return [
        Entry(By.LATCH, pod.key),
        *[Entry(By.LATCH_OF_OWNER, owner) for owner in owners],
        *[Entry(By.LATCH_OF_HOLD, parent) for parent in parents_on(pod)],
    ]
