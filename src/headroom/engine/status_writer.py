"""The statuses of holds, headrooms and quotas: each is written until its object shows it.

An object has one status write in progress at a time; otherwise an older one could arrive last and
stay. Until the watch shows our write, we trust it. A write that failed, or that never shows, is
repeated; its events are emitted once.

    shown ──differs──▶ in progress ──done──▶ trusted ──seen──▶ shown
                          ├──failed──▶ shown, after a pause   └──not seen for a while──▶ shown
                          └──refused for good──▶ trusted

A status with news about room (got, lost, released) is written at once, because people wait for it.
All others (still waiting, refused, another message) share a rate of their namespace, so that a
tenant with thousands of refused holds takes little of the API server's time from others. An object
whose status changes all the time also has its own rate. Nothing is lost: an object that has to wait
is decided again when its turn comes, and the status that is right by then is written.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from headroom.core import actions
from headroom.core.conditions import ready_in
from headroom.core.fast_dataclass import dataclass, replace
from headroom.core.headrooms.events import status_events as headroom_events
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.holds import Hold, HoldStatus
from headroom.core.objects import Parent, Pod
from headroom.core.plan import Sequence, Work, event_sequence
from headroom.core.quotas.quota import Quota
from headroom.core.statuses import ENDED
from headroom.core.statuses import status_events as hold_events
from headroom.core.subjects import Subject, Topic, headroom_subject, hold_subject
from headroom.core.waits.rates import Rate
from headroom.engine.doors import witnesses
from headroom.engine.ledger import Ledger

TRUST_OWN_WRITE = timedelta(seconds=5)
COALESCED = timedelta(seconds=1)  # Thousands of slots may change; one status tells of all.
AT_ONCE = timedelta()
REFUSED_FOR_GOOD = (actions.Denied, actions.Gone, actions.Invalid)
MOST_REFUSALS = 10  # in a row; with the pauses between them this takes more than a minute
OBJECT_RATE = Rate(10, timedelta(seconds=1))
NAMESPACE_RATE = Rate(100, timedelta(milliseconds=100))
SPARE_NAMESPACES = 1000

WriteStatus = actions.WriteHoldStatus | actions.WriteHeadroomStatus | actions.WriteQuotaStatus
Shown = TypeVar("Shown", Headroom, Quota)


def status_subject(parent: Parent) -> Subject:
    """The subject of a hold's status write: one at a time."""
    return hold_subject(parent, Topic.STATUS)


def headroom_status_subject(parent: Parent) -> Subject:
    """The subject of a headroom's status write: one at a time."""
    return headroom_subject(parent, Topic.ANNOUNCE)


def quota_subject(parent: Parent) -> Subject:
    """The subject of a quota; its status is almost all that is written of it."""
    return Subject(Topic.QUOTA, parent.name)


