"""Connections in the making, which must not be cancelled half way.

asyncio (3.11) loses the socket of a TLS connection that is cancelled before its handshake begins.
So whoever is cancelled leaves; the making goes on, and what it makes is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Openings(Generic[T]):
    """Makes connections; `discard` closes one that nobody waits for any more."""

    def __init__(self, discard: Callable[[T], None]) -> None:
        self._discard = discard
        self._making: set[asyncio.Task[T]] = set()

    async def open(self, making: Coroutine[Any, Any, T]) -> T:
        """Wait for a connection; being cancelled abandons it without breaking it."""
        task = asyncio.get_running_loop().create_task(making)
        self._making.add(task)
        task.add_done_callback(self._making.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._throw_away)
            raise

    async def settle(self, seconds: float = 1.0) -> None:
        """Let what is in the making come to its end; what takes longer is cancelled after all."""
        if not self._making:
            return
        _, late = await asyncio.wait(list(self._making), timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _throw_away(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._discard(task.result())
