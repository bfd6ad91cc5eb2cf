"""The entries of pods in the index, and whom the beginning or the end of one concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headroom.core.fast_replace import replace
from headroom.core.index_entries import By, Entry, pod_entries
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from headroom.core.subjects import BURST, RETRIES, Awaited, Change, fence_subject, pod_subject
from headroom.engine.namespace_limits import count_usage
from headroom.engine.pending_guardians import expect_no_more, left

if TYPE_CHECKING:
    from headroom.engine.ledger import Ledger


def file_pod(ledger: Ledger, pod: Pod, waits: bool, gone: bool = False) -> None:
    """Give a pod its entries in the index, and have those looked at whom a change concerns.

    `waits` says whether it waits for us: see `Ledger.waits_for_us`.
    """
    entries: tuple[Entry, ...] = ()
    if not gone:
        memory = ledger.pod_memory[pod.uid]
        reusable = ledger.latch_memory[pod.uid].reusable
        entries = pod_entries(pod, waits, ledger.policy.namespace, memory, reusable)
    lost, got = ledger.index.put(pod.key, entries)
    for entry in got:
        _begun(ledger, entry)
    for entry in lost:
        _ended(ledger, pod, entry)
    if entries and pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
        count_usage(ledger, kept_for(pod))
    if lost and By.RIVAL in {entry.by for entry in lost} - {entry.by for entry in got}:
        usable = (node for node, memory in ledger.node_memory.items() if memory.fitting)
        for node in (*ledger.index.all(By.FENCE), *usable):
            ledger.agenda.touch(fence_subject(node))  # On other nodes nothing changes.


def _begun(ledger: Ledger, entry: Entry) -> None:
    if entry.by is By.PENDING:
        ledger.agenda.touch(BURST)
    elif entry.by is By.PREEMPTING:
        ledger.agenda.touch(RETRIES)
    elif entry.by is By.RIVAL and len(ledger.index.of(By.RIVAL, entry.value)) == 1:
        look_everywhere(ledger)


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
            ledger.pod_memory[pod.uid] = replace(
                memory, room_on="", room_until=None, burst_after=None
            )
            expect_no_more(ledger, pod_subject(pod.key))
        case By.PREEMPTING:
            ledger.pod_memory[pod.uid] = replace(memory, retry_at=None, retries=0)
        case _:
            pass


def look_everywhere(ledger: Ledger) -> None:
    """Look at all nodes that have a fence or may need one."""
    for node in (*ledger.hold_index.all(By.RETURNING), *ledger.index.all(By.FENCE)):
        ledger.agenda.touch(fence_subject(node))
