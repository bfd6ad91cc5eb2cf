"""The controller of holds. It collects what concerns one hold and asks `core.hold_lifecycle`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from headroom.core import hold_lifecycle
from headroom.core.actions import DeletePod
from headroom.core.allocation import is_short, keeps_rest
from headroom.core.claims import expiry
from headroom.core.derived_names import forget_names
from headroom.core.eviction.preallocation import Succession
from headroom.core.headrooms.headrooms import NEVER
from headroom.core.holds import Hold, HoldStatus
from headroom.core.latches import kept_for
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.kept_room import KeptRoom, kept_room
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work, latest
from headroom.core.renewal import Guardians, outdated, told_apart
from headroom.core.subjects import hold_subject, node_changed, pod_subject
from headroom.core.tickets import ticket_lifecycle
from headroom.core.tickets.ticket_times import ends_at
from headroom.engine.conflicts.preempted_guardians import Ousted
from headroom.engine.conflicts.reclaim import Reclaims
from headroom.engine.deleted_nodes import Departures
from headroom.engine.doors.released import ahead_of, wait_behind
from headroom.engine.effects import begin_binding, end_binding, guardian_to_place
from headroom.engine.freeze import hold_room, node_view
from headroom.engine.handover_queue import left_beside
from headroom.engine.headrooms.headrooms import Standing
from headroom.engine.ledger import Ledger
from headroom.engine.limits.allowance import Allowance
from headroom.engine.lost_guardians import Losses, why_lost
from headroom.engine.overcommit import Overbooking
from headroom.engine.preallocation import Successions
from headroom.engine.rate_limits.givingway import GivingWay
from headroom.engine.rate_limits.guardians import GuardianPace
from headroom.engine.renewals import Renewals
from headroom.engine.status_writer import StatusWriter

GATE_WORK = (Work.DOOR1, Work.DOOR1_FINISH)
QUIET_START = timedelta(seconds=2)  # Most holds are Available by then: one write instead of two.


class _Around(NamedTuple):
    """The pods whose room a hold waits for, and those that use its room."""

    awaited: Succession | None
    lodgers: tuple[Pod, ...]


class HoldController:
    """Looks after every hold, one at a time."""

    def __init__(
        self, ledger: Ledger, publisher: StatusWriter, standing: Standing, allowance: Allowance
    ) -> None:
        self._ledger = ledger
        self._publisher = publisher
        self._standing = standing
        self.allowance = allowance
        self._renewals = Renewals(ledger)
        self._losses = Losses(ledger.policy.guardian_retry)
        self.pace = GuardianPace(ledger.policy, ledger.agenda)
        self.giving_way = GivingWay(ledger.agenda)
        self.departures = Departures(ledger)
        self.overbooking = Overbooking(ledger)
        self.successions = Successions(ledger)
        self.ousted = Ousted(ledger)
        self.reclaims = Reclaims(ledger)
        self._trouble: dict[str, str] = {}
        self._born: dict[str, tuple[str, datetime]] = {}  # the last guardian made, by our clock

    def forget(self, hold: Hold) -> None:
        """A hold is gone."""
        self._trouble.pop(str(hold.parent), None)
        self._born.pop(str(hold.parent), None)
        self._losses.forget(str(hold.parent))
        self.pace.forget(hold)
        self.giving_way.over(hold)
        self.overbooking.forget(hold)
        self.successions.forget(hold)
        self.ousted.forget(hold)
        self.reclaims.forget(hold)
        self._renewals.over(hold)
        self.allowance.forget(hold)
        self._standing.issuer.heirs.forget(hold)
        forget_names(hold)

    def keeps(self, hold: Hold) -> bool:
        """Whether this hold is still there."""
        return str(hold.parent) in self._ledger.holds

    def refused(self, hold: Hold, why: str) -> None:
        """Take note of why a guardian could not be made."""
        self._trouble[str(hold.parent)] = why

    def rest(self, hold: Hold, now: datetime) -> None:
        """Leave this hold alone for a while, longer each time."""
        subject = hold_subject(hold.parent)
        self._ledger.agenda.failed(subject, now, self._ledger.policy.guardian_retry)
        self._ledger.agenda.touch(subject)

    def made(self, hold: Hold, uid: str, now: datetime) -> None:
        """A guardian was made."""
        if not self.keeps(hold):
            return
        self._trouble.pop(str(hold.parent), None)
        self.pace.made(hold)
        self._born[str(hold.parent)] = (uid, now)
        self._losses.made(str(hold.parent), now)

    def look(self, hold: Hold, now: datetime) -> Iterator[Sequence]:
        """What this hold needs now."""
        ledger, parent = self._ledger, str(hold.parent)
        seen = self._publisher.current(hold, now)
        guardians = tuple(self._by_our_clock(parent, pod) for pod in ledger.guardians_of(seen))
        told = told_apart(seen, guardians, now)
        self._note(seen, told, guardians, now)
        around = _Around(self.successions.look(seen), ledger.lodgers_of(seen))
        self._note_node(seen, around)
        self._standing.issuer.heirs.note(seen, ends_at(seen), now)
        view = self._view(seen, told, guardians, around, now)
        if view.inherits and view.estate is None:
            self._standing.issuer.heirs.wait(seen, now)
        if not _is_settled(seen, told, now):
            self._standing.brake.wait(view, told.successor or told.standing)
        wait_behind(ledger, seen, now)
        decision = ticket_lifecycle.decide(self.allowance.within(view, now), now, ledger.policy)
        if view.grows and view.whole and not view.overbooked:
            ledger.short.pop(parent, None)
        else:
            ledger.short[parent] = None
        yield from self._publish(view, decision.status, now)
        hold = ledger.holds[parent]
        lasting = hold.pre_allocation or keeps_rest(hold)
        for latch in () if hold.allocate_once and not lasting else ledger.latches_of(hold):
            ledger.agenda.touch(pod_subject(latch.key))  # It stands as long as the hold waits.
        if decision.wake_at is not None:
            ledger.agenda.later(hold_subject(hold.parent), decision.wake_at)
        sequence = (
            None if view.first and guardian_to_place(decision.sequence) else decision.sequence
        )
        sequence = self._in_turn(hold, sequence, now)
        if sequence is not None and ledger.agenda.resting(hold_subject(hold.parent), now):
            sequence = None  # It failed a moment ago; a timer brings us back.
        self._shelve(hold, sequence is not None, now)
        if sequence is not None:
            begin_binding(ledger, sequence)
            yield sequence

    def _note(self, hold: Hold, told: Guardians, guardians: tuple[Pod, ...], now: datetime) -> None:
        """Take note of what the guardians of a hold tell: trouble is over, or begins."""
        ledger, parent = self._ledger, str(hold.parent)
        old = _is_old(hold, told.standing, now)
        if told.standing is not None and not old:
            self._trouble.pop(parent, None)  # Also one whose making was never answered.
        elif told.standing is None and not ledger.promised(hold) and self._losses.lost(parent, now):
            self._trouble[parent] = why_lost(guardians)
        if told.standing is not None and told.standing.node:
            self.giving_way.over(hold)
        if told.standing is None or not old:
            self._renewals.over(hold)

    def _view(
        self,
        hold: Hold,
        told: Guardians,
        guardians: tuple[Pod, ...],
        around: _Around,
        now: datetime,
    ) -> hold_lifecycle.HoldView:
        ledger, parent = self._ledger, str(hold.parent)
        old = told.standing if _is_old(hold, told.standing, now) else None
        claimants = ledger.claimants_of(hold)
        (awaited, lodgers), reclaim = around, self.reclaims.look(hold)
        node = hold.template.node if reclaim is not None else self._last_node(hold, claimants)
        pinned = _is_pinned(hold, told.standing, node)
        kept = self._kept(hold, node, pinned, old is not None, now)
        heirs = self._standing.issuer.heirs
        estate, inherits = heirs.estate_for(hold, told.standing)
        view = hold_lifecycle.HoldView(
            hold=hold,
            guardians=guardians,
            claimants=claimants,
            node=node,
            promised=ledger.promised(hold),
            latched=kept.latched,
            taken_over=kept.taken_over,
            fenced=kept.fenced,
            passing=kept.passing,
            lodgers=lodgers,
            whole=kept.whole,
            pinned=pinned,
            claimed=kept.claimed,
            placeless=kept.placeless,
            grows=kept.grows,
            awaited=awaited,
            reclaim=reclaim,
            rest=self.ousted.rest(hold, told.standing),
            left=ticket_lifecycle.left_over(hold, ledger.pods),
            heir=heirs.awaited(hold),
            estate=estate,
            inherits=inherits,
            homeless=node in self.departures,
            first=str(first[0].key) if (first := ahead_of(ledger, hold, now)) else "",
            overbooked=self.overbooking.around(hold, told.standing, now),
            trouble=self._trouble.get(parent, "") or self.pace.why(hold),
            held_up="" if _is_settled(hold, told, now) else self._standing.brake.held_up(hold),
            full=told.standing is None and self._standing.brake.full(hold),
            not_before=latest(
                ledger.agenda.not_before(hold_subject(hold.parent)),
                self._losses.not_before(parent, now),
            ),
        )
        return view if old is None else self._renewing(view, old, told.successor, now)

    def _kept(self, hold: Hold, node: str, pinned: bool, renewing: bool, now: datetime) -> KeptRoom:
        """What keeps the room of a hold; it is looked at again when that changes."""
        ledger, subject = self._ledger, hold_subject(hold.parent)
        view, room = node_view(ledger, node, now), hold_room(ledger, hold)
        kept = kept_room(view, room, pinned, renewing, ledger.policy, now)
        if kept.passing:
            ledger.agenda.wait(subject, on=node_changed(node))
        if kept.wake_at is not None:
            ledger.agenda.later(subject, kept.wake_at)
        return kept

    def _note_node(self, hold: Hold, around: _Around) -> None:
        """Take note of where the room of a hold is: with pods that have it, or will leave it."""
        ledger, parent = self._ledger, str(hold.parent)
        if around.awaited is not None:
            ledger.last_node[parent] = around.awaited.node
        elif around.lodgers and not self._last_node(hold, ledger.claimants_of(hold)):
            ledger.last_node[parent] = around.lodgers[0].node

    def _last_node(self, hold: Hold, claimants: tuple[Pod, ...]) -> str:
        """Where the room of a hold is, or was; empty when nobody knows."""
        ledger = self._ledger
        seats = (pod.node for pod in claimants if pod.occupies_node)
        # After a restart in the middle of a handover only the owner knows where the room was.
        node = ledger.last_node.get(str(hold.parent), "") or hold.status.node or next(seats, "")
        return node or next((latch.nominated for latch in ledger.latches_of(hold)), "")

    def _renewing(
        self, view: hold_lifecycle.HoldView, old: Pod, successor: Pod | None, now: datetime
    ) -> hold_lifecycle.HoldView:
        """The view of a hold whose guardian is to be renewed, with what stands in its way."""
        hold, size = view.hold, hold_lifecycle.size_kept(view, old)
        in_place = self._renewals.fits_in_place(hold, old, size)
        stuck = bool(view.held_up) and not in_place
        may = self._may_renew(hold, old, successor, stuck, now)
        return replace(
            view,
            may_renew=may,
            beside=self._renewals.fits_beside(hold, old),
            in_place=in_place,
            crowded=may and self._standing.brake.crowded(hold),
        )

    def _in_turn(self, hold: Hold, sequence: Sequence | None, now: datetime) -> Sequence | None:
        """What makes a guardian for kube-scheduler to place waits for owners, and for its turn."""
        seeks = guardian_to_place(sequence)
        if seeks is None:
            self.pace.withdraw(hold)
            return sequence
        if self._is_spent(hold) or not self.giving_way.may_make(hold, now):
            self.pace.withdraw(hold)
            return None
        pin = seeks.node or seeks.hold.template.node
        if not self._ledger.contention.may_make(pin):
            self._ledger.contention.wait(hold_subject(hold.parent), pin)
            return None
        self.pace.see(hold)
        if not self.pace.may_make(hold, now):
            self.pace.wait(hold, now)
            return None
        return sequence

    def _is_spent(self, hold: Hold) -> bool:
        """Whether a slot that is not refilled has an owner: its headroom is about to drop it."""
        headroom = self._ledger.slots.headrooms.get(hold.group)
        never = bool(hold.slot) and headroom is not None and headroom.refill == NEVER
        return never and bool(self._ledger.claimants_of(hold, lodgers=True))

    def ended(self, sequence: Sequence) -> None:
        """A sequence has ended, well or not."""
        end_binding(self._ledger, sequence)
        seeks = guardian_to_place(sequence)
        if seeks is not None:
            pin = seeks.node or seeks.hold.template.node
            self._ledger.contention.made(str(seeks.hold.parent), pin)
            self.pace.ended(seeks.hold)

    def begun(self, sequence: Sequence) -> None:
        """A sequence begins; that a guardian goes which we take away ourselves is no loss.

        Noted now: the watch may show that it is gone before the API server answers us.
        """
        for action in (action for step in sequence.steps for action in step):
            gone = self._ledger.pods.get(action.key) if isinstance(action, DeletePod) else None
            if gone is not None:
                self._losses.removed(kept_for(gone))
                known = kept_for(gone) in self._ledger.holds
                waits = gone.labels.get(ROLE_LABEL) == ROLE_GUARDIAN and not gone.node
                if sequence.work in GATE_WORK and known and waits:
                    self.giving_way.went(kept_for(gone))
        seeks = guardian_to_place(sequence)
        if seeks is not None:
            pin = seeks.node or seeks.hold.template.node
            self._ledger.contention.making(str(seeks.hold.parent), pin)
            self.pace.begun(seeks.hold)

    def _by_our_clock(self, parent: str, guardian: Pod) -> Pod:
        """A guardian that we made ourselves is as old as we know it to be.

        An API server whose clock is behind ours stamps it with a moment before the start that it
        was made for, and it would be renewed for ever.
        """
        uid, made = self._born.get(parent, ("", None))
        if made is None or uid != guardian.uid or guardian.created is None:
            return guardian
        if guardian.created >= made.replace(microsecond=0):
            return guardian
        return replace(guardian, created=made)

    def _may_renew(
        self, hold: Hold, old: Pod, successor: Pod | None, stuck: bool, now: datetime
    ) -> bool:
        """Whether it is this hold's turn, and its node is at rest; if not, it is asked again.

        One whose successor finds no room waits as long as it must, and lets others have their turn;
        so does one that is `stuck`, whose successor may not even be made.
        """
        if stuck or (successor is not None and successor.unschedulable_message):
            self._renewals.over(hold)
        elif not self._renewals.may(hold):
            return False
        own = frozenset(latch.key for latch in self._ledger.latches_of(hold))
        if not self._ledger.unsettled_on(old.node) - own:
            return True
        again = now + self._ledger.policy.first_look
        self._ledger.agenda.wait(hold_subject(hold.parent), on=node_changed(old.node))
        self._ledger.agenda.later(hold_subject(hold.parent), again)
        return False

    def _publish(
        self, view: hold_lifecycle.HoldView, status: HoldStatus, now: datetime
    ) -> Iterator[Sequence]:
        hold = view.hold
        if hold.slot:
            if status != hold.status:
                self._ledger.holds[str(hold.parent)] = replace(hold, status=status)
                self._standing.slot_now(hold, status)
            return
        soon = (hold.created or now) + QUIET_START
        if not hold.status.phase and status.phase == "Pending" and now < soon and not view.trouble:
            self._ledger.agenda.later(hold_subject(hold.parent), soon)
            return
        owners = {pod.uid: pod for pod in view.claimants}
        yield from self._publisher.publish(hold, status, owners, now)
        if hold.member is not None:  # A write under way may have kept this one back.
            self._standing.slot_now(hold, self._ledger.holds[str(hold.parent)].status)

    def _shelve(self, hold: Hold, moving: bool, now: datetime) -> None:
        ledger = self._ledger
        ends = expiry(hold)
        if hold.terminal or hold.problems or (ends and ends <= now):
            ledger.unshelve(hold)
            return
        guardian = ledger.guardian_of(hold)
        promised = ledger.promised(hold)
        if promised and hold.allocate_once:
            ledger.unshelve(hold)
        elif guardian is None or not guardian.node or moving:
            ledger.shelve(hold, None)
        elif promised:
            ledger.shelve(hold, left_beside(ledger, hold))
        else:
            ledger.shelve(hold, guardian.requests)


def _is_pinned(hold: Hold, guardian: Pod | None, node: str) -> bool:
    """Whether a slot is bound to a node, or has a rest standing there."""
    rests = guardian is not None and is_short(hold, guardian)
    return keeps_rest(hold) and bool(node) and (hold.template.node == node or rests)


def _is_settled(hold: Hold, told: Guardians, now: datetime) -> bool:
    """Whether the guardian of a hold has its node, and none is to come instead of it."""
    standing = told.standing
    return standing is not None and bool(standing.node) and not _is_old(hold, standing, now)


def _is_old(hold: Hold, guardian: Pod | None, now: datetime) -> bool:
    return guardian is not None and bool(guardian.node) and outdated(hold, guardian, now)
