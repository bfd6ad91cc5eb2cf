"""One subject's trouble stays with it: what raises is noted, told on its object and left alone.

Whatever an object says, a decision about it may meet something that nobody thought of. That ends
nobody else's turn: the exception is kept as `Contained` (the driver logs and counts it), the
subject rests for a while, longer each time, and its object gets an event and a condition. A
contained exception is a bug all the same: simulations and stories count it as a violation.
Running out of memory is nobody's own trouble, and is passed on.
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
    """An exception that was kept to its subject, and what was being done (`where`).

    The subject is a text for what the agenda does not know: a write, or an object of another kind.
    """

    where: str
    subject: Subject | str
    error: Exception

    def __str__(self) -> str:
        return f"{self.where} {self.subject}: {described(self.error)}"


@dataclass(frozen=True, slots=True)
class _Rest:
    until: datetime
    failures: int


class Quarantine:
    """Subjects that are left alone for a while, and what they did."""

    def __init__(self, agenda: Agenda) -> None:
        self.total = 0
        self.news: deque[Contained] = deque(maxlen=MOST_NEWS)
        self.untold: dict[Subject | str, Contained] = {}  # Their objects have still to be told.
        self._agenda = agenda
        self.rests: dict[Subject, _Rest] = {}  # Until the next decision about it goes well.
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
        """Do something about a subject; False if it raised, which is then noted."""
        try:
            call(*args, **kwargs)
        except MemoryError:
            raise
        except Exception as error:
            self.note(where, subject() if callable(subject) else subject, error, now)
            return False
        return True

    def note(self, where: str, subject: Subject | str, error: Exception, now: datetime) -> None:
        """Take note of an exception; only who decides about the subject has to pause."""
        self.total += 1
        contained = Contained(where, subject, error)
        self.news.append(contained)
        told = self._told.get(subject)
        if told is None or now >= told + TOLD_AGAIN:
            _remember(self._told, subject, now)
            self.untold[subject] = contained
        if where == "decide" and isinstance(subject, Subject):
            self._pause(subject, now)

    def postpones(self, subject: Subject, now: datetime) -> bool:
        """Whether a subject is to be left alone; it is looked at when it no longer is."""
        rest = self.rests.get(subject)
        if rest is None or now >= rest.until:
            return False
        self._agenda.later(subject, rest.until)
        return True

    def take_untold(self) -> list[Contained]:
        """What objects have still to be told, each once."""
        found = list(self.untold.values())
        self.untold.clear()
        return found

    def _pause(self, subject: Subject, now: datetime) -> None:
        before = self.rests.get(subject)
        failures = before.failures if before is not None else 0
        until = now + backoff(FIRST_PAUSE, failures, LONGEST_PAUSE)
        self.rests.pop(subject, None)
        _remember(self.rests, subject, _Rest(until, failures + 1))
        self._agenda.later(subject, until)


def _remember(known: dict[K, T], subject: K, value: T) -> None:
    known[subject] = value
    while len(known) > MOST_KNOWN:
        del known[next(iter(known))]
