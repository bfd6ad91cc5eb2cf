"""What time it is by the API server's clock, as its answers tell (the header Date).

Times that others compare with theirs (how long a claim index is fresh), and times of theirs that we
compare with ours (when a hold was created), must be by one clock. Between answers it is counted on
by a clock that never jumps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

EVERY_S = 5.0  # Reading every answer's header would be in vain.
HALF_A_SECOND = timedelta(milliseconds=500)  # The header has whole seconds, cut off.


def boot_seconds() -> float:
    """Seconds on a clock that never jumps, and goes on while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class ServerTime:
    """The server's clock; unknown until it has answered once."""

    def __init__(self, clock: Callable[[], float] = boot_seconds) -> None:
        self._clock = clock
        self._told: datetime | None = None
        self._told_at = float("-inf")

    def note(self, header: str | None) -> None:
        """An answer came with this Date; nonsense and silence change nothing."""
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
        """What the server's clock says now; None while it has told nothing."""
        if self._told is None:
            return None
        return self._told + timedelta(seconds=self._clock() - self._told_at)
