"""Who may write now: handovers at once, statuses where they leave room, events at a slow pace.

Somebody waits for a handover; nobody waits for an event. All share one API server, so the others
give way: while handovers are under way, statuses and events are written at a slow pace only.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

FAST_SLOTS = 48


@dataclass(slots=True)
class Bucket:
    """So many a second at most, after so many at once."""

    per_second: float
    at_once: float
    tokens: float = 0.0
    counted_at: float | None = None

    def pause(self, now: float) -> float:
        """Take a token; say how long to wait for it."""
        if self.counted_at is None:
            self.tokens = self.at_once
        else:
            grown = self.tokens + (now - self.counted_at) * self.per_second
            self.tokens = min(self.at_once, grown)
        self.counted_at = now
        self.tokens -= 1
        return max(0.0, -self.tokens / self.per_second)


class Lanes:
    """Three lanes, by the kind of work."""

    def __init__(self) -> None:
        self._fast = asyncio.Semaphore(FAST_SLOTS)
        self._status = asyncio.Semaphore(4)
        self._talk = asyncio.Semaphore(2)
        self._calm = asyncio.Event()
        self._calm.set()
        self._running = 0
        self._statuses_meanwhile = Bucket(per_second=20, at_once=4)
        self._talk_meanwhile = Bucket(per_second=4, at_once=2)
        self._talk_ever = Bucket(per_second=20, at_once=60)

    def lane(self, work: str) -> AbstractAsyncContextManager[None]:
        """The lane for this kind of work; entering it waits for a turn."""
        if work == "tell":
            return self._talking()
        return self._writing_status() if work == "status" else self._handing_over()

    @contextlib.asynccontextmanager
    async def _handing_over(self) -> AsyncIterator[None]:
        self._running += 1
        self._calm.clear()
        try:
            async with self._fast:
                yield
        finally:
            self._running -= 1
            if not self._running:
                self._calm.set()

    @contextlib.asynccontextmanager
    async def _writing_status(self) -> AsyncIterator[None]:
        async with self._status:
            await self._give_way(self._statuses_meanwhile)
            yield

    @contextlib.asynccontextmanager
    async def _talking(self) -> AsyncIterator[None]:
        async with self._talk:
            await asyncio.sleep(self._talk_ever.pause(asyncio.get_running_loop().time()))
            await self._give_way(self._talk_meanwhile)
            yield

    async def _give_way(self, meanwhile: Bucket) -> None:
        """Wait for calm; while there is none, go on at a slow pace."""
        if self._calm.is_set():
            return
        pause = meanwhile.pause(asyncio.get_running_loop().time())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._calm.wait()
