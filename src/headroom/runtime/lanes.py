"""Who may write now: handovers at once, statuses where they leave room, events at a slow pace.

Somebody waits for a handover; nobody waits for an event. All share one API server, so talk gives
way: it waits for calm, a short while at most, and is never told faster than people could read.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

FAST_SLOTS = 48
STATUS_SLOTS = 4
TALK_SLOTS = 2
CALM_WAIT_S = 0.5
TALK_PER_SECOND = 20.0
TALK_AT_ONCE = 60.0


class Lanes:
    """Three lanes, by the kind of work."""

    def __init__(self) -> None:
        self._fast = asyncio.Semaphore(FAST_SLOTS)
        self._status = asyncio.Semaphore(STATUS_SLOTS)
        self._talk = asyncio.Semaphore(TALK_SLOTS)
        self._calm = asyncio.Event()
        self._calm.set()
        self._running = 0
        self._tokens = TALK_AT_ONCE
        self._counted_at: float | None = None

    def lane(self, work: str) -> AbstractAsyncContextManager[None]:
        """The lane for this kind of work; entering it waits for a turn."""
        if work == "tell":
            return self._talking()
        return self._waiting_for_calm() if work == "status" else self._handing_over()

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
    async def _waiting_for_calm(self) -> AsyncIterator[None]:
        async with self._status:
            await self._until_calm()
            yield

    @contextlib.asynccontextmanager
    async def _talking(self) -> AsyncIterator[None]:
        async with self._talk:
            await self._until_calm()
            await asyncio.sleep(self._pause())
            yield

    async def _until_calm(self) -> None:
        with contextlib.suppress(TimeoutError):  # Then it has given way long enough.
            await asyncio.wait_for(self._calm.wait(), timeout=CALM_WAIT_S)

    def _pause(self) -> float:
        """Take a token; say how long to wait for it."""
        now = asyncio.get_running_loop().time()
        passed = now - self._counted_at if self._counted_at is not None else 0.0
        self._counted_at = now
        self._tokens = min(TALK_AT_ONCE, self._tokens + passed * TALK_PER_SECOND) - 1
        return max(0.0, -self._tokens / TALK_PER_SECOND)
