"""What to decide next: subjects that are due, timers, waits, and pauses after failures.

Subjects are decided in the order in which they became due, so that the same events always lead to
the same decisions. If more is due than one plan may decide, namespaces take turns, and inside a
namespace its topics do: a tenant with a hundred thousand slots slows down only itself.
Sets are dicts on purpose: they keep their order.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from headroom.core.subjects import Awaited, Subject, Topic
from headroom.core.waits.backoff import backoff
from headroom.engine.indexes import drop

FIRST_PAUSE = timedelta(milliseconds=200)
LONGEST_PAUSE = timedelta(minutes=2)
OWNER_PAUSE = timedelta(seconds=5)  # An owner waits for us; what failed may not be its fault.
PAUSED = (Topic.POD, Topic.FENCE, Topic.INDEX, Topic.QUOTA)  # not decided after a failure
SPARE_TIMERS = 8  # So many timers of subjects that are gone are kept beside those that count.


class Agenda:
    """Subjects that are due now, due later, or being written (busy)."""

    def __init__(self) -> None:
        # Namespace → topic → subject → number. The first of a plain dict is found ever more slowly.
        self._due: OrderedDict[str, OrderedDict[Topic, OrderedDict[Subject, int]]] = OrderedDict()
        self._count = 0  # how many are due
        self._number = 0  # of the last that came
        self._timers: list[tuple[datetime, Subject]] = []
        self._soonest: dict[Subject, datetime] = {}
        self._busy: dict[Subject, int] = {}
        self._failures: dict[Subject, int] = {}
        self._not_before: dict[Subject, datetime] = {}
        self._waiting: dict[Awaited, dict[Subject, None]] = {}
        self._waits_on: dict[Subject, dict[Awaited, None]] = {}  # the same, by subject
        self._sweep_at = datetime.min.replace(tzinfo=UTC)

    def touch(self, subject: Subject) -> None:
        """Decide this subject in the next plan, or when its turn comes."""
        if subject in self._busy:
            return  # `finish` brings it back; in a handover each write and each event touch it.
        if subject.namespace not in self._due:
            self._due[subject.namespace] = OrderedDict()
        topics = self._due[subject.namespace]
        if subject.topic not in topics:
            topics[subject.topic] = OrderedDict()
        queue = topics[subject.topic]
        if subject not in queue:
            self._number += 1
            self._count += 1
            queue[subject] = self._number

    def later(self, subject: Subject, when: datetime) -> None:
        """Decide this subject at that time, or earlier."""
        known = self._soonest.get(subject)
        if known is None or when < known:
            self._soonest[subject] = when
            heapq.heappush(self._timers, (when, subject))
            if len(self._timers) > 2 * len(self._soonest) + SPARE_TIMERS:
                self._timers = [(at, each) for each, at in self._soonest.items()]
                heapq.heapify(self._timers)  # Those of subjects that are gone would stay.

    def drop_timer(self, subject: Subject) -> None:
        """Remove the timer of a subject: one that is being written is decided when this ends."""
        self._soonest.pop(subject, None)

    def wait(self, subject: Subject, on: Awaited) -> None:
        """Decide this subject at the next change of this kind: once, unless it waits again then."""
        self._waiting.setdefault(on, {})[subject] = None
        self._waits_on.setdefault(subject, {})[on] = None

    def wake(self, happened: Awaited) -> None:
        """A change has happened: decide the subjects that wait for it."""
        if happened not in self._waiting:
            return
        for subject in self._waiting.pop(happened):
            drop(self._waits_on, subject, happened)
            self.touch(subject)

    def stop_waiting(self, subject: Subject, on: Awaited) -> None:
        """This subject no longer waits for this change."""
        drop(self._waiting, on, subject)
        drop(self._waits_on, subject, on)

    def waiting(self, on: Awaited) -> tuple[Subject, ...]:
        """The subjects that wait for a change, in the order in which they began to wait."""
        return tuple(self._waiting.get(on, ()))

    def notify(self, happened: Awaited) -> None:
        """Decide the subjects that wait for a change; they stay registered for the next one."""
        for subject in self._waiting.get(happened, ()):
            self.touch(subject)

    def has_waiters(self, happening: Awaited) -> bool:
        """Whether a subject waits for this change."""
        return happening in self._waiting

    def take(self, now: datetime, most: int | None = None) -> tuple[Subject, ...]:
        """Take at most so many due subjects; those being written are due again afterwards."""
        while self._timers and self._timers[0][0] <= now:
            when, subject = heapq.heappop(self._timers)
            if self._soonest.get(subject) == when:
                del self._soonest[subject]
                self.touch(subject)
        if self._failures and now >= self._sweep_at:
            self._sweep(now)
        if not self._count:
            return ()
        found = self._all() if most is None or self._count <= most else self._in_turn(most)
        # What was due when its work began is brought back by `finish`, too.
        free = tuple([subject for subject in found if subject not in self._busy])
        for subject in free if self._not_before else ():
            if self.in_backoff(subject, now):  # Its timer may have been an earlier one.
                self.later(subject, self._not_before[subject])
        return free

    def _all(self) -> list[Subject]:
        """All due subjects, in the order in which they became due."""
        numbered = [
            (number, subject)
            for topics in self._due.values()
            for queue in topics.values()
            for subject, number in queue.items()
        ]
        self._due.clear()
        self._count = 0
        return [subject for _, subject in sorted(numbered)]

    def _in_turn(self, most: int) -> list[Subject]:
        """So many subjects, one of each namespace in turn; the others keep their place."""
        found: list[Subject] = []
        while len(found) < most and self._due:
            namespace, topics = self._due.popitem(last=False)
            topic, queue = topics.popitem(last=False)
            subject, _ = queue.popitem(last=False)
            found.append(subject)
            if queue:
                topics[topic] = queue  # To the end of the turns.
            if topics:
                self._due[namespace] = topics
        self._count -= len(found)
        return found

    def wake_at(self) -> datetime | None:
        """The time of the next timer."""
        while self._timers and self._soonest.get(self._timers[0][1]) != self._timers[0][0]:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def start(self, subjects: Iterable[Subject]) -> None:
        for subject in subjects:
            self._busy[subject] = self._busy.get(subject, 0) + 1

    def finish(self, subjects: Iterable[Subject]) -> None:
        """The sequence of these subjects has ended: decide them again."""
        for subject in subjects:
            left = self._busy.get(subject, 0) - 1
            if left > 0:
                self._busy[subject] = left
            else:
                self._busy.pop(subject, None)
            self.touch(subject)

    def is_deferred(self, subject: Subject, now: datetime) -> bool:
        """Whether a subject must not be decided now; it becomes due again later by itself."""
        until = self._not_before.get(subject) if subject.topic in PAUSED else None
        # A busy one was decided earlier in this plan.
        return subject in self._busy or (until is not None and now < until)

    def busy(self, subject: Subject) -> bool:
        return subject in self._busy

    def failed(
        self,
        subject: Subject,
        now: datetime,
        first: timedelta = FIRST_PAUSE,
        longest: timedelta = LONGEST_PAUSE,
    ) -> None:
        """Do not decide a subject for a while, longer with each failure in a row."""
        count = self._failures.get(subject, 0)
        self._failures[subject] = count + 1
        pause = backoff(first, count, longest)
        self._not_before[subject] = now + pause
        self.later(subject, now + pause)
        if now >= self._sweep_at:
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        """Forget old failures: a subject that still failed would have failed again by now."""
        self._sweep_at = now + 2 * LONGEST_PAUSE
        old = [each for each, until in self._not_before.items() if until + LONGEST_PAUSE < now]
        for subject in old:
            self.succeeded(subject)

    def succeeded(self, subject: Subject) -> None:
        if subject in self._failures:
            del self._failures[subject]
            self._not_before.pop(subject, None)

    def not_before(self, subject: Subject) -> datetime | None:
        return self._not_before.get(subject)

    def in_backoff(self, subject: Subject, now: datetime) -> bool:
        """Whether a subject pauses after a failure; `take` returns it when the pause is over."""
        until = self._not_before.get(subject)
        return until is not None and now < until

    def forget(self, subject: Subject) -> None:
        """Drop everything about a subject that no longer exists."""
        topics = self._due.get(subject.namespace)
        if topics is not None and subject in topics.get(subject.topic, ()):
            del topics[subject.topic][subject]
            self._count -= 1
            if not topics[subject.topic]:
                del topics[subject.topic]
            if not topics:
                del self._due[subject.namespace]
        self._soonest.pop(subject, None)
        for awaited in self._waits_on.pop(subject, ()):
            drop(self._waiting, awaited, subject)
        self.succeeded(subject)

    def size(self) -> int:
        """How many entries are stored: due subjects, timers, waits, pauses, writes in progress."""
        noted = (self._timers, self._soonest, self._busy, self._failures, self._not_before)
        waits = sum(map(len, self._waits_on.values()))
        return self._count + waits + sum(map(len, noted))
