"""The clocks of a live operator: the machine's clock, and the same corrected by the API server's.

`sim` has a virtual clock with the same interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

TOLERANCE = timedelta(seconds=2)
EVERY = timedelta(seconds=1)  # An owner has the time read two dozen times.


class WallClock:
    """Real time, aware, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ServerClock(WallClock):
    """The machine's clock, corrected to the API server's if they differ by more than 2 s.

    They are compared once a second. `told` returns the server's time (None: not known yet); `wall`
    is the machine's own clock; `skewed` is called with the correction each time it changes.
    """

    def __init__(
        self,
        told: Callable[[], datetime | None],
        wall: Callable[[], datetime] | None = None,
        skewed: Callable[[timedelta], None] | None = None,
    ) -> None:
        self._told = told
        self._wall = wall or partial(datetime.now, UTC)
        self._skewed = skewed
        self._offset = timedelta()
        self._compared_at = self._next_at = datetime.max.replace(tzinfo=UTC)

    def now(self) -> datetime:
        mine = self._wall()
        if not self._compared_at <= mine < self._next_at:  # A wall clock may also go back.
            self._compare(mine)
        return mine + self._offset

    def _compare(self, mine: datetime) -> None:
        theirs = self._told()
        if theirs is None:
            return
        self._compared_at, self._next_at = mine, mine + EVERY
        if abs(theirs - mine - self._offset) > TOLERANCE:
            apart = theirs - mine
            self._offset = apart if abs(apart) > TOLERANCE else timedelta()
            if self._skewed is not None:
                self._skewed(self._offset)
