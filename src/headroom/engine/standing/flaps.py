"""Slots whose node comes and goes: the more often, the longer the pause before they are held again.

A cordoned node loses its slot at once, because somebody wants it empty. But a node that is cordoned
and uncordoned every few seconds would cost two writes each time and never be held for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.waits.backoff import backoff

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=1)
CALM = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class _Drop:
    count: int
    last: datetime


class Flaps:
    """How often each slot was given back of late."""

    def __init__(self) -> None:
        self._drops: dict[str, _Drop] = {}

    def dropped(self, slot: str, now: datetime) -> None:
        """A slot was given back."""
        before = self._drops.get(slot)
        count = before.count if before is not None and now < before.last + CALM else 0
        self._drops[slot] = _Drop(count + 1, now)

    def not_before(self, slot: str, now: datetime) -> datetime | None:
        """When a slot may be held again, while that is to come; the first time at once."""
        drop = self._drops.get(slot)
        if drop is None or drop.count < 2:
            return None
        if now >= drop.last + CALM:
            del self._drops[slot]
            return None
        until = drop.last + backoff(FIRST_PAUSE, drop.count - 2, LONGEST_PAUSE)
        return until if now < until else None