def subject_of(write: WriteStatus) -> Subject:
    """The subject of a status write, by the kind of its object."""
    match write:
        case actions.WriteHoldStatus(parent=parent):
            return status_subject(parent)
        case actions.WriteHeadroomStatus(parent=parent):
            return headroom_status_subject(parent)
        case actions.WriteQuotaStatus(parent=parent):
            return quota_subject(parent)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The status that an object should show, and the one that it is assumed to show.

    `tells` returns the events for the change since the last events. `news`: people wait for
    it. `coalesced` is how long the next write waits for others to join it. After a `final` one
    nothing is decided."""

    write: WriteStatus
    before: Any
    tells: Callable[[Any], Iterable[actions.Tell]]
    news: bool
    coalesced: timedelta = AT_ONCE
    final: bool = False


@dataclass(frozen=True, slots=True)
class _Record:
    """What is known of one object's status; `uid` tells it from a later one of its name.

    `done` is when the API server took what was `written`, None while it is on its way. `told` is
    what the last events were about, until that is written; `refused` is how often it was not taken.
    `unsettled`: it is to be written, is being written, or was just written.
    """

    uid: str
    shown: Any = None
    written: Any = None
    done: datetime | None = None
    told: Any = None
    refused: int = 0
    not_before: datetime | None = None
    rate: Rate = OBJECT_RATE
    unsettled: bool = False

    def trusted(self, now: datetime) -> bool:
        """Whether we wrote a status, and the watch may not have shown it yet."""
        recent = self.done is None or now < self.done + TRUST_OWN_WRITE
        return self.written is not None and recent


@dataclass(slots=True)
class _Namespace:
    rate: Rate = NAMESPACE_RATE
    waiting: OrderedDict[Subject, None] = field(default_factory=OrderedDict)
    called: dict[Subject, None] = field(default_factory=dict)  # their turn has come

    def idle(self, now: datetime) -> bool:
        return not self.waiting and not self.called and self.rate.idle(now)


class StatusWriter:
    """Stores what each object shows and what we wrote, by the subject of the write."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._agenda = ledger.agenda
        self._records: dict[Subject, _Record] = {}
        self._namespaces: dict[str, _Namespace] = {}
        self._sweep_at = SPARE_NAMESPACES

    def see(self, hold: Hold) -> Hold:
        """The hold with the status that we wrote, while an older one may still arrive."""
        known = self.note(status_subject(hold.parent), hold.parent.uid, hold.status)
        return hold if known.written is None else replace(hold, status=known.written)

    def note(self, subject: Subject, uid: str, shown: Any) -> _Record:
        """The watch shows a status; if we wrote it, our write is now confirmed."""
        known = self._record(subject, uid)
        seen = known.done is not None and known.written == shown
        known = replace(known, shown=shown, written=None if seen else known.written)
        self._records[subject] = known
        return known

    def give_up_unseen(self, hold: Hold, now: datetime) -> Hold:
        """A status that we wrote and that never showed is no longer believed; the hold without."""
        known = self._record(status_subject(hold.parent), hold.parent.uid)
        if known.written is None or known.trusted(now):
            return hold
        return self._as_shown(hold)

    def as_written(self, shown: Shown, subject: Subject, now: datetime) -> Shown:
        """An object with the status that we wrote, while an older one may still be seen."""
        known = self._record(subject, shown.parent.uid)
        return replace(shown, status=known.written) if known.trusted(now) else shown

    def publish(
        self, hold: Hold, status: HoldStatus, owners: Mapping[str, Pod], now: datetime
    ) -> Iterator[Sequence]:
        """Write the status of a hold, with its events; it counts from now on."""
        if status.conditions:
            conditions = witnesses.with_door_condition(self._ledger, hold, status.conditions, now)
            status = replace(status, conditions=conditions)

        def tells(told: HoldStatus) -> Iterable[actions.Tell]:
            return hold_events(replace(hold, status=told), status, owners, now)

        write, news = actions.WriteHoldStatus(hold.parent, status), _is_news(hold.status, status)
        final = status.phase in ENDED and hold.tenure is None and not hold.finalizer
        change = StatusChange(write, hold.status, tells, news, final=final)
        sequences = tuple(self.write(change, now))
        if sequences:
            self._ledger.holds[hold.parent.identity] = replace(hold, status=status)
        yield from sequences

    def publish_headroom(
        self, headroom: Headroom, status: HeadroomStatus, now: datetime
    ) -> Iterator[Sequence]:
        """Write the status of a headroom, with its events."""
        if headroom.finds_owners:  # They may be others than at the last time.
            witnesses.see_wish(self._ledger, self._ledger.slots.headrooms[headroom.parent.whole])
        conditions = witnesses.with_door_condition(self._ledger, headroom, status.conditions, now)
        status = replace(status, conditions=conditions)

        def tells(told: HeadroomStatus) -> Iterable[actions.Tell]:
            return headroom_events(replace(headroom, status=told), status, now)

        before, write = headroom.status, actions.WriteHeadroomStatus(headroom.parent, status)
        news = _is_ready(status) != _is_ready(before)
        yield from self.write(StatusChange(write, before, tells, news, COALESCED), now)

    def publish_quota(self, quota: Quota, status: Any, now: datetime) -> Iterator[Sequence]:
        """Write the status of a quota, with its events."""

        def tells(told: Any) -> Iterable[actions.Tell]:
            return replace(quota, status=told).status_events(status, now)

        write = actions.WriteQuotaStatus(quota.parent, status)
        yield from self.write(StatusChange(write, quota.status, tells, True, COALESCED), now)

    def write(self, change: StatusChange, now: datetime) -> Iterator[Sequence]:
        """Write a status that differs, unless it has to wait: then its object is decided later."""
        subject, status = subject_of(change.write), change.write.status
        known = self._record(subject, change.write.parent.uid)
        if known.done is not None and known.trusted(now):  # An earlier timer brought us here.
            self._agenda.later(_decided_as(subject), known.done + TRUST_OWN_WRITE)
        if status == change.before:
            if known.unsettled:
                self._records[subject] = replace(known, unsettled=False)
            self._withdraw(subject)
            return
        known = self._records[subject] = replace(known, unsettled=True)
        if self._agenda.busy(subject) or self._agenda.in_backoff(subject, now):
            return  # The agenda brings it back.
        if not self._take_turn(subject, known, change.news, now):
            return
        self._records[subject] = replace(
            known,
            written=status,
            done=None,
            told=status,
            not_before=now + change.coalesced,
            rate=known.rate.taken(now),
            unsettled=not change.final,
        )
        yield Sequence(Work.STATUS, (subject,), ((change.write,),))
        for tell in change.tells(change.before if known.told is None else known.told):
            yield event_sequence(tell)

    def is_due(self, subject: Subject, now: datetime) -> bool:
        """Whether a hold must be decided because of its status.

        It is once after each write that is not final, and as long as its status waits, was refused,
        or was not shown in time.
        """
        known = self._records.get(subject, _Record(""))
        lost = known.written is not None and not known.trusted(now)
        return lost or known.refused > 0 or known.unsettled

    def delay(self, parent: Parent, until: datetime) -> None:
        """Write the first status of a headroom not before this moment."""
        subject = headroom_status_subject(parent)
        known = self._record(subject, parent.uid)
        if known.not_before is None:
            self._records[subject] = replace(known, not_before=until)

    def done(self, write: WriteStatus, now: datetime) -> None:
        """The API server took a status; the watch should show it soon."""
        subject = subject_of(write)
        known = self._records.get(subject)
        if known is None or known.uid != write.parent.uid:
            return
        if known.written is None or known.shown == known.written:
            self._records[subject] = replace(known, told=None, written=None, refused=0)
            return
        self._records[subject] = replace(known, told=None, done=now, refused=0)
        self._agenda.later(_decided_as(subject), now + TRUST_OWN_WRITE)

    def failed(self, write: WriteStatus, outcome: actions.Outcome, now: datetime) -> None:
        """A status write failed: after a pause, the shown status counts again.

        A status that is refused for good, or too often, counts for a while as if it had been
        written. A latch stays until its hold has said that it is not held, and must not wait for a
        status that the API server never takes.
        """
        subject = subject_of(write)
        known = self._records.get(subject)
        if known is None or known.uid != write.parent.uid:
            return
        known = replace(known, refused=known.refused + 1, unsettled=True)
        if isinstance(outcome, REFUSED_FOR_GOOD) or known.refused >= MOST_REFUSALS:
            self._records[subject] = replace(known, done=now)
            self._agenda.failed(subject, now)
            self._agenda.later(_decided_as(subject), now + TRUST_OWN_WRITE)
            return
        self._records[subject] = replace(known, written=None)
        hold = self._ledger.holds.get(write.parent.identity)
        if isinstance(write, actions.WriteHoldStatus) and hold is not None:
            self._as_shown(hold)
        self._agenda.failed(subject, now)

    def forget(self, subject: Subject) -> None:
        """The object is gone."""
        self._records.pop(subject, None)
        self._withdraw(subject)
        self._agenda.forget(subject)

    def look(self, name: str, now: datetime) -> None:
        """Decide the objects of a namespace again whose turn has come."""
        namespace = self._namespaces.get(name)
        if namespace is None:
            return
        while namespace.waiting and namespace.rate.next(now) <= now:
            subject, _ = namespace.waiting.popitem(last=False)
            namespace.rate = namespace.rate.taken(now)
            namespace.called[subject] = None
            self._agenda.touch(subject)
        if namespace.waiting:
            self._agenda.later(Subject(Topic.STATUSES, name), namespace.rate.next(now))

    def size(self) -> int:
        """How many entries are stored."""
        each = self._namespaces.values()
        waiting = sum(len(space.waiting) + len(space.called) for space in each)
        return len(self._records) + len(self._namespaces) + waiting

    def _take_turn(self, subject: Subject, known: _Record, news: bool, now: datetime) -> bool:
        """Take the turn of a status; False if it has to wait for it."""
        soonest = max(known.not_before or now, known.rate.next(now))
        if soonest > now:
            self._agenda.later(_decided_as(subject), soonest)
            return False
        if news:
            self._withdraw(subject)
            return True
        namespace = self._namespace(subject.namespace, now)
        if subject in namespace.called:
            del namespace.called[subject]
        elif namespace.waiting or namespace.rate.next(now) > now:
            namespace.waiting[subject] = None
            turn = Subject(Topic.STATUSES, subject.namespace)
            self._agenda.later(turn, namespace.rate.next(now))
            return False
        else:
            namespace.rate = namespace.rate.taken(now)
        return True

    def _withdraw(self, subject: Subject) -> None:
        """A status needs no turn: it is right as it is, or written anyway."""
        namespace = self._namespaces.get(subject.namespace)
        if namespace is not None:
            namespace.waiting.pop(subject, None)
            namespace.called.pop(subject, None)

    def _as_shown(self, hold: Hold) -> Hold:
        subject = status_subject(hold.parent)
        known = self._record(subject, hold.parent.uid)
        self._records[subject] = replace(known, written=None)
        hold = hold if known.shown is None else replace(hold, status=known.shown)
        self._ledger.holds[hold.parent.identity] = hold
        return hold

    def _record(self, subject: Subject, uid: str) -> _Record:
        """The record of an object; a new object under an old name has shown nothing yet."""
        known = self._records.get(subject)
        if known is None or known.uid == uid:
            return known or _Record(uid)
        return _Record(uid, rate=known.rate)

    def _namespace(self, name: str, now: datetime) -> _Namespace:
        found = self._namespaces.get(name)
        if found is None:
            if len(self._namespaces) >= self._sweep_at:
                self._sweep(now)
            found = self._namespaces[name] = _Namespace()
        return found

    def _sweep(self, now: datetime) -> None:
        """Forget the namespaces that have written nothing for a while, those that are gone too."""
        idle = [name for name, each in self._namespaces.items() if each.idle(now)]
        for name in idle:
            del self._namespaces[name]
        self._sweep_at = max(SPARE_NAMESPACES, 2 * len(self._namespaces))


def _decided_as(subject: Subject) -> Subject:
    """The subject whose decision writes a status: a headroom's own, a hold's status alone."""
    return subject._replace(topic=Topic.HEADROOM) if subject.topic is Topic.ANNOUNCE else subject


def _is_news(before: HoldStatus, status: HoldStatus) -> bool:
    """Whether room was got, lost or released; the first status without room is no news."""
    return before.phase != status.phase and (bool(before.phase) or status.phase == "Available")


def _is_ready(status: HeadroomStatus) -> bool:
    ready = ready_in(status.conditions)
    return ready is not None and ready.status == "True"
