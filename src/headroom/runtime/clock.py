"""The clocks of a live operator: the machine's clock, and the same corrected by the API server's.

`sim` has a virtual clock with the same interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

TOLERANCE = timedelta(seconds=2)


class WallClock:
    """Real time, aware, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ServerClock(WallClock):
    """The machine's clock, corrected to the API server's if they differ by more than 2 s.

    `told` returns the server's time (None: not known yet); `wall` is the machine's own clock;
    `skewed` is called with the correction each time it changes.
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

    def now(self) -> datetime:
        mine, theirs = self._wall(), self._told()
        if theirs is not None and abs(theirs - mine - self._offset) > TOLERANCE:
            apart = theirs - mine
            self._offset = apart if abs(apart) > TOLERANCE else timedelta()
            if self._skewed is not None:
                self._skewed(self._offset)
        return mine + self._offset
