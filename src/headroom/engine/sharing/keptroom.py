"""What keeps a hold's room on its node beside or instead of a guardian: a fence, or latches."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headroom.core.holds import Hold
from headroom.core.latches import claims_on
from headroom.core.objects import ANYWHERE, Pod
from headroom.core.plan import hold_subject, pod_subject
from headroom.core.policies import to_keep
from headroom.core.resources import EMPTY, Resources
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger


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
        if not self._ledger.unsettled_on(node) - own:
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
        for latch in latches:
            if not latch.nominated or ledger.agenda.busy(pod_subject(latch.key)):
                return EMPTY
            firm = ledger.firm_at(latch)
            if not claims_on(latch) and (firm is None or now < firm):
                if firm is not None:
                    ledger.agenda.later(hold_subject(hold.parent), firm)
                return EMPTY
        kept = sum((latch.requests for latch in latches), EMPTY)
        return kept.minus(self._given(latches)) if latches else None

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
        if not users and not guardians and not fenced and not self._ledger.latches_of(hold):
            return True
        size = to_keep(hold, users)
        if any(size.fits_in(pod.requests) for pod in guardians if not pod.gates):
            return True
        wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
        ours = (*guardians, *self._ledger.latches_of(hold))
        without = frozenset(pod.key for pod in ours)
        return unfit(self._ledger, wanted, node, without) is None


def _all_of(hold: Hold, guardians: tuple[Pod, ...]) -> Resources:
    """As much as a hold may ever keep on its node."""
    room = hold.template.pod.requests
    for guardian in guardians:
        room = room.largest(guardian.requests)
    return room
