"""What a headroom wishes for: the decision of the engine about objects that were read once.

The inputs of the decision are those of the engine (`engine.headrooms.size_inputs`). `_believed`
replaces those that only a running operator can know, by what it wrote into the status. `slots` says
how each slot stands, `plan_result` where new ones would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headroom.cli.source import World
from headroom.cli.views.observed import observed
from headroom.cli.views.promises import learnt_size
from headroom.cli.views.shapes import shapes_before
from headroom.core import names
from headroom.core.authenticity import stands_for
from headroom.core.claims import claim_of
from headroom.core.demand.followers import Followed, FollowerSlot, Following, owner_uid
from headroom.core.headrooms.chunks import DAEMON_SET, daemon_set_of, overhead_of
from headroom.core.headrooms.decision import decide, opening
from headroom.core.headrooms.dependencies import On, causes
from headroom.core.headrooms.headrooms import NODE_CHUNK, Headroom, Workload
from headroom.core.headrooms.memory import HeadroomMemory
from headroom.core.headrooms.shapes import with_found_owners
from headroom.core.headrooms.wanted_slots import NO_BATCH_LIMITS, SizeView, WantedSlots
from headroom.core.holds import Hold
from headroom.core.objects import Key, Pod
from headroom.core.policy import Policy
from headroom.core.promise.announced import Learnt
from headroom.core.resources import Resources
from headroom.engine.cron import calendar
from headroom.engine.headrooms import auto_shapes, size_inputs, slot_objects
from headroom.engine.ledger import Ledger
from headroom.ports import Thing

UNSERVED = HeadroomMemory()
BY_PODS = frozenset({On.DAEMON_SETS, On.SHAPES, On.FOLLOWED})  # Load and arrivals are believed.
AS_IF_ALLOWED = Policy(across_namespaces=True)  # What the operator's flags say is not known here.


def wish_of(world: World, headroom: Headroom) -> WantedSlots:
    """Which slots the headroom wishes for now, and why not more."""
    return decided(world, headroom).wished


def decided(world: World, headroom: Headroom) -> HeadroomMemory:
    """What the operator would decide about a headroom, once for each world.

    It decides nothing about one that it does not serve.
    """
    ledger, whole = _ledger_of(world), headroom.parent.whole
    memory = ledger.slots.memory.get(whole, UNSERVED)
    if memory.opened is None and memory is not UNSERVED:
        memory = ledger.slots.memory[whole] = _decided(world, ledger, whole)
    return memory


def guardians_of(world: World, headroom: Headroom) -> dict[str, Pod]:
    """The guardians that stand for a headroom, by slot; of two for one slot, one with a node."""
    standing = [  # Chosen before they are sorted: a cluster may have 50,000 pods.
        pod
        for pod in world.pods
        if pod.labels.get(names.ROLE_LABEL) == names.ROLE_GUARDIAN
        and pod.annotations.get(names.PARENT_ANNOTATION) == headroom.parent.whole
        and pod.deleted is None
        and not pod.finished
        and stands_for(headroom, pod)
    ]
    standing.sort(key=lambda pod: (bool(pod.node), pod.key))
    return {pod.annotations.get(names.SLOT_ANNOTATION, ""): pod for pod in standing}


def claimants_of(world: World, headroom: Headroom) -> dict[str, Pod]:
    """Pods with a claim on a slot that have no node yet, by slot."""
    coming = [
        pod
        for pod in world.pods
        if pod.annotations.get(names.CLAIMED_ANNOTATION) == headroom.parent.whole
        and not pod.node
        and not pod.finished
    ]
    coming.sort(key=lambda pod: pod.key)
    return {pod.annotations.get(names.CLAIMED_SLOT_ANNOTATION, ""): pod for pod in coming}


def workload_of(world: World, headroom: Headroom) -> Workload | None:
    """The workload whose pods the slots are like, if it was read."""
    source, namespace = headroom.slot.source, headroom.parent.namespace
    matching = (each for each in world.workloads if each.ref == source)
    return next((each for each in matching if each.namespace == namespace), None)


def members_of(world: World, headroom: Headroom) -> dict[str, Hold]:
    """The objects that stand for a headroom's slots, by slot."""
    return slot_objects.members(_ledger_of(world), headroom)


