"""Process changes of pods, from the watch or from our own writes.

`see_pod` and `lose_pod` are the only functions that change a pod in the ledger, in the scheduling
state and in the index. The beginning or the end of an index entry may concern other subjects
(`file_pod`). Most pods of a cluster concern no hold: they have no entries, and only their room
counts.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from operator import attrgetter

from headroom.core.authenticity import keeps
from headroom.core.claims import claim_of
from headroom.core.demand.volume_constraints import with_volumes
from headroom.core.fast_dataclass import replace
from headroom.core.index_entries import By, Entry, pod_entries
from headroom.core.latches import claims_on, kept_for, parents_on
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    DEFAULT_SCHEDULER_NAME,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    ROLE_LATCH,
)
from headroom.core.objects import Key, Pod
from headroom.core.subjects import (
    ANY_ROOM,
    BURST,
    RETRIES,
    Awaited,
    Change,
    fence_subject,
    node_changed,
    pod_subject,
)
from headroom.engine.headrooms.load import note_load
from headroom.engine.headrooms.records import note_seated
from headroom.engine.ledger import Ledger
from headroom.engine.namespace_limits import count_usage
from headroom.engine.observation.owners import note_claims
from headroom.engine.pending_guardians import expect_no_more, left

CONCERNED = frozenset(  # whose end concerns somebody
    (By.ARRIVING, By.GUARDIAN, By.SLOT_GUARDIAN, By.RELEASED, By.PENDING, By.PREEMPTING)
)
_HEARTBEAT = ("version", "phase", "started")
_without_heartbeat = attrgetter(*(each.name for each in fields(Pod) if each.name not in _HEARTBEAT))


def see_pod(ledger: Ledger, pod: Pod, now: datetime) -> bool:
    """A pod was created or has changed; False if it is a heartbeat, which concerns nothing."""
    key, role = pod.key, pod.labels.get(ROLE_LABEL)
    if role == ROLE_LATCH and pod.nominated:
        ledger.note_shown(pod, pod.nominated, now)
    known = ledger.assumptions.over(pod, now) if pod.uid in ledger.assumptions.by_uid else pod
    if known is None:
        return True
    if known.claims and ledger.door(known):
        known = with_volumes(known, ledger.storage)
    old = ledger.pods.get(key)
    before = ledger.index.entries(key) if old is not None else ()
    same = old is not None and not _differs(old, known)
    waited = bool(before) and key in ledger.waiting
    if same and role is None and not (waited and known.node):  # What it waits for stays.
        if known.node or old != known:
            ledger.pods[key] = known
            _count(ledger, old, known)
        return bool(before)
    if same and old == known:
        return True
    if old is not None:
        _leave(ledger, old, waited)
        if old.uid != known.uid:
            ledger.pod_memory.pop(old.uid, None)
    ledger.pods[key] = known
    counts_on, counted_on = known.counts_on, old.counts_on if old is not None else ""
    if old is not None or counts_on:
        _count(ledger, old, known)
    entries = file_pod(ledger, known)
    ours = bool(entries or before) or key in ledger.index.all(By.LATCH_OF_OWNER) or role is not None
    if ours:
        _remember(ledger, known, now)
    if not same or (role == ROLE_LATCH and key in ledger.latches):
        if ours:
            _touch(ledger, known)
        if counts_on:
            ledger.agenda.wake(node_changed(counts_on))
    if ours and old is not None and old.annotations != known.annotations:
        _touch(ledger, old)  # Whom it concerned before: a claim taken back frees its hold.
    if counted_on and counted_on != counts_on:
        ledger.room_freed(counted_on)
    claims = role == ROLE_LATCH or CLAIMED_ANNOTATION in known.annotations
    hold = note_claims(ledger, known) if claims else None
    if hold is not None and old is not None and not old.node and known.node:
        note_seated(ledger, hold, known)
    return True


def lose_pod(ledger: Ledger, key: Key, uid: str, now: datetime) -> None:
    """A pod is gone, unless its name belongs to a new pod already."""
    old = ledger.pods.get(key)
    ledger.assumptions.forget(uid)
    ledger.pod_memory.pop(uid, None)
    ledger.latch_memory.pop(uid, None)
    if old is None or (uid and old.uid != uid):
        return
    ledger.state.remove_pod(key)
    ledger.state.unnominate(key)
    ledger.state.unexpect(key)
    file_pod(ledger, old, gone=True)
    del ledger.pods[key]
    if ROLE_LABEL in old.labels:
        ledger.assumptions.ended(old.uid, now)
        ledger.handovers.put(key)
    _touch(ledger, old)
    for latch in ledger.having(By.LATCH_OF_OWNER, key):  # What it was to get is held again.
        for parent in parents_on(latch):
            ledger.touch_hold(parent)
    ledger.agenda.forget(pod_subject(key))
    if node := old.counts_on:
        ledger.room_freed(node)


def _differs(old: Pod, new: Pod) -> bool:
    """Whether more has changed than a heartbeat; that a pod runs now does not count."""
    if old.phase != new.phase and old.finished != new.finished:
        return True
    return _without_heartbeat(old) != _without_heartbeat(new)


def _count(ledger: Ledger, old: Pod | None, pod: Pod) -> None:
    """Update the scheduling state; a pod that is about to be created may be nominated there."""
    state = ledger.state
    if pod.occupies_node:
        state.add_pod(pod)
        return
    if old is not None:
        state.remove_pod(pod.key)
        state.unnominate(pod.key)
    if pod.nominated and not pod.finished and pod.scheduler == DEFAULT_SCHEDULER_NAME:
        state.nominate(pod, pod.nominated)


def _remember(ledger: Ledger, pod: Pod, now: datetime) -> None:
    """Note since when a pod waits for us, and where a guardian keeps its hold."""
    memory, waits = ledger.pod_memory[pod.uid], pod.key in ledger.waiting
    if waits != (memory.since is not None):
        ledger.pod_memory[pod.uid] = replace(memory, since=now if waits else None)
    if pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN or not pod.occupies_node:
        return
    hold = ledger.holds.get(kept_for(pod))
    if hold is not None and keeps(hold, pod):
        kept = ledger.memory[hold.parent.identity]
        ledger.memory[hold.parent.identity] = replace(kept, node=pod.node)


def _leave(ledger: Ledger, old: Pod, waited: bool) -> None:
    """A pod has left its former state: drop what was remembered of that state."""
    memory = ledger.latch_memory[old.uid]
    if memory.reusable or memory.dismissed:
        ledger.latch_memory[old.uid] = replace(memory, reusable=False, dismissed=False)
        ledger.handovers.put(old.key)
    if waited:
        ledger.agenda.stop_waiting(pod_subject(old.key), ANY_ROOM)


def _touch(ledger: Ledger, pod: Pod) -> None:
    """Put the subjects that a change of this pod concerns on the agenda."""
    agenda, waiting = ledger.agenda, ledger.waiting
    claim, role = claim_of(pod), pod.labels.get(ROLE_LABEL)
    if role is not None:
        for line in claims_on(pod):
            if line.owner in waiting:  # One that has its node keeps it without the latch.
                agenda.touch(pod_subject(line.owner))
        for parent in parents_on(pod):
            ledger.touch_hold(parent, role == ROLE_GUARDIAN)
    if claim is not None:
        ledger.touch_hold(claim[0])
    if role is not None or claim is not None or pod.key in waiting:
        agenda.touch(pod_subject(pod.key))
    for latch in ledger.index.all(By.LATCH_OF_OWNER).get(pod.key, ()):
        agenda.touch(pod_subject(latch))


def file_pod(ledger: Ledger, pod: Pod, gone: bool = False) -> tuple[Entry, ...]:
    """Put a pod into the index, and touch the subjects that changed entries concern."""
    agenda, role = ledger.agenda, pod.labels.get(ROLE_LABEL)
    entries: tuple[Entry, ...] = ()
    if not gone:
        waits = role != ROLE_GUARDIAN and bool(pod.growth or (not pod.node and ledger.door(pod)))
        memory = ledger.pod_memory[pod.uid]
        entries = pod_entries(pod, waits, ledger.policy.namespace, memory)
    lost, got = ledger.index.put(pod.key, entries)
    if ledger.slots.headrooms:
        note_load(ledger, pod, gone)
    for by, value, _ in got:
        if by is By.PENDING and ledger.slots.headrooms:  # Only slots make room for a burst.
            agenda.touch(BURST)
        elif by is By.PREEMPTING:
            agenda.touch(RETRIES)
        elif by is By.RIVAL and len(ledger.index.of(By.RIVAL, value)) == 1:
            look_everywhere(ledger)
    for entry in lost:
        if entry.by in CONCERNED:
            _ended(ledger, pod, entry)
    if lost and By.RIVAL in {entry.by for entry in lost} - {entry.by for entry in got}:
        usable = (node for node, memory in ledger.node_memory.items() if memory.fitting)
        for node in (*ledger.index.all(By.FENCE), *usable):
            agenda.touch(fence_subject(node))  # On other nodes nothing changes.
    if role == ROLE_GUARDIAN and entries:
        count_usage(ledger, kept_for(pod))
    return entries


def _ended(ledger: Ledger, pod: Pod, entry: Entry) -> None:
    agenda, memory = ledger.agenda, ledger.pod_memory[pod.uid]
    match entry.by:
        case By.ARRIVING:
            left(ledger, str(entry.value))
        case By.GUARDIAN:
            count_usage(ledger, str(entry.value))
        case By.SLOT_GUARDIAN:
            agenda.wake(Awaited(Change.GUARDIAN_GONE, str(entry.value)))
        case By.RELEASED:
            ledger.pod_memory[pod.uid] = replace(memory, ahead=None)
            agenda.wake(Awaited(Change.OWNER_PLACED, str(entry.value)))
        case By.PENDING:
            ledger.pod_memory[pod.uid] = replace(memory, room_on="", room_until=None)
            expect_no_more(ledger, pod_subject(pod.key))
        case By.PREEMPTING:
            ledger.pod_memory[pod.uid] = replace(memory, retry_at=None, retries=0)
        case _:
            pass


def look_everywhere(ledger: Ledger) -> None:
    """Decide all nodes again that have a fence or may need one."""
    for node in (*ledger.hold_index.all(By.RETURNING), *ledger.index.all(By.FENCE)):
        ledger.agenda.touch(fence_subject(node))
