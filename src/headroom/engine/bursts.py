"""The controller of bursts: it gives a burst of pods the room of Preemptible slots in one step.

`scheduling.burst` decides which slots go. Until the pods have their nodes, nothing new is held
there (`pending_guardians`). A single pod is left to kube-scheduler. `core.waits.scheduler_retries`
decides about pods that kube-scheduler then leaves alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from headroom.core.actions import DeletePod
from headroom.core.fast_dataclass import replace
from headroom.core.holds import PREEMPTIBLE
from headroom.core.index_entries import By, burst_group
from headroom.core.latches import kept_for
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work, earliest
from headroom.core.subjects import BURST, RETRIES, hold_subject, pod_subject
from headroom.core.waits import scheduler_retries
from headroom.engine.ledger import Ledger
from headroom.engine.observation.pods import file_pod
from headroom.engine.pending_guardians import expect, expect_no_more
from headroom.scheduling.burst import BurstDecision, BurstView, decide
from headroom.scheduling.filters import feasible_on

MOST_PODS = 500
PATIENCE = timedelta(seconds=5)
"""How long a pod may take to its node before its room is given back, or it is looked at again."""


def look_at_burst(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Delete the guardians of the slots whose room a burst needs.

    A group of pods for which there was no room pauses as a whole: only its first pod was tried.
    """
    for pod in tuple(_served(ledger)):
        if (until := ledger.pod_memory[pod.uid].room_until) is not None and until <= now:
            _note_room(ledger, pod, "", None)
            expect_no_more(ledger, pod_subject(pod.key))
    pauses = ledger.burst_pauses
    for group in [each for each, until in pauses.items() if until <= now]:
        del pauses[group]
    if any(each.mode == PREEMPTIBLE for each in ledger.slots.headrooms.values()):
        waiting = _most_urgent(ledger)
        if len(waiting) >= ledger.policy.burst_at:
            decision = decide(burst_view(ledger, waiting), ledger.state)
            _remember(ledger, waiting, decision, now + PATIENCE)
            if decision.released:
                yield _release(ledger, decision.released)
    rooms = (ledger.pod_memory[pod.uid].room_until for pod in _served(ledger))
    soonest = earliest(*rooms, *pauses.values())
    if soonest is not None:  # The first pod has waited for too long by then.
        ledger.agenda.later(BURST, soonest)


def look_at_retries(ledger: Ledger, now: datetime) -> Iterator[Sequence]:
    """Make kube-scheduler try again if a pod has waited too long although there is room.

    This is done on behalf of a headroom. Without one, preemption is not our concern.
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


def burst_view(ledger: Ledger, waiting: tuple[Pod, ...]) -> BurstView:
    """The pods that wait, and the slots whose room they could get, as they are now."""
    given_up = tuple(ledger.having(By.GIVEN_UP, ""))
    return BurstView(
        waiting,
        tuple((pod, ledger.pod_memory[pod.uid].room_on) for pod in _served(ledger)),
        tuple(guardian for guardian in given_up if guardian.occupies_node),
        _guardians(ledger),
    )


def _served(ledger: Ledger) -> Iterator[Pod]:
    """Pods for which a burst has room."""
    groups = (group for group in ledger.index.all(By.BURST) if group.room)
    return (pod for group in groups for pod in ledger.having(By.BURST, group))


def _most_urgent(ledger: Ledger) -> tuple[Pod, ...]:
    """The pods that can be part of a burst: by priority, then by arrival."""
    known = (group for group in ledger.index.all(By.BURST) if not group.room)
    open_to = [group for group in known if group not in ledger.burst_pauses]
    groups = sorted(open_to, key=lambda group: -group.priority)
    pods = (pod for group in groups for pod in ledger.having(By.BURST, group) if not pod.nominated)
    return tuple(islice(pods, MOST_PODS))


def _note_room(ledger: Ledger, pod: Pod, room: str, until: datetime | None) -> None:
    memory = replace(ledger.pod_memory[pod.uid], room_on=room, room_until=until)
    ledger.pod_memory[pod.uid] = memory
    file_pod(ledger, pod)


def _remember(
    ledger: Ledger, burst: tuple[Pod, ...], decision: BurstDecision, until: datetime
) -> None:
    for pod in burst:
        made, free = decision.rooms.get(pod.key, ""), decision.free.get(pod.key, "")
        if made or free:
            _note_room(ledger, pod, made or free, until)
        if made:
            expect(ledger, pod_subject(pod.key), made)
    for pod in decision.left_out:
        ledger.burst_pauses[burst_group(pod)] = until
    for guardian in decision.released:
        memory = replace(ledger.pod_memory[guardian.uid], given_up=True)
        ledger.pod_memory[guardian.uid] = memory
        file_pod(ledger, guardian)


def _release(ledger: Ledger, guardians: tuple[Pod, ...]) -> Sequence:
    parents = (ledger.holds[kept_for(guardian)].parent for guardian in guardians)
    deletes = tuple(DeletePod(guardian.key, guardian.uid) for guardian in guardians)
    return Sequence(Work.BURST, tuple(map(hold_subject, parents)), (deletes,))


def _guardians(ledger: Ledger) -> dict[str, tuple[Pod, ...]]:
    """The guardians that may be deleted, by node: the largest first, so that few are needed."""
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
