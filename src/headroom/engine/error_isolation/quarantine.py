"""An exception about one subject does not stop the others: it is recorded, and the subject pauses.

An object may contain something that no code expects. The decision about it then raises, and all
other subjects are decided as usual. The exception is recorded as `Contained` (the driver logs and
counts it), the subject pauses, longer each time, and its object gets an event and a condition. A
contained exception is still a bug: simulations and stories count it as a violation. A MemoryError
belongs to no subject and is raised again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import ParamSpec, TypeVar

from headroom.core.fast_dataclass import dataclass
from headroom.core.subjects import Subject
from headroom.core.waits.backoff import backoff
from headroom.engine.agenda import Agenda
from headroom.errors import described

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(minutes=5)
TOLD_AGAIN = timedelta(minutes=10)
MOST_NEWS = 1000  # Of exceptions that nobody has fetched yet; the oldest are dropped.
MOST_KNOWN = 10_000  # Subjects remembered; those that rest longest ago are dropped.

P = ParamSpec("P")
K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Contained:
    """An exception that was limited to its subject, and what was being done (`where`).

    The subject is a text if the agenda does not know it: a write, or an object of another kind.
    """

    where: str
    subject: Subject | str
    error: Exception

    def __str__(self) -> str:
        return f"{self.where} {self.subject}: {described(self.error)}"


@dataclass(frozen=True, slots=True)
class _Pause:
    until: datetime
    failures: int


class Quarantine:
    """Subjects that pause after an exception, and these exceptions."""

    def __init__(self, agenda: Agenda) -> None:
        self.total = 0
        self.news: deque[Contained] = deque(maxlen=MOST_NEWS)
        self.untold: dict[Subject | str, Contained] = {}  # Their objects have still to be told.
        self._agenda = agenda
        self.pauses: dict[Subject, _Pause] = {}  # Until the next decision about it goes well.
        self._told: dict[Subject | str, datetime] = {}

    def attempt(
        self,
        where: str,
        subject: Subject | str | Callable[[], Subject | str],
        now: datetime,
        call: Callable[P, None],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> bool:
        """Call a function about a subject; False if it raised, which is then recorded."""
        try:
            call(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:
            self.note(where, subject() if callable(subject) else subject, error, now)
            return False
        return True

    def note(self, where: str, subject: Subject | str, error: Exception, now: datetime) -> None:
        """Record an exception; the subject pauses only if the exception came from its decision."""
        self.total += 1
        contained = Contained(where, subject, error)
        self.news.append(contained)
        told = self._told.get(subject)
        if told is None or now >= told + TOLD_AGAIN:
            _remember(self._told, subject, now)
            self.untold[subject] = contained
        if where == "decide" and isinstance(subject, Subject):
            self._pause(subject, now)

    def postpone(self, subject: Subject, now: datetime) -> bool:
        """Put a subject off until its pause is over; False if it does not pause."""
        pause = self.pauses.get(subject)
        if pause is None or now >= pause.until:
            return False
        self._agenda.later(subject, pause.until)
        return True

    def take_untold(self) -> list[Contained]:
        """Take the exceptions that are not reported on their objects yet, one for each object."""
        found = list(self.untold.values())
        self.untold.clear()
        return found

    def _pause(self, subject: Subject, now: datetime) -> None:
        before = self.pauses.get(subject)
        failures = before.failures if before is not None else 0
        until = now + backoff(FIRST_PAUSE, failures, LONGEST_PAUSE)
        self.pauses.pop(subject, None)
        _remember(self.pauses, subject, _Pause(until, failures + 1))
        self._agenda.later(subject, until)


def _remember(known: dict[K, T], subject: K, value: T) -> None:
    known[subject] = value
    while len(known) > MOST_KNOWN:
        del known[next(iter(known))]
