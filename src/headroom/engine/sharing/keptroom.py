"""What keeps a hold's room on its node beside or instead of a guardian: a fence, or latches."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.holds import Hold
from headroom.core.latches import claims_on, kept_for
from headroom.core.objects import ANYWHERE, Key, Pod
from headroom.core.plan import hold_subject, node_subject, pod_subject
from headroom.core.policies import keeps_rest, to_keep
from headroom.core.resources import EMPTY, Resources
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger


def claims_standing_on(ledger: Ledger, node: str) -> frozenset[Key]:
    """Latches on a node by which slots keep their claim on what owners use there."""
    return frozenset(
        pod.key
        for pod in ledger.state.nominated_on(node)
        if pod.key in ledger.latches and _is_claim(ledger, pod)
    )


def _is_claim(ledger: Ledger, latch: Pod) -> bool:
    hold = ledger.holds.get(kept_for(latch))
    return hold is not None and keeps_rest(hold) and not claims_on(latch)


class KeptRoom:
    """Answers for one hold at a time; whatever passes by itself is looked at again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def fenced(self, hold: Hold, node: str, now: datetime) -> datetime | None:
        """From when on a fence keeps strangers off a hold's node; None without a fence."""
        ledger = self._ledger
        if hold.allocate_once or hold.pre_allocation:
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
        latches = [
            latch
            for latch in ledger.latches_of(hold)
            if latch.nominated in ("", node) and node in ledger.nodes
        ]
        firm = [latch for latch in latches if self._is_firm(hold, latch, now)]
        kept = sum((latch.requests for latch in firm), EMPTY)
        return kept.minus(self._given(firm)) if latches else None

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
        self, hold: Hold, node: str, guardians: tuple[Pod, ...], fenced: bool
    ) -> bool:
        """Whether what owners do not use of a hold would fit on its node."""
        if hold.terminal:
            return True
        users = [pod for pod in self._ledger.claimants_of(hold) if pod.occupies_node]
        users += self._ledger.lodgers_of(hold)
        if not users and not guardians and not fenced and not self._ledger.latches_of(hold):
            return True
        return self._fits(hold, node, guardians, to_keep(hold, users))

    def is_claimed(self, hold: Hold) -> bool:
        """Whether a latch stands, or is being made, that keeps a slot's claim on its room."""
        return any(not claims_on(latch) for latch in self._ledger.latches_of(hold))

    def whole(self, hold: Hold, node: str, guardians: tuple[Pod, ...]) -> bool:
        """Whether all of a slot would fit on its node beside the owners that use it there."""
        return self._fits(hold, node, guardians, hold.template.pod.requests)

    def _fits(self, hold: Hold, node: str, guardians: tuple[Pod, ...], size: Resources) -> bool:
        if any(size.fits_in(pod.requests) for pod in guardians if pod.node):
            return True
        wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
        ours = (*guardians, *self._ledger.latches_of(hold))
        without = frozenset(pod.key for pod in ours)
        if keeps_rest(hold):  # Whoever runs in another slot is counted by itself.
            without |= claims_standing_on(self._ledger, node)
        return unfit(self._ledger, wanted, node, without) is None


def _all_of(hold: Hold, guardians: tuple[Pod, ...]) -> Resources:
    """As much as a hold may ever keep on its node."""
    room = hold.template.pod.requests
    for guardian in guardians:
        room = room.largest(guardian.requests)
    return room
