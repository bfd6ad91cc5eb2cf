"""A cluster whose connection is cut after so many writes: what an operator that dies leaves behind.

Only writes that change the state of a handover count; statuses and events are talk. Once armed,
counted writes go one by one, so that exactly so many of them have happened at the cut; those that
the operator sends together go in their order or, `backwards`, in the opposite one. Instead of a cut
something else may happen between two writes: an object is changed or deleted, and the operator
learns of it before the answer to its last write, or after. `delay` makes every write late.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from headroom.core.actions import Action, Outcome, Tell, WriteHoldStatus, WriteIndex
from headroom.ports import Cluster, Event


class CutCluster:
    """Passes everything on until the limit, then nothing any more."""

    def __init__(self, inner: Cluster) -> None:
        self._inner = inner
        self._left: int | None = None
        self._backwards = False
        self._line: list[asyncio.Event] = []
        self._at_work = False
        self._meddle: Callable[[], None] | None = None
        self._pause_s = 0.0
        self._late_s = 0.0
        self.cut = asyncio.Event()
        self.meddled: Action | None = None  # the write after which something happened

    def cut_after(self, writes: int, backwards: bool = False) -> None:
        """Let so many more writes happen, and read no answer to the last of them."""
        self._left, self._backwards = writes, backwards

    def meddle_after(self, writes: int, meddle: Callable[[], None], pause_s: float) -> None:
        """Have this done after so many more writes, and let the operator see it for a while."""
        self._left, self._meddle, self._pause_s = writes, meddle, pause_s

    def delay(self, seconds: float) -> None:
        """Send every write so much later, as an operator does that gets little CPU."""
        self._late_s = seconds

    async def watch(self) -> AsyncGenerator[Event, None]:
        async with aclosing(self._inner.watch()) as events:
            async for event in events:
                if self.cut.is_set():
                    await asyncio.Event().wait()
                yield event

    async def perform(self, action: Action) -> Outcome:
        if self._late_s:
            await asyncio.sleep(self._late_s)  # so much later the API server gets it
        if self._left is None or isinstance(action, Tell | WriteHoldStatus | WriteIndex):
            await self._pass()
            return await self._inner.perform(action)
        await self._queue()
        try:
            await self._pass()
            outcome = await self._inner.perform(action)
            await self._count(action)
            await self._pass()
        finally:
            self._at_work = False
            self._next()
        return outcome

    async def _count(self, action: Action) -> None:
        if self._left is None:
            return
        self._left -= 1
        if self._left > 0:
            return
        if self._meddle is None:
            self.cut.set()
            return
        self._left, self.meddled = None, action
        self._meddle()
        await asyncio.sleep(self._pause_s)  # so long the operator sees it before it goes on

    async def _pass(self) -> None:
        if self.cut.is_set():
            await asyncio.Event().wait()

    async def _queue(self) -> None:
        """Wait for one's turn; those that came together stand in line before the first may go."""
        turn = asyncio.Event()
        self._line.append(turn)
        asyncio.get_running_loop().call_soon(self._next)
        await turn.wait()

    def _next(self) -> None:
        if self._line and not self._at_work:
            self._at_work = True
            self._line.pop(-1 if self._backwards else 0).set()
