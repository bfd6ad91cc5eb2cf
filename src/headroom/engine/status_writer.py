"""The statuses of holds: each is written until the object shows it; its events are emitted once.

A hold has one status write in progress at a time; otherwise an older one could arrive last and
stay. Until the watch shows our write, we trust it. A write that failed, or that never shows, is
repeated. `hold_controller` says what a status should be.

    shown ──differs──▶ in progress ──done──▶ trusted ──seen──▶ shown
                          └──failed──▶ shown, after a pause   └──not seen for a while──▶ shown
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.actions import WriteHoldStatus
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Parent, Pod
from headroom.core.plan import Sequence, Work, telling
from headroom.core.statuses import tellings
from headroom.core.subjects import Subject, Topic, hold_subject
from headroom.engine.doors.book import DoorBook
from headroom.engine.ledger import Ledger
from headroom.engine.rate_limits.statuses import StatusPace

TRUST_OWN_WRITE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class _Written:
    """A status of ours; `done` is when the API server took it, None while it is on its way."""

    status: HoldStatus
    done: datetime | None = None


def status_subject(parent: Parent) -> Subject:
    return hold_subject(parent, Topic.STATUS)


class HoldStatusWriter:
    """Remembers, by uid of the hold, what its object shows and what we wrote."""

    def __init__(self, ledger: Ledger, doors: DoorBook, pace: StatusPace) -> None:
        self._ledger = ledger
        self._doors = doors
        self.pace = pace
        self._shown: dict[str, HoldStatus] = {}
        self._written: dict[str, _Written] = {}
        self._told: dict[str, HoldStatus] = {}

    def see(self, hold: Hold) -> Hold:
        """The hold with the status that we wrote, while an older one may still be seen."""
        uid = hold.parent.uid
        self._shown[uid] = hold.status
        mine = self._written.get(uid)
        if mine is None:
            return hold
        if mine.done is not None and mine.status == hold.status:
            del self._written[uid]
        return replace(hold, status=mine.status)

    def forget(self, parent: Parent) -> None:
        """A hold is gone."""
        for noted in (self._shown, self._written, self._told):
            noted.pop(parent.uid, None)
        self.pace.forget(status_subject(parent))

    def current(self, hold: Hold, now: datetime) -> Hold:
        """The hold as it is known; what we wrote and never saw is no longer believed."""
        mine = self._written.get(hold.parent.uid)
        if mine is None or mine.done is None or now < mine.done + TRUST_OWN_WRITE:
            return hold
        return self._as_shown(hold)

    def publish(
        self, hold: Hold, status: HoldStatus, owners: Mapping[str, Pod], now: datetime
    ) -> Iterator[Sequence]:
        """Write a status and tell its story.

        Not while a write is under way or has just failed, and not before its turn.
        """
        subject, uid = status_subject(hold.parent), hold.parent.uid
        agenda = self._ledger.agenda
        if status.conditions:
            conditions = self._doors.shown(hold, status.conditions, now)
            status = replace(status, conditions=conditions)
        if status == hold.status:
            self.pace.withdraw(subject)
            return
        if agenda.busy(subject) or agenda.resting(subject, now):
            return
        news = _is_news(hold.status, status)
        if not self.pace.may_write(subject, news, now):
            self.pace.wait(subject, now)
            return
        self.pace.wrote(subject, news, now)
        before = replace(hold, status=self._told.get(uid, hold.status))
        self._written[uid] = _Written(status)
        self._told[uid] = status
        self._ledger.holds[str(hold.parent)] = replace(hold, status=status)
        write = WriteHoldStatus(hold.parent, "", status)
        yield Sequence(Work.STATUS, (subject,), ((write,),))
        for tell in tellings(before, status, owners, now):
            yield telling(tell)

    def done(self, parent: Parent, now: datetime) -> None:
        """The API server took a status; the watch should show it soon."""
        self._told.pop(parent.uid, None)
        mine = self._written.get(parent.uid)
        if mine is None:
            return
        if self._shown.get(parent.uid) == mine.status:
            del self._written[parent.uid]
            return
        self._written[parent.uid] = replace(mine, done=now)
        self._ledger.agenda.later(status_subject(parent), now + TRUST_OWN_WRITE)

    def failed(self, parent: Parent, now: datetime) -> None:
        """A status did not get through: what the object shows counts again."""
        hold = self._ledger.holds.get(str(parent))
        if hold is not None and hold.parent.uid == parent.uid:
            self._as_shown(hold)
            self._ledger.agenda.failed(status_subject(parent), now)

    def _as_shown(self, hold: Hold) -> Hold:
        uid = hold.parent.uid
        self._written.pop(uid, None)
        hold = replace(hold, status=self._shown.get(uid, hold.status))
        self._ledger.holds[str(hold.parent)] = hold
        return hold


def _is_news(before: HoldStatus, status: HoldStatus) -> bool:
    """Whether room was got, lost or given up: a first word that there is none is no news."""
    return before.phase != status.phase and (bool(before.phase) or status.phase == "Available")
