"""Give a burst of pods the room of Preemptible slots in one step, not by one preemption each.

kube-scheduler makes room for one pod at a time: it evicts, waits and retries. If several pods
arrive that would each preempt, the slots in their way are deleted together, as few as possible.
Until those pods have their nodes, nothing new is held there (`pending_guardians`). A single pod is
left to kube-scheduler, and so is a pod that would have to evict pods other than our slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import DeletePod
from headroom.core.holds import PREEMPTIBLE
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.objects import Key, Placement, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import PodMemory
from headroom.core.resources import Resources
from headroom.core.subjects import BURST, hold_subject, pod_subject
from headroom.engine.ledger import Ledger
from headroom.engine.pending_guardians import expect, expect_no_more
from headroom.engine.pod_index import file_pod
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible_on
from headroom.scheduling.state import ClusterState
from headroom.scheduling.supposition import Supposition, supposing

MOST_PODS = 500
PATIENCE = timedelta(seconds=5)
"""How long a pod may take to its node before its room is given back, or it is looked at again."""

Shape = tuple[Resources, Placement, int]


@dataclass(frozen=True, slots=True)
class BurstDecision:
    """The guardians that go, and on which node room is made for which pod."""

    released: tuple[Pod, ...]
    rooms: Mapping[Key, str]


def look(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Give up the slots that stand in a burst's way."""
    for pod, memory in _pending(ledger):
        if memory.room_until is not None and memory.room_until <= now:
            ledger.pod_memory[pod.uid] = replace(memory, room_on="", room_until=None)
            expect_no_more(ledger, pod_subject(pod.key))
    waiting = [pod for pod, memory in _pending(ledger) if _is_new(pod, memory, now)]
    modes = (headroom.mode for headroom in ledger.slots.headrooms.values())
    if len(waiting) >= ledger.policy.burst_at and PREEMPTIBLE in modes:
        burst = sorted(waiting, key=_urgency)[:MOST_PODS]
        decision = decide(ledger, burst)
        _remember(ledger, burst, decision, now)
        if decision.released:
            yield _release(ledger, decision.released)
    times = (time for _, each in _pending(ledger) for time in (each.room_until, each.burst_after))
    soonest = min((time for time in times if time is not None and time > now), default=None)
    if soonest is not None:  # The first pod has waited for too long by then.
        ledger.agenda.later(BURST, soonest)


def decide(ledger: Ledger, burst: Iterable[Pod]) -> BurstDecision:
    """Find each pod its room: free room first, then where the fewest slots have to go."""
    guardians, full = _guardians(ledger), dict[Shape, None]()
    useless: dict[tuple[Shape, str], None] = {}
    released: list[Pod] = []
    rooms: dict[Key, str] = {}
    with supposing(ledger.state) as supposed:
        _suppose_served(ledger, supposed)
        for pod in burst:
            shape = (pod.requests, pod.placement, pod.priority)
            chosen = choose(pod, ledger.state) if shape not in full else None
            if isinstance(chosen, ChosenNode):
                supposed.place(pod, chosen.node)
                continue
            full[shape] = None
            for node, there in guardians.items() if pod.preempts else ():
                if (shape, node) in useless:
                    continue
                going = _needed(pod, node, there, ledger.state)
                if going is None:
                    useless[shape, node] = None
                    continue
                for guardian in going:
                    there.remove(guardian)
                    supposed.remove(guardian)
                released += going
                supposed.place(pod, node)
                rooms[pod.key] = node
                break
    return BurstDecision(tuple(released), rooms)


def _suppose_served(ledger: Ledger, supposed: Supposition) -> None:
    """Count those who are on their way already, and not the guardians that are going."""
    for pod, memory in _pending(ledger):
        if memory.room_on:
            supposed.place(pod, memory.room_on)
    for guardian in ledger.having(By.GIVEN_UP, ""):
        if guardian.occupies_node:
            supposed.remove(guardian)


def _needed(pod: Pod, node: str, guardians: list[Pod], state: ClusterState) -> list[Pod] | None:
    """The guardians that have to go for a pod to fit on a node; None if that is not enough."""
    lower = [each for each in guardians if each.priority < pod.priority]
    if feasible_on(pod, node, state, frozenset(each.key for each in lower)) is not None:
        return None
    going: list[Pod] = []
    while feasible_on(pod, node, state, frozenset(each.key for each in going)) is not None:
        going.append(lower[len(going)])
    return going


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
        file_pod(ledger, guardian, waits=False)


def _release(ledger: Ledger, guardians: tuple[Pod, ...]) -> Sequence:
    parents = (ledger.holds[kept_for(guardian)].parent for guardian in guardians)
    deletes = tuple(DeletePod(guardian.key, guardian.uid) for guardian in guardians)
    return Sequence(Work.BURST, tuple(map(hold_subject, parents)), (deletes,))


def _guardians(ledger: Ledger) -> dict[str, list[Pod]]:
    """Guardians that may be given up, by node: the largest first, so that few will do."""
    found: dict[str, list[Pod]] = {}
    given_up = ledger.index.of(By.GIVEN_UP)
    for whole, headroom in ledger.slots.headrooms.items():
        slots = ledger.hold_index.of(By.SLOT, whole) if headroom.mode == PREEMPTIBLE else ()
        for name in slots:
            guardian = ledger.guardian_of(ledger.holds[name])
            if guardian is not None and guardian.node and guardian.key not in given_up:
                found.setdefault(guardian.node, []).append(guardian)
    for each in found.values():
        each.sort(key=lambda pod: (pod.priority, -sum(pod.requests.values()), pod.key))
    return dict(sorted(found.items()))


def _urgency(pod: Pod) -> tuple[int, Key]:
    return -pod.priority, pod.key
