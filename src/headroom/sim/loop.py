"""Virtual time: an asyncio event loop whose clock jumps straight to the next timer.

Everything in the embedded cluster, the operator included, runs as callbacks and coroutines on this
one loop, so a day takes as long as its events do. When nothing is ready and nothing is scheduled,
nothing more can happen: the loop stops by itself. Times are kept to the microsecond, so that adding
floats in another order never makes another run.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from contextvars import Context
from datetime import datetime, timedelta
from typing import Any, TypeVarTuple

from headroom.sim.errors import SimulationError

Ts = TypeVarTuple("Ts")

DIGITS = 6  # of a second
MOST_TURNS = 1_000_000
"""So many turns of the loop at one and the same moment can only be two actors in a circle."""


class _Waiter(selectors.BaseSelector):
    """Instead of waiting for files, hands the time to wait to the loop."""

    def __init__(self, wait: Callable[[float | None], None]) -> None:
        self._wait = wait
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        fd = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        self._keys[fileobj] = selectors.SelectorKey(fileobj, fd, events, data)
        return self._keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._wait(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits; `time()` starts at zero."""

    def __init__(self) -> None:
        self._now = 0.0
        self._limit = float("inf")
        self._idle = False
        self._turns = 0
        self._failures: list[BaseException] = []
        self.on_jump: Callable[[float], None] | None = None  # told of the next moment
        super().__init__(_Waiter(self._jump))
        self.set_exception_handler(self._note_failure)

    def time(self) -> float:
        return self._now

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return super().call_at(round(when, DIGITS), callback, *args, context=context)

    def run_to(self, limit: float) -> bool:
        """Run all that happens up to `limit`, which the clock then shows; False: it fell idle."""
        self._limit = round(limit, DIGITS)
        self._idle = False
        self.run_forever()
        if self._failures:
            failures, self._failures = self._failures, []
            raise SimulationError(f"an actor failed at {self._now:.6f}") from failures[0]
        return not self._idle

    def settle_at(self, moment: float) -> None:
        """Let an idle world's clock show a later time; nothing happens in between."""
        moment = round(moment, DIGITS)
        if moment > self._now:
            self._leave(moment)
        self._now = max(self._now, moment)

    def _leave(self, upcoming: float) -> None:
        """Tell that everything of this moment is done; the clock shows it still."""
        if self.on_jump is not None:
            self.on_jump(upcoming)

    def _jump(self, timeout: float | None) -> None:
        if timeout is not None and timeout <= 0:
            self._turns += 1
            if self._turns > MOST_TURNS:
                self._turns = 0
                self._note_failure(self, {"message": "time stands still: actors run in a circle"})
            return
        self._turns = 0
        if timeout is None:
            self._idle = True
            self.stop()
            return
        upcoming = round(self._now + timeout, DIGITS)
        self._leave(min(upcoming, self._limit))
        if upcoming > self._limit:
            self._now = max(self._now, self._limit)
            self.stop()
        else:
            self._now = upcoming

    def _note_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        cause = context.get("exception")
        if not isinstance(cause, BaseException):
            cause = SimulationError(str(context.get("message", "unknown trouble in the loop")))
        self._failures.append(cause)
        self.stop()


class SimClock:
    """The virtual wall clock: `start` plus what the loop's clock shows."""

    def __init__(self, loop: VirtualLoop, start: datetime) -> None:
        self._loop = loop
        self._start = start

    @property
    def start(self) -> datetime:
        return self._start

    def elapsed(self) -> float:
        """Virtual seconds since the start."""
        return self._loop.time()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._loop.time())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))
