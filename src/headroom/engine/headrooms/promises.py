"""Owners that arrive, and how long they wait for a node: the input of promises.

Every owner counts, whether it gets a slot, free room, or a new machine. It has arrived when only
our gate keeps it from being scheduled, and has started when it has a node. The arrival time of an
owner that existed before the operator started is unknown. What follows from it is pure:
`core.promise`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headroom.core.fast_dataclass import replace
from headroom.core.findings.doors import may_lack_door
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.index_entries import By, Entry
from headroom.core.latches import kept_for
from headroom.core.names import CLAIM_GATE, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.owners import EVERYWHERE, has_right, pod_keys
from headroom.core.promise.announced import Learnt
from headroom.core.promise.promise import HeadroomPromise, first_promise, makes_promise
from headroom.core.sizes.kind import Size
from headroom.core.subjects import headroom_subject
from headroom.engine.headrooms.expected_pods import known_demand
from headroom.engine.headrooms.slot_pods import slot_count
from headroom.engine.ledger import Ledger


def see_headroom(ledger: Ledger, headroom: Headroom) -> None:
    """A headroom is as given."""
    whole, promises = headroom.parent.whole, ledger.slots.promises
    if not makes_promise(headroom):
        forget(ledger, whole)
    elif whole in promises and promises[whole].headroom.parent.uid == headroom.parent.uid:
        promises[whole].respecify(headroom)
    else:
        promises[whole] = first_promise(headroom)
        for pod in filter(_is_kept_back, ledger.pods.values()):
            _keep_back(ledger, pod)


def forget(ledger: Ledger, whole: str) -> None:
    """A headroom is gone, or has no promise: drop its owners that other gates keep back."""
    ledger.slots.promises.pop(whole, None)
    index, gone = ledger.slots.owner_index, Entry(By.KEPT_BACK, whole)
    for uid in tuple(index.of(By.KEPT_BACK, whole)):
        index.put(uid, tuple(each for each in index.entries(uid) if each != gone))


def see_pod(ledger: Ledger, before: Pod | None, pod: Pod, now: datetime) -> Iterator[str]:
    """A pod was created or has changed; return the headrooms whose size may change."""
    if ROLE_LABEL in pod.labels:
        _see_guardian(ledger, pod, now)
        return
    slots, began = ledger.slots, ledger.slots.began
    waited_for = _waited_for(ledger, pod.uid)
    came: tuple[str, ...] = ()
    if pod.node or pod.finished:
        lose_pod(ledger, pod.uid, now, has_node=bool(pod.node))
        fresh = before is None and began is not None and _since(pod, now) >= began
        if fresh and not waited_for and not pod.finished:
            came = _wanted_by(ledger, pod)
    elif slots.promises and not waited_for:
        if _is_kept_back(pod):
            _keep_back(ledger, pod)
            return
        lost, _ = slots.owner_index.put(pod.uid)
        came = tuple(str(each.value) for each in lost)
        if not came and _is_new(before, pod):
            came = _wanted_by(ledger, pod)
        if began is None:
            return
        slots.owner_index.put(pod.uid, tuple(Entry(By.ARRIVED, whole) for whole in came))
    for whole in came:
        promise = slots.promises[whole]
        promise.owner_came(pod.uid, not pod.node, now)
        ledger.agenda.touch(headroom_subject(promise.headroom.parent))
        if not pod.node:
            ledger.agenda.later(headroom_subject(promise.headroom.parent), now + promise.within)
        if promise.learns:
            yield whole


def lose_pod(ledger: Ledger, uid: str, now: datetime, has_node: bool = False) -> None:
    """A pod is gone, or is no owner without a node any more: it waits for nothing."""
    for whole in _waited_for(ledger, uid):
        promise = ledger.slots.promises.get(whole)
        if promise is not None:
            _find_late(ledger, promise, now)
            promise.owner_left(uid, has_node, now)
    ledger.slots.owner_index.put(uid)


def advance(ledger: Ledger, whole: str, now: datetime) -> HeadroomPromise | None:
    """Advance the promise of a headroom to the current time; None if it has none."""
    promise = ledger.slots.promises.get(whole)
    if promise is not None:
        _find_late(ledger, promise, now)
        promise.advance(now)
    return promise


def learnt_size(ledger: Ledger, headroom: Headroom, size: Size, now: datetime) -> Learnt | None:
    """How many slots a headroom should have now; None if its size is not learnt."""
    whole = headroom.parent.whole
    promise = ledger.slots.promises.get(whole)
    if promise is None or not size.learns:
        return None
    kept_back = len(ledger.slots.owner_index.of(By.KEPT_BACK, whole))
    announced, there = known_demand(ledger, headroom), slot_count(ledger, whole)
    return promise.size(size, announced, kept_back, there, now)


def _see_guardian(ledger: Ledger, pod: Pod, now: datetime) -> None:
    """Measure how long a guardian takes from its creation to its node."""
    memory = ledger.pod_memory[pod.uid]
    if pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN:
        return
    if not pod.node:
        begins = ledger.slots.began is not None and not pod.finished
        if begins and memory.asked_since is None:
            ledger.pod_memory[pod.uid] = replace(memory, asked_since=now)
    elif memory.asked_since is not None:
        ledger.pod_memory[pod.uid] = replace(memory, asked_since=None)
        whole, _, slot = kept_for(pod).partition("#")
        if slot and whole in ledger.slots.promises:
            took = (now - memory.asked_since).total_seconds()
            ledger.slots.promises[whole].history.leads.note(took)


def _find_late(ledger: Ledger, promise: HeadroomPromise, now: datetime) -> None:
    """Count the owners that have waited too long, and set a timer for the next one."""
    subject = headroom_subject(promise.headroom.parent)
    if promise.find_late(now):
        ledger.agenda.touch(subject)
    if promise.next_late is not None:
        ledger.agenda.later(subject, promise.next_late)


def _keep_back(ledger: Ledger, pod: Pod) -> None:
    """A gate of somebody else is on a pod: it is an owner that will come."""
    index = ledger.slots.owner_index
    if not index.entries(pod.uid):
        entries = (Entry(By.KEPT_BACK, whole) for whole in _wanted_by(ledger, pod))
        index.put(pod.uid, tuple(entries))


def _waited_for(ledger: Ledger, uid: str) -> tuple[str, ...]:
    """The headrooms whose promise counts an owner that waits for a node."""
    entries = ledger.slots.owner_index.entries(uid)
    return tuple(str(each.value) for each in entries if each.by is By.ARRIVED)


def _wanted_by(ledger: Ledger, pod: Pod) -> tuple[str, ...]:
    """The headrooms with a promise that a pod is an owner of."""
    slots, across = ledger.slots, ledger.policy.across_namespaces
    if not slots.promises or not may_lack_door(pod):
        return ()
    places = ((here, key) for key in pod_keys(pod) for here in (pod.key.namespace, EVERYWHERE))
    named = (slots.headroom_index.of(By.OWNER_RULE, place) for place in places)
    found = dict.fromkeys(whole for wholes in named for whole in wholes)
    promises = (slots.promises[whole] for whole in found if whole in slots.promises)
    owned = (each.headroom for each in promises if has_right(each.headroom, pod, across))
    return tuple(headroom.parent.whole for headroom in owned)


def _is_kept_back(pod: Pod) -> bool:
    """Whether somebody else's gate is on a pod that has no node."""
    return not pod.node and any(gate != CLAIM_GATE for gate in pod.gates)


def _is_new(before: Pod | None, pod: Pod) -> bool:
    return before is None or before.uid != pod.uid or bool(before.gates) > bool(pod.gates)


def _since(pod: Pod, now: datetime) -> datetime:
    return min(pod.created, now) if pod.created is not None else now
