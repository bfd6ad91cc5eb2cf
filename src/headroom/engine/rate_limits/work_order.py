"""Decide which subjects come next: first those that existed at the start, then those that are due.

A plan handles a limited number of subjects, so that new events are processed before the next plan.
The agenda lets namespaces take turns.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime

from headroom.core.subjects import Subject, Topic
from headroom.engine.agenda import Agenda

MOST_LOOKS = 500  # decisions of one plan
_FIRST = {Topic.HEADROOM: 0, Topic.HOLD: 1}


class Turns:
    """Subjects in the order in which they are looked at."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._first: deque[Subject] = deque()

    def begin(self, now: datetime) -> None:
        """Note what is due when we first may act: holds before those who come for them."""
        due = self._agenda.take(now)
        self._first.extend(sorted(due, key=lambda each: _FIRST.get(each.topic, len(_FIRST))))

    def take(self, now: datetime, most: int) -> tuple[Subject, ...]:
        """The next subjects, so many at most."""
        if not self._first:
            return self._agenda.take(now, most)
        return tuple(self._first.popleft() for _ in range(min(most, len(self._first))))
