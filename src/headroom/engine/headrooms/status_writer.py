"""The statuses of headrooms: written when they differ, and at a limited rate.

Thousands of slots may change; the status of their headroom follows at most once a second. A write
that failed, or that the watch does not show for a while, is repeated after a pause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from headroom.core.actions import WriteHeadroomStatus
from headroom.core.headrooms.events import tellings
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.headrooms.readiness import SlotTally, status_of
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.objects import Parent
from headroom.core.plan import Sequence, Work, telling
from headroom.core.subjects import Subject, Topic, headroom_subject
from headroom.engine.doors.book import DoorBook
from headroom.engine.ledger import Ledger
from headroom.engine.rate_limits.statuses import StatusPace

PACE = timedelta(seconds=1)
TRUST_OWN_WRITE = timedelta(seconds=5)


def announcement(parent: Parent) -> Subject:
    """The subject of a headroom's status write: one at a time."""
    return headroom_subject(parent, Topic.ANNOUNCE)


class HeadroomStatusWriter:
    """Remembers, by headroom, what was last written and when the next write may come."""

    def __init__(self, ledger: Ledger, doors: DoorBook, pace: StatusPace) -> None:
        self._ledger = ledger
        self._doors = doors
        self._pace = pace
        self._written: dict[str, tuple[HeadroomStatus, datetime]] = {}
        self._not_before: dict[str, datetime] = {}

    def forget(self, parent: Parent) -> None:
        self._written.pop(parent.whole, None)
        self._not_before.pop(parent.whole, None)
        self._pace.forget(announcement(parent))
        self._ledger.agenda.forget(announcement(parent))

    def publish(
        self, headroom: Headroom, wished: WantedSlots, tally: SlotTally, now: datetime
    ) -> Iterator[Sequence]:
        """Write the status that wish and tally call for, and tell what has changed."""
        whole, agenda = headroom.parent.whole, self._ledger.agenda
        if headroom.finds_owners:  # They may be others than at the last time.
            self._doors.want(self._ledger.slots.headrooms[whole])
        subject = announcement(headroom.parent)
        shown = self._as_written(headroom, now)
        status = status_of(shown, wished, tally, now)
        status = self._ledger.slots.promises.shown(shown, status, (wished, tally), now)
        conditions = self._doors.shown(shown, status.conditions, now)
        status = replace(status, conditions=conditions)
        if status == shown.status:
            self._pace.withdraw(subject)
            return
        if agenda.busy(subject) or agenda.resting(subject, now):
            return
        soonest = self._not_before.setdefault(whole, self._first(headroom, tally, now))
        if now < soonest:
            agenda.later(headroom_subject(headroom.parent), soonest)
            return
        news = _is_ready(status) != _is_ready(shown.status)
        if not self._pace.may_write(subject, news, now):
            self._pace.wait(subject, now)
            return
        self._pace.wrote(subject, news, now)
        self._not_before[whole] = now + PACE
        self._written[whole] = (status, now)
        write = WriteHeadroomStatus(headroom.parent, status)
        yield Sequence(Work.STATUS, (subject,), ((write,),))
        for tell in tellings(shown, status, now):
            yield telling(tell)

    def failed(self, parent: Parent, now: datetime) -> None:
        """A status did not get through: what the object shows counts again."""
        self._written.pop(parent.whole, None)
        if parent.whole in self._ledger.slots.headrooms:
            self._ledger.agenda.failed(announcement(parent), now)

    def _as_written(self, headroom: Headroom, now: datetime) -> Headroom:
        """The headroom with the status that we wrote, while an older one may still be seen."""
        mine = self._written.get(headroom.parent.whole)
        if mine is None or mine[0] == headroom.status or now >= mine[1] + TRUST_OWN_WRITE:
            return headroom
        self._ledger.agenda.later(headroom_subject(headroom.parent), mine[1] + TRUST_OWN_WRITE)
        return replace(headroom, status=mine[0])

    def _first(self, headroom: Headroom, tally: SlotTally, now: datetime) -> datetime:
        """A new headroom is mostly held a moment later: one write instead of two."""
        waits = tally.pending and not headroom.status.observed_generation
        return now + PACE if waits else now


def _is_ready(status: HeadroomStatus) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in status.conditions)
