"""Keeping holds: their guardians, their status, and the shelves where owners find them.

Gathers what concerns one hold and asks `core.life` what it needs. Statuses are written by
`publishing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core import life
from headroom.core.claims import expiry
from headroom.core.holds import Hold, HoldStatus
from headroom.core.latches import claims_on
from headroom.core.objects import ANYWHERE, Pod
from headroom.core.plan import Sequence, hold_subject, pod_subject
from headroom.core.resources import EMPTY, Resources
from headroom.engine.fitting import unfit
from headroom.engine.ledger import Ledger
from headroom.engine.publishing import Publisher

QUIET_START = timedelta(seconds=2)  # Most holds are Available by then: one write instead of two.


class Keeper:
    """Looks after every hold, one at a time."""

    def __init__(self, ledger: Ledger, publisher: Publisher) -> None:
        self._ledger = ledger
        self._publisher = publisher
        self._trouble: dict[str, str] = {}

    def forget(self, uid: str) -> None:
        self._trouble.pop(uid, None)

    def refused(self, hold: Hold, why: str) -> None:
        """Take note of why a guardian could not be made."""
        self._trouble[hold.parent.uid] = why

    def made(self, hold: Hold) -> None:
        self._trouble.pop(hold.parent.uid, None)

    def look(self, hold: Hold, now: datetime) -> Iterator[Sequence]:
        """What this hold needs now."""
        ledger, parent = self._ledger, str(hold.parent)
        view = self._view(self._publisher.current(hold, now), now)
        decision = life.decide(view, now, ledger.policy)
        if view.grows:
            ledger.short.pop(parent, None)
        else:
            ledger.short[parent] = None
        yield from self._publish(view, decision.status, now)
        hold = ledger.holds[parent]
        if decision.wake_at is not None:
            ledger.agenda.later(hold_subject(hold.parent), decision.wake_at)
        sequence = decision.sequence
        if sequence is not None and ledger.agenda.resting(hold_subject(hold.parent), now):
            sequence = None  # It failed a moment ago; a timer brings us back.
        self._shelve(hold, sequence is not None, now)
        if sequence is not None:
            yield sequence

    def _view(self, hold: Hold, now: datetime) -> life.HoldView:
        ledger, parent = self._ledger, str(hold.parent)
        guardians = ledger.guardians_of(hold)
        if guardians:
            self.made(hold)  # Also one whose making was never answered.
        claimants = ledger.claimants_of(hold)
        seats = (pod.node for pod in claimants if pod.occupies_node)
        # After a restart in the middle of a handover only the owner knows where the room was.
        node = ledger.last_node.get(parent, "") or hold.status.node or next(seats, "")
        return life.HoldView(
            hold=hold,
            guardians=guardians,
            claimants=claimants,
            node=node,
            promised=ledger.promised(hold),
            latched=self._latched(hold, node, now),
            grows=self._could_hold_all(hold, node, guardians),
            trouble=self._trouble.get(hold.parent.uid, ""),
            not_before=ledger.agenda.not_before(hold_subject(hold.parent)),
        )

    def _latched(self, hold: Hold, node: str, now: datetime) -> Resources | None:
        """What a latch keeps for this hold on its node.

        Nothing of it while the latch is moving, or is too young to keep free room: the latch of a
        handover took the room over from a guardian, any other must have stood for a while.
        """
        ledger = self._ledger
        for latch in ledger.latches_of(hold):
            if latch.nominated not in ("", node) or node not in ledger.nodes:
                continue
            if not latch.nominated or ledger.agenda.busy(pod_subject(latch.key)):
                return EMPTY
            firm = ledger.firm_at(latch)
            if not claims_on(latch) and (firm is None or now < firm):
                if firm is not None:
                    ledger.agenda.later(hold_subject(hold.parent), firm)
                return EMPTY
            return latch.requests.minus(self._given(latch))
        return None

    def _given(self, latch: Pod) -> Resources:
        """What owners whom we bound ourselves have already got of a latch's room."""
        ledger, given = self._ledger, EMPTY
        for line in claims_on(latch):
            owner = ledger.pods.get(line.owner)
            ours = owner is not None and owner.scheduler in ledger.policy.scheduler_names
            if owner is not None and ours and owner.uid == line.uid and owner.occupies_node:
                given = given + owner.requests
        return given

    def _could_hold_all(self, hold: Hold, node: str, guardians: tuple[Pod, ...]) -> bool:
        """Whether what owners do not use of a hold would fit on its node."""
        if hold.terminal:
            return True
        users = [pod for pod in self._ledger.claimants_of(hold) if pod.occupies_node]
        if not users and not guardians and not self._ledger.latches_of(hold):
            return True
        size = hold.template.pod.requests
        for pod in users:
            size = size.minus(pod.requests)
        if any(size.fits_in(pod.requests) for pod in guardians):
            return True
        wanted = replace(hold.template.pod, requests=size, placement=ANYWHERE)
        ours = (*guardians, *self._ledger.latches_of(hold))
        without = frozenset(pod.key for pod in ours)
        return unfit(self._ledger, wanted, node, without) is None

    def _publish(
        self, view: life.HoldView, status: HoldStatus, now: datetime
    ) -> Iterator[Sequence]:
        hold = view.hold
        soon = (hold.created or now) + QUIET_START
        if not hold.status.phase and status.phase == "Pending" and now < soon and not view.trouble:
            self._ledger.agenda.later(hold_subject(hold.parent), soon)
            return
        owners = {pod.uid: pod for pod in view.claimants}
        yield from self._publisher.publish(hold, status, owners, now)

    def _shelve(self, hold: Hold, moving: bool, now: datetime) -> None:
        ledger = self._ledger
        ends = expiry(hold)
        if hold.terminal or hold.problems or hold.unschedulable or (ends and ends <= now):
            ledger.unshelve(hold)
            return
        guardian = ledger.guardian_of(hold)
        free = guardian is not None and bool(guardian.node) and not moving
        promised = ledger.promised(hold)
        if promised and hold.allocate_once:
            ledger.unshelve(hold)
        else:
            ledger.shelve(hold, free and not promised)