def claimed_slots(world: World, headroom: Headroom) -> int:
    """How many pods with a node sit in slots of this headroom now."""
    if headroom.slot_objects is not None:
        taken = members_of(world, headroom).values()
        return sum(1 for hold in taken if hold.status.phase == "Succeeded")
    claims = [claim_of(pod) for pod in world.pods if pod.occupies_node]
    whole = headroom.parent.whole
    return sum(claim is not None and claim[0].partition("#")[0] == whole for claim in claims)


def _ledger_of(world: World) -> Ledger:
    """Everything that was read, as the operator would know it; headrooms last, which is faster."""
    if "wishes" not in world.memo:
        things: list[Thing] = [*world.namespaces, *world.nodes, *world.workloads]
        things += [*world.autoscalers, *world.holds, *_concerning(world), *world.headrooms]
        world.memo["wishes"] = observed(world, things, AS_IF_ALLOWED)
    ledger: Ledger = world.memo["wishes"]
    return ledger


def _concerning(world: World) -> Sequence[Pod]:
    """The pods that a decision may depend on: to observe 50,000 of them takes a second."""
    if BY_PODS.intersection(cause for each in world.headrooms for cause in causes(each)):
        return world.pods
    return [pod for pod in world.pods if names.ROLE_LABEL in pod.labels or claim_of(pod)]


def _decided(world: World, ledger: Ledger, whole: str) -> HeadroomMemory:
    """Decide as the operator does after a start, with what its status tells of the time before."""
    headroom, now = ledger.slots.headrooms[whole], world.now
    shapes = shapes_before(world, headroom) or auto_shapes.shapes_now(ledger, headroom, now)
    headroom = with_found_owners(headroom, shapes.chosen)
    memory = replace(
        ledger.slots.memory[whole],
        opened=opening(headroom, None, calendar, now),
        shapes=shapes,
        followed=_known_owners(world, headroom),
    )
    memory = replace(memory, spent=size_inputs.spent_now(ledger, headroom, memory, now))
    view = size_inputs.size_view(ledger, headroom, memory, now)
    return decide(headroom, memory, _believed(world, headroom, view), calendar, now)


def _known_owners(world: World, headroom: Headroom) -> tuple[Followed, ...]:
    """The pods with the gate that slots follow: a running operator knew them from the start."""
    rule = headroom.size.follows
    gated = (pod for pod in world.pods if rule is not None and rule.gate in pod.gates)
    return tuple(Followed(pod, Following(), pod.created) for pod in gated)


def _believed(world: World, headroom: Headroom, view: SizeView) -> SizeView:
    """With what objects cannot tell, as the operator told it; and without limits of a batch.

    - A load is judged over time, and a size is learnt from pods that are gone: the status has the
      result.
    - Volumes are not read, so for the owners that slots follow, the slots that stand count.
    - Which slots of others may cover them depends on the decisions about those others: none does.
    - Where no DaemonSet was read, pods are believed that say that they belong to one.
    """
    view = replace(
        view,
        batch_limits=NO_BATCH_LIMITS,
        load=None,
        covered_by_others=(),
        learnt=learnt_size(headroom),
    )
    rule = headroom.size.follows
    if headroom.size.by_load:
        view = replace(view, learnt=Learnt(max(headroom.status.desired, len(view.standing))))
    if rule is not None and rule.reads_volumes:
        view = replace(view, followed=tuple(_as_they_stand(world, headroom, view)))
    daemon_sets = (each for each in world.workloads if each.ref.kind == DAEMON_SET)
    if headroom.slot.chunk == NODE_CHUNK and not any(daemon_sets):
        view = replace(view, overhead=_overhead(world))
    return view


def _as_they_stand(world: World, headroom: Headroom, view: SizeView) -> Iterator[Followed]:
    """The owners that slots follow, each with the slots that it has."""
    guardians = sorted(guardians_of(world, headroom).items())
    for each in view.followed:
        standing = tuple(
            FollowerSlot(slot.partition("/")[2], guardian.requests)
            for slot, guardian in guardians
            if owner_uid(slot) == each.owner.uid
        )
        yield each if each.needs.over else replace(each, needs=Following(standing))


def _overhead(world: World) -> Resources:
    """What pods ask for on each node that say that they belong to a DaemonSet."""
    said = ((pod.key.namespace, daemon_set_of(pod)) for pod in world.pods)
    there = {Key(place, each.name): each.uid for place, each in said if each is not None}
    return overhead_of(world.pods, there)
