"""The controller of bursts: it gives a burst of pods the room of Preemptible slots in one step.

`scheduling.burst` decides which slots go. Until the pods have their nodes, nothing new is held
there (`pending_guardians`). A single pod is left to kube-scheduler. `core.waits.scheduler_retries`
decides about pods that kube-scheduler then leaves alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import DeletePod
from headroom.core.holds import PREEMPTIBLE
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import PodMemory
from headroom.core.subjects import BURST, RETRIES, hold_subject, pod_subject
from headroom.core.waits import scheduler_retries
from headroom.engine.ledger import Ledger
from headroom.engine.pending_guardians import expect, expect_no_more
from headroom.engine.pod_index import file_pod
from headroom.scheduling.burst import BurstDecision, BurstView, decide
from headroom.scheduling.filters import feasible_on

MOST_PODS = 500
PATIENCE = timedelta(seconds=5)
"""How long a pod may take to its node before its room is given back, or it is looked at again."""


def look_at_burst(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Give up the slots that stand in a burst's way."""
    for pod, memory in _pending(ledger):
        if memory.room_until is not None and memory.room_until <= now:
            ledger.pod_memory[pod.uid] = replace(memory, room_on="", room_until=None)
            expect_no_more(ledger, pod_subject(pod.key))
    waiting = [pod for pod, memory in _pending(ledger) if _is_new(pod, memory, now)]
    modes = (headroom.mode for headroom in ledger.slots.headrooms.values())
    if len(waiting) >= ledger.policy.burst_at and PREEMPTIBLE in modes:
        view = burst_view(ledger, waiting)
        decision = decide(view, ledger.state)
        _remember(ledger, view.burst, decision, now)
        if decision.released:
            yield _release(ledger, decision.released)
    times = (time for _, each in _pending(ledger) for time in (each.room_until, each.burst_after))
    soonest = min((time for time in times if time is not None and time > now), default=None)
    if soonest is not None:  # The first pod has waited for too long by then.
        ledger.agenda.later(BURST, soonest)


def look_at_retries(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Have kube-scheduler look again, if a pod has waited too long beside its room.

    We act on behalf of a headroom; without one, the preemptions of others are not ours.
    """
    headrooms = ledger.slots.headrooms
    names = sorted(name for name, each in headrooms.items() if each.mode == PREEMPTIBLE)
    if not names:
        return
    preempting = [(pod, ledger.pod_memory[pod.uid]) for pod in ledger.having(By.PREEMPTING, "")]
    decision = scheduler_retries.decide(
        preempting, lambda pod: feasible_on(pod, pod.nominated, ledger.state) is None, now
    )
    for uid, memory in decision.memories.items():
        ledger.pod_memory[uid] = memory
    if decision.wake_at is not None:
        ledger.agenda.later(RETRIES, decision.wake_at)
    if decision.node:
        parent = headrooms[names[0]].parent
        yield scheduler_retries.wake(decision.node, parent, ledger.policy.namespace)


def burst_view(ledger: Ledger, waiting: Iterable[Pod]) -> BurstView:
    """The pods that wait, and the slots in their way, as they are now."""
    given_up = tuple(ledger.having(By.GIVEN_UP, ""))
    return BurstView(
        tuple(sorted(waiting, key=_urgency)[:MOST_PODS]),
        tuple((pod, memory.room_on) for pod, memory in _pending(ledger) if memory.room_on),
        tuple(guardian for guardian in given_up if guardian.occupies_node),
        _guardians(ledger),
    )


def _pending(ledger: Ledger) -> list[tuple[Pod, PodMemory]]:
    return [(pod, ledger.pod_memory[pod.uid]) for pod in ledger.having(By.PENDING, "")]


def _is_new(pod: Pod, memory: PodMemory, now: datetime) -> bool:
    tried = memory.burst_after
    return not memory.room_on and not pod.nominated and (tried is None or tried <= now)


def _remember(ledger: Ledger, burst: Iterable[Pod], decision: BurstDecision, now: datetime) -> None:
    again = now + PATIENCE
    for pod in burst:
        node = decision.rooms.get(pod.key, "")
        memory = replace(ledger.pod_memory[pod.uid], burst_after=again)
        if node:
            memory = replace(memory, room_on=node, room_until=again)
            expect(ledger, pod_subject(pod.key), node)
        ledger.pod_memory[pod.uid] = memory
    for guardian in decision.released:
        memory = replace(ledger.pod_memory[guardian.uid], given_up=True)
        ledger.pod_memory[guardian.uid] = memory
        file_pod(ledger, guardian)


def _release(ledger: Ledger, guardians: tuple[Pod, ...]) -> Sequence:
    parents = (ledger.holds[kept_for(guardian)].parent for guardian in guardians)
    deletes = tuple(DeletePod(guardian.key, guardian.uid) for guardian in guardians)
    return Sequence(Work.BURST, tuple(map(hold_subject, parents)), (deletes,))


def _guardians(ledger: Ledger) -> dict[str, tuple[Pod, ...]]:
    """Guardians that may be given up, by node: the largest first, so that few will do."""
    found: dict[str, list[Pod]] = {}
    given_up = ledger.index.of(By.GIVEN_UP)
    for whole, headroom in ledger.slots.headrooms.items():
        slots = ledger.hold_index.of(By.SLOT, whole) if headroom.mode == PREEMPTIBLE else ()
        for name in slots:
            guardian = ledger.guardian_of(ledger.holds[name])
            if guardian is not None and guardian.node and guardian.key not in given_up:
                found.setdefault(guardian.node, []).append(guardian)
    return {node: tuple(sorted(found[node], key=_size)) for node in sorted(found)}


def _size(guardian: Pod) -> tuple[int, int, Key]:
    return guardian.priority, -sum(guardian.requests.values()), guardian.key


def _urgency(pod: Pod) -> tuple[int, Key]:
    return -pod.priority, pod.key
