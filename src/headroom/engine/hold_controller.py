"""The controller of holds. It collects what concerns one hold and asks `core.hold_lifecycle`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from headroom.core import hold_lifecycle
from headroom.core.allocation import keeps_rest
from headroom.core.claims import expiry
from headroom.core.derived_names import forget_names
from headroom.core.eviction.preallocation import needs_place
from headroom.core.eviction.preempted import rest
from headroom.core.eviction.reclaim import reclaim
from headroom.core.fast_dataclass import replace
from headroom.core.headrooms.headrooms import NEVER
from headroom.core.hold_state import decision as hold_decision
from headroom.core.hold_state.decision import last_node
from headroom.core.hold_state.limited import has_room, limited, wants_no_room
from headroom.core.hold_state.memory import (
    HoldMemory,
    by_our_clock,
    guardian_made,
    remembering,
)
from headroom.core.hold_state.view import (
    HoldDecision,
    HoldView,
    Obstacles,
    RenewalView,
    SlotReplacement,
)
from headroom.core.holds import Hold, HoldStatus
from headroom.core.node.kept_room import kept_room
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, latest
from headroom.core.renewal import guardian_roles
from headroom.core.subjects import hold_subject, pod_subject
from headroom.engine import quotas
from headroom.engine.doors.released import ahead_of
from headroom.engine.evictions import place_for, preempted_view, reclaim_view
from headroom.engine.freeze import hold_room, node_view, unfit, unsettled_on
from headroom.engine.handover_queue import left_beside
from headroom.engine.headrooms import creation_limits, guardian_pace
from headroom.engine.headrooms.slot_events import slot_now
from headroom.engine.headrooms.slot_pods import slots_of
from headroom.engine.headrooms.slot_succession import is_replaceable, predecessor_of
from headroom.engine.ledger import Ledger
from headroom.engine.memories import remember
from headroom.engine.namespace_limits import limit_of
from headroom.engine.overcommit import overbooked_around
from headroom.engine.pending_guardians import may_make
from headroom.engine.status_writer import StatusWriter
from headroom.scheduling.choose import ChosenNode, choose

QUIET_START = timedelta(seconds=2)  # Most holds are Available by then: one write instead of two.


class HoldController:
    """Decides every hold, one at a time."""

    def __init__(self, ledger: Ledger, statuses: StatusWriter) -> None:
        self._ledger = ledger
        self._statuses = statuses

    def forget(self, hold: Hold) -> None:
        """A hold is gone."""
        guardian_pace.forget(self._ledger, hold)
        forget_names(hold)

    def made(self, hold: Hold, uid: str, now: datetime) -> None:
        """A guardian was created."""
        parent, memory = hold.parent.identity, self._ledger.memory
        if parent in self._ledger.holds:
            guardian_pace.made(self._ledger, hold)
            memory[parent] = guardian_made(memory[parent], uid, now)

    def look(self, hold: Hold, now: datetime) -> Iterator[Sequence]:
        """Decide this hold, and yield its writes."""
        ledger = self._ledger
        seen = self._statuses.give_up_unseen(hold, now)
        view = self._view(seen, now)
        decision = hold_decision.decide(view, now, ledger.policy)
        self._apply(seen, decision)
        if not view.roles.settled:
            waiting = view.roles.successor or view.roles.standing
            creation_limits.wait_for_limits(ledger, view, waiting)
        self._charge(view)
        yield from self._publish(view, decision.status, now)
        hold = ledger.holds[hold.parent.identity]
        lasting = hold.pre_allocation or keeps_rest(hold)
        for latch in () if hold.allocate_once and not lasting else ledger.latches_of(hold):
            ledger.agenda.touch(pod_subject(latch.key))  # It stands as long as the hold waits.
        sequence = self._admitted(hold, decision, now)
        self._set_claimable(hold, view.expects_owner, sequence is not None, now)
        if sequence is not None:
            yield sequence

    def _apply(self, hold: Hold, decision: HoldDecision) -> None:
        """Store the memory, and set the timer and the waits of the decision."""
        agenda, subject = self._ledger.agenda, hold_subject(hold.parent)
        for gone in set(self._ledger.memory[hold.parent.identity].waits).difference(decision.waits):
            agenda.stop_waiting(subject, gone)
        for on in decision.waits:
            agenda.wait(subject, on)
        remember(self._ledger, hold, decision.memory)
        if decision.wake_at is not None:
            agenda.later(subject, decision.wake_at)

    def _view(self, hold: Hold, now: datetime) -> HoldView:
        """One hold and all that concerns it now, frozen."""
        ledger, before = self._ledger, self._ledger.memory[hold.parent.identity]
        room = hold_room(ledger, hold)
        guardians = tuple(by_our_clock(before, pod) for pod in room.guardians)
        roles = guardian_roles(hold, guardians, now)
        unplaced = needs_place(hold, room.guardians, room.owners)
        view = HoldView(
            hold=hold,
            guardians=guardians,
            claimants=room.owners,
            expects_owner=ledger.expects_owner(hold, room.owners),
            slot_users=room.slot_users,
            latches=room.latches,
            needs_place=unplaced,
            succession=place_for(ledger, hold) if unplaced else None,
            reclaim=reclaim(
                hold, partial(reclaim_view, ledger, hold, before.reclaims), ledger.policy
            ),
            memory=before,
            roles=roles,
        )
        memory = hold_decision.observed(view, ledger.policy, now)
        node = last_node(view, memory.node) if view.reclaim is None else hold.template.node
        limit, permit = limited(view, partial(limit_of, ledger, hold))
        left = SlotReplacement(
            is_replaceable(ledger, hold, now), *predecessor_of(ledger, hold, roles.standing)
        )
        homeless, memory = node in ledger.gone_nodes, remembering(memory, permit=permit)
        view = replace(view, memory=memory, node=node, replacement=left, homeless=homeless)
        if hold.is_over or (not roles.due and hold_lifecycle.asks_no_room(view)):
            beyond = overbooked_around(ledger, hold, roles.standing)
            return replace(view, obstacles=Obstacles(limit=limit), overbooked=beyond)
        on_node = node_view(ledger, node, now)
        memory = remembering(memory, owed_since=on_node.owed_since.get(room.name))
        view = replace(
            view,
            kept=kept_room(on_node, room, roles, ledger.policy, now),
            obstacles=self._obstacles(view, limit, memory, now),
            rest=rest(
                hold, roles.standing, partial(preempted_view, ledger, hold, memory.preempted_on)
            ),
            overbooked=overbooked_around(ledger, hold, roles.standing),
            left=hold.tenure.left_over(hold, ledger.pods) if hold.tenure is not None else None,
            memory=memory,
        )
        if roles.due:
            view = replace(view, renewal=_renewal_of(ledger, view))
        return view

    def _obstacles(
        self, view: HoldView, limit: str, memory: HoldMemory, now: datetime
    ) -> Obstacles:
        """What prevents a guardian of a hold, or delays it."""
        ledger, hold, roles = self._ledger, view.hold, view.roles
        first = ahead_of(ledger, hold, now)
        asks = not (wants_no_room(hold) or limit or has_room(view))
        pause = latest(ledger.agenda.not_before(hold_subject(hold.parent)), memory.lost_until)
        return Obstacles(
            trouble=memory.trouble or guardian_pace.refusal_of(ledger, hold),
            not_before=pause if pause is not None and now < pause else None,
            node_limit="" if roles.settled else creation_limits.node_limit_refusal(ledger, hold),
            limit=limit,
            refused=quotas.refusal(ledger, hold, now) if asks else None,
            guardian_limit_reached=roles.standing is None
            and creation_limits.guardian_limit_reached(ledger, hold),
            spent=self._is_spent(hold),
            owner_first=str(first[0].key) if first is not None else "",
            owner_first_until=first[1].until if first is not None else None,
            arrivals=frozenset(
                pin for pin in {"", view.node, hold.template.node} if not may_make(ledger, pin)
            ),
        )

    def _charge(self, view: HoldView) -> None:
        """Tell the quotas what a hold uses of them, or that it waits for one."""
        hold, subject = view.hold, hold_subject(view.hold.parent)
        if wants_no_room(hold) or view.obstacles.limit:
            return
        if has_room(view):
            quotas.stands(self._ledger, hold)
        else:
            quotas.asks_anew(self._ledger, subject)
            quotas.answered(self._ledger, hold, subject, view.obstacles.refused)

    def _admitted(self, hold: Hold, decision: HoldDecision, now: datetime) -> Sequence | None:
        """The writes of a decision, as far as the rate limits allow them now."""
        sequence, agenda = decision.sequence, self._ledger.agenda
        if not decision.seeks:
            guardian_pace.forget(self._ledger, hold)
        elif sequence is not None:
            guardian_pace.wants_guardian(self._ledger, hold)
            closed = guardian_pace.closed_pace(self._ledger, hold, now)
            if closed is not None:
                guardian_pace.wait_for_turn(self._ledger, hold, closed, now)
                return None
        if sequence is not None and agenda.in_backoff(hold_subject(hold.parent), now):
            return None  # It failed a moment ago; a timer brings us back.
        return sequence

    def _is_spent(self, hold: Hold) -> bool:
        """Whether a slot that is not refilled has an owner: its headroom will drop it."""
        headroom = self._ledger.slots.headrooms.get(hold.group)
        never = bool(hold.slot) and headroom is not None and headroom.refill == NEVER
        return never and bool(self._ledger.claimants_of(hold, former=True))

    def _publish(self, view: HoldView, status: HoldStatus, now: datetime) -> Iterator[Sequence]:
        hold = view.hold
        if hold.slot:
            if status != hold.status:
                self._ledger.holds[hold.parent.identity] = replace(hold, status=status)
                slot_now(self._ledger, hold, status)
            return
        soon = (hold.created or now) + QUIET_START
        if (
            not hold.status.phase
            and status.phase == "Pending"
            and now < soon
            and not view.obstacles.trouble
        ):
            self._ledger.agenda.later(hold_subject(hold.parent), soon)
            return
        owners = {pod.uid: pod for pod in view.claimants}
        yield from self._statuses.publish(hold, status, owners, now)
        if hold.member is not None:  # A write under way may have kept this one back.
            slot_now(self._ledger, hold, self._ledger.holds[hold.parent.identity].status)

    def _set_claimable(self, hold: Hold, expects_owner: bool, moving: bool, now: datetime) -> None:
        ledger = self._ledger
        ends = expiry(hold)
        if hold.terminal or hold.problems or (ends and ends <= now):
            ledger.clear_claimable(hold)
            return
        guardian = ledger.guardian_of(hold)
        if expects_owner and hold.allocate_once:
            ledger.clear_claimable(hold)
        elif guardian is None or not guardian.node or moving:
            ledger.set_claimable(hold, None)
        elif expects_owner:
            ledger.set_claimable(hold, left_beside(ledger, hold))
        else:
            ledger.set_claimable(hold, guardian.requests)


def _renewal_of(ledger: Ledger, view: HoldView) -> RenewalView | None:
    """Whether a guardian that is due may be renewed now, and what prevents it."""
    hold, old, successor = view.hold, view.roles.standing, view.roles.successor
    if old is None:
        return None
    slots = slots_of(ledger, hold.group)
    renewing = sum(ledger.memory[each].renewing for each in slots if each != hold.parent.identity)
    in_place = _fits_in_place(ledger, view, old)
    waits = successor is not None and bool(successor.unschedulable_message)
    latches = frozenset(latch.key for latch in view.latches)
    return RenewalView(
        others=renewing,
        most=max(1, -(-len(slots) * ledger.policy.renewed_at_once // 100)),
        stuck=waits or (bool(view.obstacles.node_limit) and not in_place),
        unsettled=bool(unsettled_on(ledger, old.node) - latches),
        beside=_fits_beside(ledger, hold, old),
        in_place=in_place and not view.obstacles.limit,
        one_at_a_time=creation_limits.one_guardian_at_a_time(ledger, hold),
    )


def _fits_in_place(ledger: Ledger, view: HoldView, old: Pod) -> bool:
    """Whether a guardian of the size to keep would fit in the place of the old one."""
    ours = frozenset({old.key} | {latch.key for latch in view.latches})
    wanted = replace(view.hold.template.pod, requests=hold_lifecycle.size_kept(view))
    return unfit(ledger, wanted, old.node, ours) is None


def _fits_beside(ledger: Ledger, hold: Hold, old: Pod) -> bool:
    """Whether a new guardian would find room beside the old one."""
    wanted = hold.template.pod
    if hold.template.node:
        return unfit(ledger, wanted, hold.template.node, frozenset()) is None
    if unfit(ledger, wanted, old.node, frozenset()) is None:
        return True
    return isinstance(choose(wanted, ledger.state), ChosenNode)
