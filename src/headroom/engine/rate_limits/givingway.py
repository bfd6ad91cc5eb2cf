"""Guardians that made way for owners at the gate: each is made again after a pause.

A guardian that waits for room is deleted before another one gives its room to an owner (see
`pending_guardians`). Made again at once it would have to go again for the next owner: with so many
of them waiting, each owner of a stream would cost that many writes, and as many again. The pause
doubles each time that a guardian has to go, and ends for good when the hold has its room.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core.holds import Hold
from headroom.core.subjects import hold_subject
from headroom.core.waits.backoff import backoff
from headroom.engine.agenda import Agenda

FIRST_PAUSE = timedelta(milliseconds=500)
LONGEST_PAUSE = timedelta(seconds=8)


class GivingWay:
    """How often the guardian of each hold had to go, and when the next one may be made."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._times: dict[str, int] = {}  # by parent
        self._not_before: dict[str, datetime] = {}

    def went(self, parent: str) -> None:
        """The guardian of a hold is being deleted, for an owner of another."""
        self._times[parent] = self._times.get(parent, 0) + 1
        self._not_before.pop(parent, None)

    def may_make(self, hold: Hold, now: datetime) -> bool:
        """Whether the next guardian of a hold may be made; if not, the hold is looked at in time.

        The pause begins when it is first asked for.
        """
        parent = str(hold.parent)
        times = self._times.get(parent)
        if times is None:
            return True
        pause = backoff(FIRST_PAUSE, times - 1, LONGEST_PAUSE)
        until = self._not_before.setdefault(parent, now + pause)
        if now < until:
            self._agenda.later(hold_subject(hold.parent), until)
        return now >= until

    def over(self, hold: Hold) -> None:
        """A hold has its room, or is no more."""
        self._times.pop(str(hold.parent), None)
        self._not_before.pop(str(hold.parent), None)
