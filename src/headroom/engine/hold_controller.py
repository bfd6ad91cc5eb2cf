"""The controller of holds. It collects what concerns one hold and asks `core.hold_lifecycle`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from headroom.core import hold_lifecycle
from headroom.core.actions import DeletePod
from headroom.core.allocation import is_short, keeps_rest
from headroom.core.claims import expiry
from headroom.core.derived_names import forget_names
from headroom.core.eviction.preallocation import needs_place
from headroom.core.fast_replace import replace
from headroom.core.headrooms.headrooms import NEVER
from headroom.core.hold_state import decision as hold_decision
from headroom.core.hold_state.limited import has_room, limited, wants_no_room
from headroom.core.hold_state.memory import by_our_clock, guardian_deleted, guardian_made
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold, HoldStatus
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.kept_room import kept_room
from headroom.core.node.view import HoldRoom
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work, latest
from headroom.core.renewal import Guardians, is_due, told_apart
from headroom.core.subjects import hold_subject, pod_subject
from headroom.engine import quotas
from headroom.engine.doors.released import ahead_of
from headroom.engine.evictions import place_for, reclaim_of, rest_on
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside
from headroom.engine.headrooms import creation_limits, guardian_pace
from headroom.engine.headrooms.slot_events import slot_now
from headroom.engine.headrooms.slot_succession import estate_for, leaves_room
from headroom.engine.ledger import Ledger
from headroom.engine.memories import remember
from headroom.engine.namespace_limits import limits_of, used_by_others
from headroom.engine.overcommit import overbooked_around
from headroom.engine.pending_guardians import may_make
from headroom.engine.renewals import fits_beside, fits_in_place, turn_to_renew
from headroom.engine.status_writer import StatusWriter

GATE_WORK = (Work.DOOR1, Work.DOOR1_FINISH)
QUIET_START = timedelta(seconds=2)  # Most holds are Available by then: one write instead of two.


class HoldController:
    """Looks after every hold, one at a time."""

    def __init__(self, ledger: Ledger, publisher: StatusWriter) -> None:
        self._ledger = ledger
        self._publisher = publisher

    def forget(self, hold: Hold) -> None:
        """A hold is gone."""
        guardian_pace.forget(self._ledger, hold)
        forget_names(hold)

    def made(self, hold: Hold, uid: str, now: datetime) -> None:
        """A guardian was made."""
        parent, memory = hold.parent.identity, self._ledger.memory
        if parent in self._ledger.holds:
            guardian_pace.made(self._ledger, hold)
            memory[parent] = guardian_made(memory[parent], uid, now)

    def look(self, hold: Hold, now: datetime) -> Iterator[Sequence]:
        """What this hold needs now."""
        ledger = self._ledger
        seen = self._publisher.current(hold, now)
        view = self.view(seen, now)
        told = told_apart(seen, view.guardians, now)
        if not _is_settled(seen, told, now):
            creation_limits.wait_for_limits(ledger, view, told.successor or told.standing)
        within = self._within(view, now)
        decision = hold_decision.decide(within, now, ledger.policy)
        self._apply(seen, decision)
        self._charge(within)
        yield from self._publish(view, decision.status, now)
        hold = ledger.holds[hold.parent.identity]
        lasting = hold.pre_allocation or keeps_rest(hold)
        for latch in () if hold.allocate_once and not lasting else ledger.latches_of(hold):
            ledger.agenda.touch(pod_subject(latch.key))  # It stands as long as the hold waits.
        sequence = self._admitted(hold, decision, now)
        self._shelve(hold, view.promised, sequence is not None, now)
        if sequence is not None:
            yield sequence

    def _apply(self, hold: Hold, decision: HoldDecision) -> None:
        """Remember what was decided, and arm what brings the hold back."""
        agenda, subject = self._ledger.agenda, hold_subject(hold.parent)
        for gone in set(self._ledger.memory[hold.parent.identity].waits).difference(decision.waits):
            agenda.stop_waiting(subject, gone)
        for on in decision.waits:
            agenda.wait(subject, on)
        remember(self._ledger, hold, decision.memory)
        if decision.wake_at is not None:
            agenda.later(subject, decision.wake_at)

    def view(self, hold: Hold, now: datetime) -> HoldView:
        """One hold and all that concerns it now, frozen."""
        ledger, before = self._ledger, self._ledger.memory[hold.parent.identity]
        room = hold_room(ledger, hold)
        guardians = tuple(by_our_clock(before, pod) for pod in room.guardians)
        told = told_apart(hold, guardians, now)
        placeless = needs_place(hold, room.guardians, room.owners)
        view = HoldView(
            hold=hold,
            guardians=guardians,
            claimants=room.owners,
            latches=room.latches,
            promised=ledger.promised(hold, room.owners),
            lodgers=room.slot_users,
            needs_place=placeless,
            awaited=place_for(ledger, hold) if placeless else None,
            reclaim=reclaim_of(ledger, hold, before.reclaims),
            memory=before,
        )
        view = replace(view, memory=hold_decision.observed(view, told, ledger.policy, now))
        node = hold.template.node if view.reclaim is not None else hold_decision.last_node(view)
        if hold.is_over:
            leaves, homeless = leaves_room(ledger, hold, now), node in ledger.gone_nodes
            return replace(view, node=node, leaves_room=leaves, homeless=homeless)
        view = self._with_room(view, room, node, told, now)
        view = self._with_limits(view, told, now)
        if is_due(hold, told.standing, now) and told.standing is not None:
            return self._renewing(view, told.standing, told.successor)
        return view

    def _with_room(
        self, view: HoldView, room: HoldRoom, node: str, told: Guardians, now: datetime
    ) -> HoldView:
        """The view, with its node and what keeps the hold's room there."""
        ledger, hold = self._ledger, view.hold
        pinned, renewing = _is_pinned(hold, told.standing, node), is_due(hold, told.standing, now)
        on_node = node_view(ledger, node, now)
        kept = kept_room(on_node, room, pinned, renewing, ledger.policy, now)
        owed_since, memory = on_node.owed_since.get(room.name), view.memory
        if memory.owed_since != owed_since:
            memory = replace(memory, owed_since=owed_since)
        return replace(
            view,
            memory=memory,
            node=node,
            latched=kept.latched,
            taken_over=kept.taken_over,
            fenced=kept.fenced,
            passing=kept.passing,
            whole=kept.whole,
            pinned=pinned,
            claimed=kept.claimed,
            placeless=kept.placeless,
            grows=kept.grows,
            young=kept.young,
            room_changes_at=kept.wake_at,
            rest=rest_on(ledger, hold, view.memory.preempted_on, told.standing),
            homeless=node in ledger.gone_nodes,
            overbooked=overbooked_around(ledger, hold, told.standing),
        )

    def _with_limits(self, view: HoldView, told: Guardians, now: datetime) -> HoldView:
        """The view, with what keeps the hold from having a guardian, or from having it now."""
        ledger, hold = self._ledger, view.hold
        estate, inherits = estate_for(ledger, hold, told.standing)
        first = ahead_of(ledger, hold, now)
        lost_until = view.memory.lost_until
        pins = ("", view.node, hold.template.node)
        return replace(
            view,
            left=hold.tenure.left_over(hold, ledger.pods) if hold.tenure is not None else None,
            leaves_room=leaves_room(ledger, hold, now),
            estate=estate,
            inherits=inherits,
            first=str(first[0].key) if first is not None else "",
            first_until=first[1].until if first is not None else None,
            spent=self._is_spent(hold),
            arrivals=frozenset(pin for pin in pins if not may_make(ledger, pin)),
            trouble=view.memory.trouble or guardian_pace.refusal_of(ledger, hold),
            held_up="" if _is_settled(hold, told, now) else creation_limits.held_up(ledger, hold),
            full=told.standing is None and creation_limits.full(ledger, hold),
            not_before=latest(
                ledger.agenda.not_before(hold_subject(hold.parent)),
                lost_until if lost_until is not None and lost_until > now else None,
            ),
        )

    def _within(self, view: HoldView, now: datetime) -> HoldView:
        """The view, which has no room as long as a limit or a quota refuses it."""
        ledger, hold = self._ledger, view.hold
        if wants_no_room(hold) and view.memory.permit is None:
            return view
        others = used_by_others(ledger.usage, hold.home, hold.parent.identity)
        view = limited(view, limits_of(ledger, hold.home), others)
        if wants_no_room(hold) or view.over_limit or has_room(view):
            return view
        return replace(view, refused=quotas.refusal(ledger, hold, now))

    def _charge(self, view: HoldView) -> None:
        """Tell the quotas what a hold takes of them, or that it waits for one."""
        hold, subject = view.hold, hold_subject(view.hold.parent)
        if wants_no_room(hold) or view.over_limit:
            return
        if has_room(view):
            quotas.stands(self._ledger, hold)
        else:
            quotas.asks_anew(self._ledger, subject)
            quotas.answered(self._ledger, hold, subject, view.refused)

    def _renewing(self, view: HoldView, old: Pod, successor: Pod | None) -> HoldView:
        """The view of a hold whose guardian is to be renewed, with what stands in its way."""
        ledger, hold = self._ledger, view.hold
        in_place = fits_in_place(ledger, hold, old, hold_lifecycle.size_kept(view, old))
        waits = successor is not None and bool(successor.unschedulable_message)
        stuck = waits or (bool(view.held_up) and not in_place)
        return replace(
            view,
            renewal=turn_to_renew(ledger, hold, old, stuck),
            beside=fits_beside(ledger, hold, old),
            in_place=in_place,
            crowded=creation_limits.crowded(ledger, hold),
        )

    def _admitted(self, hold: Hold, decision: HoldDecision, now: datetime) -> Sequence | None:
        """What was decided, as far as the rate limits let it begin now."""
        sequence, agenda = decision.sequence, self._ledger.agenda
        if not decision.seeks:
            guardian_pace.forget(self._ledger, hold)
        elif sequence is not None:
            guardian_pace.wants_guardian(self._ledger, hold)
            closed = guardian_pace.closed_pace(self._ledger, hold, now)
            if closed is not None:
                guardian_pace.wait_for_turn(self._ledger, hold, closed, now)
                return None
        if sequence is not None and agenda.resting(hold_subject(hold.parent), now):
            return None  # It failed a moment ago; a timer brings us back.
        return sequence

    def _is_spent(self, hold: Hold) -> bool:
        """Whether a slot that is not refilled has an owner: its headroom is about to drop it."""
        headroom = self._ledger.slots.headrooms.get(hold.group)
        never = bool(hold.slot) and headroom is not None and headroom.refill == NEVER
        return never and bool(self._ledger.claimants_of(hold, lodgers=True))

    def ended(self, sequence: Sequence) -> None:
        """A sequence has ended, well or not."""
        create = hold_decision.guardian_to_place(sequence)
        if create is not None:
            guardian_pace.ended(self._ledger, create.hold)

    def begun(self, sequence: Sequence) -> None:
        """A sequence begins; that a guardian goes which we take away ourselves is no loss.

        Noted now: the watch may show that it is gone before the API server answers us.
        """
        ledger = self._ledger
        for action in sequence.actions:
            gone = ledger.pods.get(action.key) if isinstance(action, DeletePod) else None
            parent = kept_for(gone) if gone is not None and _stood(gone) else ""
            if gone is not None and parent in ledger.holds:
                gives_way = sequence.work in GATE_WORK and _waits(gone)
                ledger.memory[parent] = guardian_deleted(ledger.memory[parent], gives_way)
        create = hold_decision.guardian_to_place(sequence)
        if create is not None:
            guardian_pace.begun(ledger, create.hold)

    def _publish(self, view: HoldView, status: HoldStatus, now: datetime) -> Iterator[Sequence]:
        hold = view.hold
        if hold.slot:
            if status != hold.status:
                self._ledger.holds[hold.parent.identity] = replace(hold, status=status)
                slot_now(self._ledger, hold, status)
            return
        soon = (hold.created or now) + QUIET_START
        if not hold.status.phase and status.phase == "Pending" and now < soon and not view.trouble:
            self._ledger.agenda.later(hold_subject(hold.parent), soon)
            return
        owners = {pod.uid: pod for pod in view.claimants}
        yield from self._publisher.publish(hold, status, owners, now)
        if hold.member is not None:  # A write under way may have kept this one back.
            slot_now(self._ledger, hold, self._ledger.holds[hold.parent.identity].status)

    def _shelve(self, hold: Hold, promised: bool, moving: bool, now: datetime) -> None:
        ledger = self._ledger
        ends = expiry(hold)
        if hold.terminal or hold.problems or (ends and ends <= now):
            ledger.unshelve(hold)
            return
        guardian = ledger.guardian_of(hold)
        if promised and hold.allocate_once:
            ledger.unshelve(hold)
        elif guardian is None or not guardian.node or moving:
            ledger.shelve(hold, None)
        elif promised:
            ledger.shelve(hold, left_beside(ledger, hold))
        else:
            ledger.shelve(hold, guardian.requests)


def _stood(pod: Pod) -> bool:
    """Whether a pod is a guardian that nobody had ended before."""
    return pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and pod.deleted is None


def _waits(pod: Pod) -> bool:
    """Whether a pod is a guardian that waits for room."""
    return pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and not pod.node


def _is_pinned(hold: Hold, guardian: Pod | None, node: str) -> bool:
    """Whether a slot is bound to a node, or has a rest standing there."""
    rests = guardian is not None and is_short(hold, guardian)
    return keeps_rest(hold) and bool(node) and (hold.template.node == node or rests)


def _is_settled(hold: Hold, told: Guardians, now: datetime) -> bool:
    """Whether the guardian of a hold has its node, and none is to come instead of it."""
    standing = told.standing
    return standing is not None and bool(standing.node) and not is_due(hold, standing, now)
