"""The API server's clock, from the header Date of its answers.

Two kinds of times need one clock: times that others compare with theirs (how long a claim index is
fresh), and times of theirs that we compare with ours (when a hold was created). Between answers, a
monotonic clock counts on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial

EVERY_S = 5.0  # It is not needed from every answer.
HALF_A_SECOND = timedelta(milliseconds=500)  # The header has whole seconds, rounded down.


boot_seconds: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)
"""Seconds on a monotonic clock that includes suspended time."""


class ServerTime:
    """The server's clock; unknown before the first answer."""

    def __init__(self, clock: Callable[[], float] = boot_seconds) -> None:
        self._clock = clock
        self._told: datetime | None = None
        self._told_at = float("-inf")

    def note(self, header: str | None) -> None:
        """An answer had this Date; a missing or invalid one changes nothing."""
        at = self._clock()
        if header is None or at < self._told_at + EVERY_S:
            return
        try:
            told = parsedate_to_datetime(header[:64])
        except (ValueError, TypeError, OverflowError):
            return
        if told.tzinfo is not None:
            self._told, self._told_at = told.astimezone(UTC) + HALF_A_SECOND, at

    def now(self) -> datetime | None:
        """The server's time now; None if unknown."""
        if self._told is None:
            return None
        return self._told + timedelta(seconds=self._clock() - self._told_at)
