"""Limit how often statuses are written, for each object and for each namespace.

A status with news about room (got, lost, released) is written at once, because people wait for it.
All others (still waiting, refused, another message) share a rate of their namespace, so that a
tenant with thousands of refused holds takes little of the API server's time from others. An object
whose status changes all the time also has its own rate. Nothing is lost: an object that has to wait
is decided again when its turn comes, and the status that is right by then is written.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from headroom.core.subjects import Subject, Topic
from headroom.engine.agenda import Agenda

OBJECT_AT_ONCE = 10
OBJECT_EVERY = timedelta(seconds=1)
NAMESPACE_AT_ONCE = 100
NAMESPACE_EVERY = timedelta(milliseconds=100)
SPARE_NAMESPACES = 1000


def statuses_subject(namespace: str) -> Subject:
    return Subject(Topic.STATUSES, namespace)


@dataclass(frozen=True, slots=True)
class Allowed:
    """So many at once, then one in so much time; `used_until` is when the last one is made up for.

    One moment says it all: what lies between now and it has been used ahead of time.
    """

    at_once: int
    every: timedelta
    used_until: datetime | None = None

    def next(self, now: datetime) -> datetime:
        """When the next one may be written: now, or later."""
        if self.used_until is None:
            return now
        return max(now, self.used_until - (self.at_once - 1) * self.every)

    def taken(self, now: datetime) -> Allowed:
        """The same after one more."""
        return replace(self, used_until=max(now, self.used_until or now) + self.every)

    def idle(self, now: datetime) -> bool:
        """Whether it is as if it had never been used."""
        return self.used_until is None or self.used_until <= now


FRESH_OBJECT = Allowed(OBJECT_AT_ONCE, OBJECT_EVERY)
FRESH_NAMESPACE = Allowed(NAMESPACE_AT_ONCE, NAMESPACE_EVERY)


@dataclass(slots=True)
class _Namespace:
    allowed: Allowed = FRESH_NAMESPACE
    waiting: OrderedDict[Subject, None] = field(default_factory=OrderedDict)
    called: dict[Subject, None] = field(default_factory=dict)  # their turn has come

    def idle(self, now: datetime) -> bool:
        return not self.waiting and not self.called and self.allowed.idle(now)


class StatusPace:
    """Asked before each status is written, by the subject of the write."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._objects: dict[Subject, Allowed] = {}
        self._namespaces: dict[str, _Namespace] = {}
        self._sweep_at = SPARE_NAMESPACES

    def may_write(self, subject: Subject, news: bool, now: datetime) -> bool:
        """Whether this status may be written now."""
        if self._own(subject).next(now) > now:
            return False
        namespace = self._namespaces.get(subject.namespace)
        if news or namespace is None or subject in namespace.called:
            return True
        return not namespace.waiting and namespace.allowed.next(now) <= now

    def wrote(self, subject: Subject, news: bool, now: datetime) -> None:
        """This status is written now: its turn is taken."""
        self._objects[subject] = self._own(subject).taken(now)
        if news:
            self.withdraw(subject)
            return
        namespace = self._namespace(subject.namespace, now)
        if subject in namespace.called:
            del namespace.called[subject]
        else:
            namespace.allowed = namespace.allowed.taken(now)

    def wait(self, subject: Subject, now: datetime) -> None:
        """Look at this subject when its status may be written."""
        soonest = self._own(subject).next(now)
        if soonest > now:
            self._agenda.later(subject, soonest)
            return
        namespace = self._namespace(subject.namespace, now)
        namespace.waiting[subject] = None
        self._agenda.later(statuses_subject(subject.namespace), namespace.allowed.next(now))

    def withdraw(self, subject: Subject) -> None:
        """This status is right as it is: it needs no turn."""
        namespace = self._namespaces.get(subject.namespace)
        if namespace is not None:
            namespace.waiting.pop(subject, None)
            namespace.called.pop(subject, None)

    def forget(self, subject: Subject) -> None:
        """The object is gone."""
        self._objects.pop(subject, None)
        self.withdraw(subject)

    def look(self, name: str, now: datetime) -> None:
        """Call those of a namespace whose turn has come."""
        namespace = self._namespaces.get(name)
        if namespace is None:
            return
        while namespace.waiting and namespace.allowed.next(now) <= now:
            subject, _ = namespace.waiting.popitem(last=False)
            namespace.allowed = namespace.allowed.taken(now)
            namespace.called[subject] = None
            self._agenda.touch(subject)
        if namespace.waiting:
            self._agenda.later(statuses_subject(name), namespace.allowed.next(now))

    def size(self) -> int:
        """How much is remembered."""
        each = self._namespaces.values()
        waiting = sum(len(space.waiting) + len(space.called) for space in each)
        return len(self._objects) + len(self._namespaces) + waiting

    def _own(self, subject: Subject) -> Allowed:
        return self._objects.get(subject, FRESH_OBJECT)

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
