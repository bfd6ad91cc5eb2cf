"""A cluster whose connection is cut after so many writes: what an operator that dies leaves behind.

Only writes that change the state of a handover count; statuses and events are talk.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from headroom.core.actions import Action, Outcome, Tell, WriteHoldStatus, WriteIndex
from headroom.ports import Cluster, Event


class CutCluster:
    """Passes everything on until the limit, then nothing any more."""

    def __init__(self, inner: Cluster, writes: int | None) -> None:
        self._inner = inner
        self._left = writes
        self.cut = asyncio.Event()
        self.done: list[Action] = []

    async def watch(self) -> AsyncIterator[Event]:
        async for event in self._inner.watch():
            if self.cut.is_set():
                await asyncio.Event().wait()
            yield event

    async def perform(self, action: Action) -> Outcome:
        if self.cut.is_set():
            await asyncio.Event().wait()
        outcome = await self._inner.perform(action)
        if not isinstance(action, Tell | WriteHoldStatus | WriteIndex):
            self.done.append(action)
            if self._left is not None:
                self._left -= 1
                if self._left <= 0:
                    self.cut.set()
                    await asyncio.Event().wait()  # The answer is never read.
        return outcome
