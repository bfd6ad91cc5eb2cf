"""The controller of owners at both doors. It carries out what `core.doors` decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import assert_never

from headroom.core.actions import MarkUnschedulable
from headroom.core.claims import Offer, Search
from headroom.core.demand.volume_constraints import names_unknown, volume_refusal
from headroom.core.doors.claim_decision import OwnerStage
from headroom.core.doors.displacement import displacement
from headroom.core.doors.growth import grow_in_place
from headroom.core.doors.owner_decision import (
    FreeRoom,
    Move,
    OwnerView,
    Park,
    Preempt,
    Refuse,
    Release,
    TakeFreeRoom,
    Wait,
    WaitForNode,
    cannot_judge,
    decide,
)
from headroom.core.fast_replace import replace
from headroom.core.handover import latch_before, latch_free_room, ungate
from headroom.core.names import CLAIM_GATE
from headroom.core.node.kept_room import returned_on
from headroom.core.objects import Pod, shortened
from headroom.core.plan import Sequence, Work, telling
from headroom.core.statuses import tell_pod
from headroom.core.subjects import ANY_ROOM, hold_subject, node_changed, node_subject, pod_subject
from headroom.engine.doors.released import goes_first
from headroom.engine.effects import intend
from headroom.engine.evictions import way_into_a_hold
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import park, unpark
from headroom.engine.headrooms.records import note_missed
from headroom.engine.latch_controller import dismiss
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.engine.owner_claims import search
from headroom.engine.volumes import prepare
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import refused

SCHEDULER_ERROR = "SchedulerError"


class OwnerController:
    """Looks after owners without a claim."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def look(self, pod: Pod, at: OwnerStage, now: datetime) -> Iterator[Sequence]:
        """Decide about an owner, unless something has to be done before."""
        door = self._ledger.door(pod)
        first = (self._before_gate if door == 1 else self._before_scheduling)(pod, at, now)
        if first is not None:
            yield from first
            return
        view = self._view(pod, door, now)
        self._note_failed(view, now)
        yield from self._carry_out(decide(view, self._ledger.policy, now), view, now)

    def _before_gate(self, pod: Pod, at: OwnerStage, now: datetime) -> tuple[Sequence, ...] | None:
        """What keeps an owner at the gate from being decided now; None if nothing does."""
        ledger = self._ledger
        if pod.gates != (CLAIM_GATE,) or at is OwnerStage.PARKED:
            return ()  # Other gates come first; their removal brings us back.
        ledger.state.unexpect(pod.key)  # No handover of it is in progress any more.
        new_until = self._new_until(pod, now)
        if names_unknown(pod, ledger.storage) and now < new_until:
            ledger.agenda.later(pod_subject(pod.key), new_until)
            return ()
        return None

    def _before_scheduling(
        self, pod: Pod, at: OwnerStage, now: datetime
    ) -> tuple[Sequence, ...] | None:
        """What keeps a pod of our scheduler from being decided now; None if nothing does."""
        ledger = self._ledger
        if pod.unjudged:
            return self._mark_stuck(pod, cannot_judge(pod.unjudged), now, SCHEDULER_ERROR)
        if at is OwnerStage.PARKED:
            return self._prepare(pod, ledger.parked[pod.key][1].node, now)
        if at is OwnerStage.LATCHED:
            return ()
        ledger.state.unexpect(pod.key)  # No handover of it is in progress any more.
        unmounted = volume_refusal(pod, ledger.storage)
        return self._wait_for_volumes(pod, unmounted, now) if unmounted else None

    def _view(self, pod: Pod, door: int, now: datetime) -> OwnerView:
        ledger = self._ledger
        found = search(ledger, pod, now)
        failed = any(refusal.failed for refusal in found.refused)
        since = now if failed else ledger.pod_memory[pod.uid].since
        return OwnerView(
            pod,
            door,
            since or now,
            found,
            partial(self._free_room, pod, now),
            partial(way_into_a_hold, ledger, pod, now),
            partial(self._displacement, pod),
        )

    def _note_failed(self, view: OwnerView, now: datetime) -> None:
        """An owner begins anew: the time that the failed handover took was not the owner's."""
        ledger, uid = self._ledger, view.pod.uid
        for refusal in view.found.refused:
            if refusal.failed:
                ledger.agenda.touch(hold_subject(refusal.parent))
                ledger.pod_memory[uid] = replace(ledger.pod_memory[uid], since=now)

    def _free_room(self, pod: Pod, now: datetime) -> FreeRoom:
        """Where kube-scheduler would place a pod, and whether others are in the way there."""
        ledger = self._ledger
        choice = choose(pod, ledger.state)
        if not isinstance(choice, ChosenNode):
            return FreeRoom(why_not=choice.message)
        node = choice.node
        # A latch beside owners on their way could push them out.
        moving = ledger.agenda.busy(node_subject(node)) or bool(ledger.unsettled_on(node, False))
        return FreeRoom(node, moving or self._is_returned(pod, node, now))

    def _is_returned(self, pod: Pod, node: str, now: datetime) -> bool:
        """Whether free room of a node is about to be held again, and the pod would need it."""
        others = returned_on(node_view(self._ledger, node, now), now)
        asking = replace(pod, requests=pod.requests + others)
        return bool(others) and unfit(self._ledger, asking, node, frozenset()) is not None

    def _displacement(self, pod: Pod) -> Offer | None:
        """The guardian whose room a pod gets that ignores holds."""
        ledger = self._ledger
        rest = (ledger.holds[parent] for parent in ledger.open if self._is_at_rest(parent))
        known = ((hold, ledger.guardian_of(hold)) for hold in rest)
        found = ((hold, guardian) for hold, guardian in known if guardian is not None)
        return displacement(pod, found, partial(unfit, ledger))

    def _is_at_rest(self, parent: str) -> bool:
        """Whether nobody is about to get a hold, and nothing is being written about it."""
        ledger = self._ledger
        busy = ledger.agenda.busy(hold_subject(ledger.holds[parent].parent))
        return not busy and not ledger.parked.of(parent)

    def grow(self, pod: Pod, now: datetime) -> Iterator[Sequence]:
        """Give an owner that grows in place the room that is held for it on its node."""
        ledger = self._ledger
        parents = ledger.open.for_pod(replace(pod, requests=pod.growth))
        rest = (ledger.holds[parent] for parent in parents if self._is_at_rest(parent))
        rooms = (hold_room(ledger, hold) for hold in rest)
        there = node_view(ledger, pod.node, now)
        sequence = grow_in_place(pod, there, rooms, ledger.policy, now)
        if sequence is not None:
            yield sequence

    def _carry_out(self, move: Move, view: OwnerView, now: datetime) -> Iterator[Sequence]:
        ledger, pod, found = self._ledger, view.pod, view.found
        match move:
            case Park(offer):
                park(ledger, pod, offer)
                if view.door == 2:
                    yield from self._prepare(pod, offer.node, now)
            case Wait():
                self._wait(pod, move)
                if move.message:
                    yield from self._tell_once(pod, move.message, now)
            case Release():
                missed = self._note_missed(found)
                goes_first(ledger, pod, missed, now)
                yield Sequence(Work.RELEASE, (pod_subject(pod.key),), ((ungate(pod),),))
                yield telling(tell_pod(pod, "NotMatched", found.why, now))
            case WaitForNode(node, until):
                ledger.agenda.stop_waiting(pod_subject(pod.key), ANY_ROOM)
                self._wait(pod, Wait(until))
                ledger.agenda.wait(pod_subject(pod.key), on=node_changed(node))
            case TakeFreeRoom(node):
                ledger.agenda.stop_waiting(pod_subject(pod.key), ANY_ROOM)
                self._note_missed(found)
                yield self._begin(pod, node, latch_free_room(pod, node, ledger.policy.namespace))
            case Preempt(offer, wait):
                self._wait(pod, wait)
                latch = latch_before(pod, offer, ledger.policy.namespace)
                yield self._begin(pod, offer.node, latch)
            case Refuse(message, wait):
                self._wait(pod, wait)
                yield from self._mark_stuck(pod, message, now)
            case _:
                assert_never(move)

    def _begin(self, pod: Pod, node: str, sequence: Sequence) -> Sequence:
        """Let later decisions count a pod, and its latch, on the node before they are there."""
        intend(self._ledger, sequence)
        self._ledger.state.expect(pod, node)
        return sequence

    def _wait(self, pod: Pod, wait: Wait) -> None:
        ledger, subject = self._ledger, pod_subject(pod.key)
        if wait.room:
            ledger.agenda.wait(subject, on=ANY_ROOM)
        for node in wait.nodes:
            ledger.agenda.wait(subject, on=node_changed(node))
            dismiss(ledger, node)
        if wait.until is not None:
            ledger.agenda.later(subject, wait.until)

    def _note_missed(self, found: Search) -> dict[str, None]:
        """Tell the headrooms that were for a pod that it goes without, and return their names."""
        missed = {refusal.parent.whole: None for refusal in found.refused if refusal.owner}
        for whole in missed:
            note_missed(self._ledger, whole)
        return missed

    def _new_until(self, pod: Pod, now: datetime) -> datetime:
        """Until when an object that a new owner names may still be unseen: streams differ."""
        since = self._ledger.pod_memory[pod.uid].since or now
        return since + self._ledger.policy.first_look

    def _wait_for_volumes(self, pod: Pod, why: str, now: datetime) -> tuple[Sequence, ...]:
        """Say what is wrong with a pod's claims; a change of one of them brings us back."""
        new_until = self._new_until(pod, now)
        if now < new_until:
            self._ledger.agenda.later(pod_subject(pod.key), new_until)
            return ()
        return self._mark_stuck(pod, refused(pod, self._ledger.state, why).message(), now)

    def _prepare(self, pod: Pod, node: str, now: datetime) -> tuple[Sequence, ...]:
        """Have claims bound that wait for the pod, before it takes the hold that is kept for it."""
        ledger = self._ledger
        step = prepare(ledger, pod, node, pod_subject(pod.key), now)
        if not isinstance(step, str):
            return step
        unpark(ledger, pod.key, now)
        return self._mark_stuck(pod, f"on {node}: {step}", now)

    def _tell_once(self, pod: Pod, message: str, now: datetime) -> tuple[Sequence, ...]:
        if not self._is_new(pod, message):
            return ()
        return (telling(tell_pod(pod, "Unschedulable", message, now, warn=True)),)

    def _is_new(self, pod: Pod, message: str) -> bool:
        """Note what is told of a pod; say whether it was not what was last told."""
        memory = self._ledger.pod_memory[pod.uid]
        self._ledger.pod_memory[pod.uid] = replace(memory, told=message)
        return memory.told != message

    def _mark_stuck(
        self, pod: Pod, message: str, now: datetime, reason: str = "Unschedulable"
    ) -> tuple[Sequence, ...]:
        """Say it where people and autoscalers look: once for each new reason."""
        message = shortened(message)
        if not self._is_new(pod, message):
            return ()
        mark = MarkUnschedulable(pod.key, pod.uid, message, now, reason)
        return (telling(mark, tell_pod(pod, "Unschedulable", message, now, warn=True)),)
