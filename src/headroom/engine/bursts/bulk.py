"""Give a burst of pods the room of Preemptible slots in one step, not by one preemption each.

kube-scheduler makes room for one pod at a time: it evicts, waits and retries. If several pods
arrive that would each preempt, the slots in their way are deleted together, as few as possible.
Until those pods have their nodes, nothing new is held there (`pending_guardians`). A single pod is
left to kube-scheduler, and so is a pod that would have to evict pods other than our slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from headroom.core.actions import DeletePod
from headroom.core.claims import claim_of
from headroom.core.holds import PREEMPTIBLE
from headroom.core.index_entries import By
from headroom.core.latches import kept_for
from headroom.core.names import DEFAULT_SCHEDULER_NAME, ROLE_LABEL
from headroom.core.objects import Key, Placement, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.resources import Resources
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.engine.bursts.retries import SchedulerRetries
from headroom.engine.ledger import Ledger
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible_on

SUBJECT = Subject(Topic.BULK, "burst")
MOST_PODS = 500
PATIENCE = timedelta(seconds=5)
"""How long a pod may take to its node before its room is given back, or it is looked at again."""

Shape = tuple[Resources, Placement, int]


@dataclass(frozen=True, slots=True)
class _Served:
    """A pod whose room is being made on a node."""

    pod: Pod
    node: str
    until: datetime


@dataclass(slots=True)
class _Look:
    """One look at a burst: what is supposed meanwhile, and what is to be given up."""

    guardians: dict[str, list[Pod]]
    full: dict[Shape, None] = field(default_factory=dict)
    useless: dict[tuple[Shape, str], None] = field(default_factory=dict)
    supposed: list[Key] = field(default_factory=list)
    thought_away: list[Pod] = field(default_factory=list)
    released: list[Pod] = field(default_factory=list)


class Bulk:
    """Pods that kube-scheduler has still to place, and the room that was made for them."""

    def __init__(self, ledger: Ledger, waker: SchedulerRetries) -> None:
        self._ledger = ledger
        self._waker = waker
        self._pending: dict[Key, Pod] = {}
        self._served: dict[Key, _Served] = {}
        self._tried: dict[str, datetime] = {}  # by uid: not to be looked at before
        self._released: dict[Key, str] = {}  # guardians that are going, with their uid

    def see(self, pod: Pod) -> None:
        """A pod is as given."""
        waits = _waits(pod)
        self._waker.see(pod, waits)
        if waits:
            if pod.key not in self._pending:
                self._ledger.agenda.touch(SUBJECT)
            self._pending[pod.key] = pod
        elif pod.key in self._pending:
            self.lose(pod.key)

    def lose(self, key: Key) -> None:
        """A pod has a node, or is gone."""
        self._waker.lose(key)
        self._released.pop(key, None)
        gone = self._pending.pop(key, None)
        if gone is not None:
            self._tried.pop(gone.uid, None)
            self._over(key)

    def look(self, now: datetime) -> Iterator[Sequence]:
        """Give up the slots that stand in a burst's way."""
        for key, served in tuple(self._served.items()):
            if served.until <= now:
                self._over(key)
        self._arm(now)
        waiting = [pod for pod in self._pending.values() if self._is_new(pod, now)]
        if len(waiting) < self._ledger.policy.burst_at or not self._any_preemptible():
            return
        look = _Look(self._guardians())
        try:
            self._suppose(look)
            for pod in sorted(waiting, key=_urgency)[:MOST_PODS]:
                self._tried[pod.uid] = now + PATIENCE
                self._serve(pod, look, now)
        finally:
            self._restore(look)
        self._arm(now)
        if look.released:
            yield self._release(look.released)

    def _arm(self, now: datetime) -> None:
        """Look again when the first pod has waited for too long."""
        moments = (*(each.until for each in self._served.values()), *self._tried.values())
        soonest = min((moment for moment in moments if moment > now), default=None)
        if soonest is not None:
            self._ledger.agenda.later(SUBJECT, soonest)

    def _is_new(self, pod: Pod, now: datetime) -> bool:
        tried = self._tried.get(pod.uid)
        return pod.key not in self._served and not pod.nominated and (not tried or tried <= now)

    def _any_preemptible(self) -> bool:
        headrooms = self._ledger.slots.headrooms.values()
        return any(headroom.mode == PREEMPTIBLE for headroom in headrooms)

    def _guardians(self) -> dict[str, list[Pod]]:
        """Guardians that may be given up, by node: the largest first, so that few will do."""
        ledger = self._ledger
        found: dict[str, list[Pod]] = {}
        for whole, headroom in ledger.slots.headrooms.items():
            if headroom.mode != PREEMPTIBLE:
                continue
            for name in ledger.hold_index.of(By.SLOT, whole):
                guardian = ledger.guardian_of(ledger.holds[name])
                if guardian is not None and guardian.node and guardian.key not in self._released:
                    found.setdefault(guardian.node, []).append(guardian)
        for each in found.values():
            each.sort(key=lambda pod: (pod.priority, -sum(pod.requests.values()), pod.key))
        return dict(sorted(found.items()))

    def _suppose(self, look: _Look) -> None:
        """Count those who are on their way already, and not the guardians that are going."""
        state = self._ledger.state
        for served in self._served.values():
            state.add_pod(served.pod, served.node)
            look.supposed.append(served.pod.key)
        for key, uid in self._released.items():
            pod = state.pod(key)
            if pod is not None and pod.uid == uid:
                state.remove_pod(key)
                look.thought_away.append(pod)

    def _restore(self, look: _Look) -> None:
        for key in look.supposed:
            self._ledger.state.remove_pod(key)
            pod = self._ledger.pods.get(key)
            if pod is not None and pod.nominated and not pod.node:
                self._ledger.state.nominate(pod, pod.nominated)
        for guardian in look.thought_away:
            self._ledger.state.add_pod(guardian)

    def _serve(self, pod: Pod, look: _Look, now: datetime) -> None:
        """Find a pod its room: free room first, then where the fewest slots have to go."""
        state, shape = self._ledger.state, (pod.requests, pod.placement, pod.priority)
        if shape not in look.full:
            chosen = choose(pod, state)
            if isinstance(chosen, ChosenNode):
                state.add_pod(pod, chosen.node)
                look.supposed.append(pod.key)
                return
            look.full[shape] = None
        if not pod.preempts:
            return
        for node, guardians in look.guardians.items():
            if (shape, node) in look.useless:
                continue
            going = self._needed(pod, node, guardians)
            if going is None:
                look.useless[shape, node] = None
                continue
            for guardian in going:
                guardians.remove(guardian)
                state.remove_pod(guardian.key)
            look.thought_away += going
            look.released += going
            state.add_pod(pod, node)
            look.supposed.append(pod.key)
            self._served[pod.key] = _Served(pod, node, now + PATIENCE)
            self._ledger.contention.expect(node, _who(pod.key))
            return

    def _needed(self, pod: Pod, node: str, guardians: list[Pod]) -> list[Pod] | None:
        """The guardians that have to go for a pod to fit on a node; None if that is not enough."""
        state = self._ledger.state
        lower = [each for each in guardians if each.priority < pod.priority]
        if feasible_on(pod, node, state, frozenset(each.key for each in lower)) is not None:
            return None
        going: list[Pod] = []
        while feasible_on(pod, node, state, frozenset(each.key for each in going)) is not None:
            going.append(lower[len(going)])
        return going

    def _release(self, guardians: list[Pod]) -> Sequence:
        subjects = []
        for guardian in guardians:
            self._released[guardian.key] = guardian.uid
            subjects.append(hold_subject(self._ledger.holds[kept_for(guardian)].parent))
        deletes = tuple(DeletePod(guardian.key, guardian.uid) for guardian in guardians)
        return Sequence(Work.BURST, tuple(subjects), (deletes,))

    def _over(self, key: Key) -> None:
        served = self._served.pop(key, None)
        if served is not None:
            self._ledger.contention.arrived(served.node, _who(key))


def _waits(pod: Pod) -> bool:
    """Whether kube-scheduler has still to place a pod whose needs we can judge."""
    return (
        not pod.node
        and not pod.finished
        and pod.deleted is None
        and not pod.gates
        and not pod.unjudged
        and not pod.claims
        and pod.scheduler == DEFAULT_SCHEDULER_NAME
        and ROLE_LABEL not in pod.labels
        and claim_of(pod) is None
    )


def _who(key: Key) -> str:
    return f"burst {key}"


def _urgency(pod: Pod) -> tuple[int, Key]:
    return -pod.priority, pod.key
