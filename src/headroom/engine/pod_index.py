"""The entries of pods in the index, and whom the beginning or the end of one concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headroom.core.fast_replace import replace
from headroom.core.index_entries import By, Entry, pod_entries
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL, ROLE_LATCH
from headroom.core.objects import Pod
from headroom.core.pod_memory import NOTHING
from headroom.core.subjects import BURST, RETRIES, Awaited, Change, fence_subject, pod_subject
from headroom.engine.headrooms.load import note_load
from headroom.engine.namespace_limits import count_usage
from headroom.engine.pending_guardians import expect_no_more, left

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


_CONCERNED = frozenset(  # whose end concerns somebody
    (By.ARRIVING, By.GUARDIAN, By.SLOT_GUARDIAN, By.RELEASED, By.PENDING, By.PREEMPTING)
)


def file_pod(ledger: Ledger, pod: Pod, gone: bool = False) -> tuple[Entry, ...]:
    """Give a pod its entries in the index, and touch whom a change of them concerns."""
    agenda, role = ledger.agenda, pod.labels.get(ROLE_LABEL)
    entries: tuple[Entry, ...] = ()
    if not gone:
        waits = role != ROLE_GUARDIAN and bool(pod.growth or (not pod.node and ledger.door(pod)))
        reusable = role == ROLE_LATCH and ledger.latch_memory[pod.uid].reusable
        memory = ledger.pod_memory.get(pod.uid, NOTHING)
        entries = pod_entries(pod, waits, ledger.policy.namespace, memory, reusable)
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
        if entry.by in _CONCERNED:
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
    """Look at all nodes that have a fence or may need one."""
    for node in (*ledger.hold_index.all(By.RETURNING), *ledger.index.all(By.FENCE)):
        ledger.agenda.touch(fence_subject(node))
