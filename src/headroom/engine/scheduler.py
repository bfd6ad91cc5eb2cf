"""Place pods that name our scheduler: into a hold, or on free room.

A pod without a hold is placed as kube-scheduler would place it, but a latch is nominated to the
node first: kube-scheduler may have a scheduling cycle in progress that does not know the pod yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import MarkUnschedulable
from headroom.core.handover import latch_before, latch_free_room
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import Pod, shortened
from headroom.core.plan import Sequence, telling
from headroom.core.statuses import tell_pod
from headroom.core.subjects import node_changed, node_subject, pod_subject
from headroom.engine.conflicts.preemption import way_into_a_hold
from headroom.engine.displacement import displacement
from headroom.engine.doors.wait_limits import (
    asks_to_wait,
    is_new_until,
    patient_until,
    wait_a_little,
    wait_for_a_hold,
)
from headroom.engine.effects import intend
from headroom.engine.freeze import node_view
from headroom.engine.handover_queue import HandoverQueue
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.engine.owner_claims import note_missed, search
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import refused

SCHEDULER_ERROR = "SchedulerError"
NO_MATCH = "no reservations match reservation affinity"


class OwnerScheduler:
    """Door 2. Remembers only what it has already told people."""

    def __init__(self, ledger: Ledger, launcher: HandoverQueue) -> None:
        self._ledger = ledger
        self._launcher = launcher
        self._told: dict[str, str] = {}

    def forget(self, uid: str) -> None:
        self._told.pop(uid, None)

    def admit(self, pod: Pod, now: datetime) -> Sequence | None:
        """Find the pod a hold or free room; say why where there is neither."""
        ledger = self._ledger
        if pod.unjudged:
            return self._say_stuck(pod, cannot_judge(pod.unjudged), now, SCHEDULER_ERROR)
        if self._launcher.has(pod):
            return self._prepare(pod, self._launcher.node_for(pod), now)
        if ledger.latched(pod):
            return None
        ledger.state.unexpect(pod.key)  # Nobody is under way with it any more.
        unmounted = ledger.volumes.refusal(pod)
        if unmounted:
            return self._wait_for_volumes(pod, unmounted, now)
        found = search(ledger, pod, now)
        if found.offer is not None:
            self._launcher.park(pod, found.offer)
            return self._prepare(pod, found.offer.node, now)
        until = patient_until(ledger, pod, found, now)
        if asks_to_wait(pod):
            wait_for_a_hold(ledger, pod, found, now)
            if now < until:
                wait_a_little(ledger, pod, found, until)
                return self._tell_once(pod, f"waits for a hold: {found.why}", now)
            begin = self._preempt(pod, now)
            if begin is not None or not pod.wish.needs_hold:
                return begin or self._tell_once(pod, f"waits for a hold: {found.why}", now)
            return self._say_stuck(pod, f"{NO_MATCH}: {found.why}", now)
        if found.problem:
            return self._say_stuck(pod, found.problem, now)
        if now < until:
            wait_a_little(ledger, pod, found, until)
            return None
        choice = choose(pod, ledger.state)
        if isinstance(choice, ChosenNode):
            ledger.stuck.pop(pod.key, None)
            if self._handing_over(choice.node) or self._is_owed(pod, choice.node, now):
                ledger.agenda.wait(pod_subject(pod.key), on=node_changed(choice.node))
                ledger.agenda.later(pod_subject(pod.key), now + ledger.policy.first_look)
                return None
            note_missed(ledger, found)
            place = latch_free_room(pod, choice.node, ledger.policy.namespace)
            intend(ledger, place)
            ledger.state.expect(pod, choice.node)
            return place
        offer = displacement(ledger, pod) if pod.wish.shuns else None
        if offer is not None:
            self._launcher.park(pod, offer)
            return self._prepare(pod, offer.node, now)
        ledger.stuck[pod.key] = None
        return self._preempt(pod, now) or self._say_stuck(pod, choice.message, now)

    def _wait_for_volumes(self, pod: Pod, why: str, now: datetime) -> Sequence | None:
        """Say what is wrong with a pod's claims; whatever changes of them brings us back."""
        new_until = is_new_until(self._ledger, pod, now)
        if now < new_until:
            self._ledger.agenda.later(pod_subject(pod.key), new_until)
            return None
        message = refused(pod, self._ledger.state, why).message()
        return self._say_stuck(pod, message, now)

    def _prepare(self, pod: Pod, node: str, now: datetime) -> Sequence | None:
        """Have claims bound that wait for the pod, before it takes the hold that is kept for it."""
        ledger = self._ledger
        step = ledger.volumes.prepare(pod, ledger.nodes.get(node), now)
        if isinstance(step, str):
            self._launcher.unpark(pod, now)
            return self._say_stuck(pod, f"on {node}: {step}", now)
        again = ledger.volumes.again_at(pod, now)
        if step is None and again is not None:
            ledger.agenda.later(pod_subject(pod.key), again)
        return step

    def _preempt(self, pod: Pod, now: datetime) -> Sequence | None:
        """Have less important pods give way, where the pod gets into a hold by that."""
        offer = way_into_a_hold(self._ledger, pod, now)
        if offer is None:
            return None
        begin = latch_before(pod, offer, self._ledger.policy.namespace)
        intend(self._ledger, begin)
        self._ledger.state.expect(pod, offer.node)
        return begin

    def _handing_over(self, node: str) -> bool:
        """Whether owners are on their way into a node: a latch beside them could push them out."""
        ledger = self._ledger
        return ledger.agenda.busy(node_subject(node)) or bool(ledger.unsettled_on(node, False))

    def _is_owed(self, pod: Pod, node: str, now: datetime) -> bool:
        """Whether what is free on a node is about to be held again, and the pod would need it."""
        others = returned_on(node_view(self._ledger, node, now), now)
        asking = replace(pod, requests=pod.requests + others)
        return bool(others) and unfit(self._ledger, asking, node, frozenset()) is not None

    def _tell_once(self, pod: Pod, message: str, now: datetime) -> Sequence | None:
        if self._told.get(pod.uid) == message:
            return None
        self._told[pod.uid] = message
        return telling(tell_pod(pod, "Unschedulable", message, now, warn=True))

    def _say_stuck(
        self, pod: Pod, message: str, now: datetime, reason: str = "Unschedulable"
    ) -> Sequence | None:
        """Say it where people and autoscalers look: once for each new reason."""
        message = shortened(message)
        if self._told.get(pod.uid) == message:
            return None
        self._told[pod.uid] = message
        mark = MarkUnschedulable(pod.key, pod.uid, message, now, reason)
        tell = tell_pod(pod, "Unschedulable", message, now, warn=True)
        return telling(mark, tell)


def cannot_judge(things: Iterable[str]) -> str:
    """Say what of a pod is beyond our scheduler, and which way leads out."""
    return (
        f"our scheduler cannot judge {', '.join(things)}: leave spec.schedulerName out and add the "
        "scheduling gate headroom.dev/claim instead, then kube-scheduler places the pod"
    )
