"""What keeps a hold's room on its node beside or instead of a guardian: a fence, or latches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import CreateGuardian
from headroom.core.allocation import keeps_rest, to_keep
from headroom.core.fences import returns
from headroom.core.holds import Hold
from headroom.core.latches import claims_on, users_on
from headroom.core.objects import ANYWHERE, Pod
from headroom.core.plan import Sequence
from headroom.core.quotas.charges import is_charge
from headroom.core.resources import EMPTY, Resources
from headroom.core.subjects import (
    fence_subject,
    hold_subject,
    node_changed,
    node_subject,
    pod_subject,
)
from headroom.engine.conflicts.standingclaims import (
    claims_on_node,
    claims_standing_on,
    goes_without_place,
    lacking,
    users_of,
)
from headroom.engine.fences.returned_room import owed_on
from headroom.engine.ledger import Ledger
from headroom.engine.node_fit import unfit
from headroom.scheduling.reasons import TOO_MANY_PODS


class KeptRoom:
    """Answers for one hold at a time; whatever passes by itself is looked at again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._coming = ledger.contention.put_back

    def put_back(self, sequence: Sequence) -> None:
        """Count a guardian that is about to be bound, before others see it on its node."""
        for create in _bound_in(sequence):
            self._coming.begin(create.node, str(create.hold.parent), create.requests)

    def ended(self, sequence: Sequence) -> None:
        """It stands, or does not come."""
        for create in _bound_in(sequence):
            self._coming.end(create.node, str(create.hold.parent))

    def _coming_besides(self, hold: Hold, node: str) -> tuple[Resources, int]:
        """What other holds are about to take on a node beyond what their guardians have there.

        Room, and places for pods.
        """
        ledger, total, places = self._ledger, EMPTY, 0
        for parent, size in self._coming.on(node).items():
            other = ledger.holds.get(parent)
            if other is not None and other.parent != hold.parent:
                guardian = ledger.guardian_of(other)
                there = guardian is not None and guardian.node == node
                total = total + (size.minus(guardian.requests) if guardian and there else size)
                places += not there
        return total, places

    def _places_owed(self, node: str) -> int:
        """How many places on a node owners have just left, for the guardians of their holds.

        Who only wants to keep the rest beside an owner comes after these: that owner has its place.
        """
        ledger = self._ledger
        found = (ledger.holds.get(parent) for parent in ledger.contention.returning.at(node))
        return sum(
            hold is not None
            and returns(hold)
            and ledger.last_node.get(str(hold.parent), "") == node
            and not users_of(ledger, hold)
            and not any(pod.node for pod in ledger.guardians_of(hold))
            and str(hold.parent) not in self._coming.on(node)
            for hold in found
        )

    def fenced(self, hold: Hold, node: str, now: datetime) -> datetime | None:
        """From when on a fence keeps strangers off a hold's node; None without a fence.

        One that is being taken down keeps nobody off: it may be gone before what relies on it.
        """
        ledger = self._ledger
        if hold.allocate_once or hold.pre_allocation or ledger.agenda.busy(fence_subject(node)):
            return None
        for fence in (ledger.pods[key] for key in ledger.contention.fences.on(node)):
            since = ledger.contention.fences.seen_at(fence)
            if since is not None and fence.occupies_node and fence.deleted is None:
                firm = since + ledger.policy.free_room_wait
                if now < firm:
                    ledger.agenda.later(hold_subject(hold.parent), firm)
                return firm
        return None

    def is_passing(self, hold: Hold, node: str, now: datetime) -> bool:
        """Whether what counts twice on a hold's node will soon count once."""
        own = frozenset(latch.key for latch in self._ledger.latches_of(hold))
        busy = self._ledger.agenda.busy(node_subject(node))
        if not busy and not self._ledger.unsettled_on(node) - own:
            return False
        again = now + self._ledger.policy.first_look
        self._ledger.agenda.wait(hold_subject(hold.parent), on=node_changed(node))
        self._ledger.agenda.later(hold_subject(hold.parent), again)
        return True

    def latched(
        self, hold: Hold, node: str, fenced: datetime | None, now: datetime
    ) -> Resources | None:
        """What a latch keeps for this hold on its node; behind a fence it needs none.

        Nothing of it while the latch is moving, or is too young to keep free room: the latch of a
        handover took the room over from a guardian, any other must have stood for a while.
        """
        ledger = self._ledger
        if fenced is not None and now >= fenced:
            return _all_of(hold, ledger.guardians_of(hold))
        latches = self._latches_on(hold, node)
        return self._kept_by(hold, latches, now) if latches else None

    def taken_over(self, hold: Hold, node: str, now: datetime) -> Resources:
        """What latches of handovers keep: a guardian had it, so there is room for it.

        The claim of a slot in use is as large as the slot, whatever room its node has. A guardian
        needs a place for a pod as well, and its owner may have got the one that it had.
        """
        latches = [latch for latch in self._latches_on(hold, node) if claims_on(latch)]
        if not latches or self._ledger.state.free_places(node) < 1:
            return EMPTY
        return self._kept_by(hold, latches, now)

    def _latches_on(self, hold: Hold, node: str) -> list[Pod]:
        if node not in self._ledger.nodes:
            return []
        latches = self._ledger.latches_of(hold)
        return [latch for latch in latches if latch.nominated in ("", node)]

    def _kept_by(self, hold: Hold, latches: list[Pod], now: datetime) -> Resources:
        firm = [latch for latch in latches if self._is_firm(hold, latch, now)]
        kept = sum((latch.requests for latch in firm), EMPTY)
        return kept.minus(self._given(firm))

    def _is_firm(self, hold: Hold, latch: Pod, now: datetime) -> bool:
        ledger = self._ledger
        if not latch.nominated or ledger.agenda.busy(pod_subject(latch.key)):
            return False
        firm = ledger.firm_at(latch)
        if claims_on(latch) or (firm is not None and now >= firm):
            return True
        if firm is not None:
            ledger.agenda.later(hold_subject(hold.parent), firm)
        return False

    def _given(self, latches: list[Pod]) -> Resources:
        """What owners whom we bound ourselves have already got of the room of latches."""
        ledger, given = self._ledger, EMPTY
        for line in dict.fromkeys(line for latch in latches for line in claims_on(latch)):
            owner = ledger.pods.get(line.owner)
            ours = owner is not None and ledger.bound_by_us(owner)
            if owner is not None and ours and owner.uid == line.uid and owner.occupies_node:
                given = given + owner.requests
        return given

    def could_hold_all(
        self, hold: Hold, node: str, guardians: tuple[Pod, ...], fenced: bool, now: datetime
    ) -> bool:
        """Whether what owners do not use of a hold would fit on its node."""
        if hold.terminal:
            return True
        users = users_of(self._ledger, hold)
        if not users and not guardians and not fenced and not self._ledger.latches_of(hold):
            return True
        size = to_keep(hold, users)
        there = self._fits(hold, node, guardians, size, now)
        return there or bool(users and size and self._took_over(hold, node, size, now))

    def _took_over(self, hold: Hold, node: str, size: Resources, now: datetime) -> bool:
        """Whether the latch of a handover has the room, though other handovers count twice there.

        Only as far as no pod is bound there that has it by now.
        """
        if not size.fits_in(self.taken_over(hold, node, now)):
            return False
        nominated = (pod.key for pod in self._ledger.state.nominated_on(node))
        wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
        return unfit(self._ledger, wanted, node, frozenset(nominated)) is None

    def is_claimed(self, hold: Hold) -> bool:
        """Whether a latch stands, or is being made, that keeps a slot's claim on its room."""
        return any(not claims_on(latch) for latch in self._ledger.latches_of(hold))

    def is_crowded(self, hold: Hold, node: str, guardians: tuple[Pod, ...]) -> bool:
        """Whether owners of a reusable hold left no place for who would keep the rest of it.

        It is so until that one has its place: a charge or a latch that was made for it says so.
        """
        ledger = self._ledger
        if not returns(hold) or not node or any(pod.node for pod in guardians):
            return False
        if not hold.pre_allocation and any(is_charge(pod) for pod in guardians):
            return True
        if any(users_on(latch) for latch in ledger.latches_of(hold)):
            return True
        users = users_of(ledger, hold)
        rest = to_keep(hold, users)
        if not users or not rest or not goes_without_place(ledger, hold, node):
            return False
        wanted = replace(hold.template.pod, requests=rest, placement=ANYWHERE)
        ours = frozenset(latch.key for latch in ledger.latches_of(hold))
        without = ours | claims_standing_on(ledger, node)
        return unfit(ledger, wanted, node, without) == TOO_MANY_PODS

    def whole(self, hold: Hold, node: str, guardians: tuple[Pod, ...], now: datetime) -> bool:
        """Whether all of a slot would fit on its node beside the owners that use it there."""
        return self._fits(hold, node, guardians, hold.template.pod.requests, now)

    def _fits(
        self,
        hold: Hold,
        node: str,
        guardians: tuple[Pod, ...],
        size: Resources,
        now: datetime,
    ) -> bool:
        if any(size.fits_in(pod.requests) for pod in guardians if pod.node):
            return True
        besides, places = self._coming_besides(hold, node)
        stands = any(pod.node == node for pod in guardians)
        if not stands and users_of(self._ledger, hold):
            places += self._places_owed(node)
        if places and self._ledger.state.free_places(node) + stands <= places:
            return False
        size = size + besides
        without = {pod.key for pod in (*guardians, *self._ledger.latches_of(hold))}
        slot = keeps_rest(hold)
        for latch, other in claims_on_node(self._ledger, node):
            if other.parent != hold.parent:  # Its owners are counted by themselves.
                without.add(latch.key)
                if not (slot and keeps_rest(other)):
                    size = size + lacking(self._ledger, other)
        if slot:
            size = size + owed_on(self._ledger, node, now, hold)
        wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
        return unfit(self._ledger, wanted, node, frozenset(without)) is None


def _bound_in(sequence: Sequence) -> Iterator[CreateGuardian]:
    for action in (action for step in sequence.steps for action in step):
        if isinstance(action, CreateGuardian) and action.bound:
            yield action


def _all_of(hold: Hold, guardians: tuple[Pod, ...]) -> Resources:
    """As much as a hold may ever keep on its node."""
    room = hold.template.pod.requests
    for guardian in guardians:
        room = room.largest(guardian.requests)
    return room
