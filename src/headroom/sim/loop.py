"""Virtual time: an asyncio event loop whose clock jumps to the next timer.

All code of the embedded cluster, with the operator, runs as callbacks and coroutines on this loop,
so a simulated day takes only as long as its events. When nothing is ready and no timer is set,
nothing more can happen, and the loop stops. Times have a resolution of one microsecond, so that the
order of float additions does not change a run.

Timers and callbacks are kept here and not in asyncio's loop, which compares handles in Python and
polls files at every turn. The order of callbacks is the same as there, but timers with equal times
run in the order in which they were set.
"""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Any, TypeVarTuple

from headroom.sim.errors import SimulationError

Ts = TypeVarTuple("Ts")

DIGITS = 6  # of a second
_PER_SECOND = 1e6
_NO_TIE = 0.49  # A product of floats is not exact: nearer to a tie than this, it may be wrong.
MOST_TURNS = 1_000_000
"""More turns of the loop at the same time mean that actors call each other without end."""

LONGEST_JUMP = 24 * 3600.0
FAR = LONGEST_JUMP / 2
MOST_CANCELLED = 0.5
FEW_TIMERS = 100
"""With at least this many timers, cancelled ones are removed if they are the majority."""


COLLECTING = (50_000, 20, 20)
"""Thresholds of the garbage collector while there is a loop: a world has few cycles and many
objects, and looking through all of them takes an eighth of the time of a large run otherwise."""


def to_micros(seconds: float) -> float:
    """`round(seconds, DIGITS)` in half of the time: a pod takes part in two dozen timers."""
    scaled = seconds * _PER_SECOND
    whole = (scaled + 0.5) // 1.0
    if -_NO_TIE < scaled - whole < _NO_TIE:
        return whole / _PER_SECOND
    return round(seconds, DIGITS)


class _RareCollection:
    """Makes Python's garbage collector run rarely while any loop exists."""

    def __init__(self) -> None:
        self._loops = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        self._loops += 1
        if self._loops == 1:
            self._before = before = gc.get_threshold()
            gc.set_threshold(*map(max, before, COLLECTING) if before[0] else before)

    def end(self) -> None:
        self._loops -= 1
        if self._loops == 0:
            gc.set_threshold(*self._before)


_rare_collection = _RareCollection()


class _Timer:
    """A timer with the methods that asyncio needs of a handle.

    Its callback runs in the context of the loop, not in that of the code that set it: a controller
    that reacts to a write of the operator is not a part of the operator.
    """

    __slots__ = ("_args", "_callback", "_cancelled", "_loop", "_moment", "waiting")

    _context = None

    def __init__(
        self,
        moment: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: VirtualLoop,
    ) -> None:
        self._moment = moment
        self._callback = callback
        self._args = args
        self._loop = loop
        self._cancelled = False
        self.waiting = True

    def when(self) -> float:
        return self._moment

    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._callback, self._args = _nothing, ()
            if self.waiting:
                self._loop.note_cancelled()


def _nothing() -> None:
    """The callback of a cancelled timer."""


class _ReadyCallback(asyncio.Handle):
    """A callback that runs at the next turn."""

    __slots__ = ()

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: VirtualLoop,
        context: Context,
    ) -> None:
        # Asyncio's own handle reads the debug mode of the loop each time.
        self._callback, self._args = callback, args
        self._loop, self._context = loop, context
        self._cancelled = False
        self._repr = self._source_traceback = None


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits; its time (`now`, in seconds) starts at zero."""

    def __init__(self) -> None:
        self._context = Context()  # of all timers
        self.now = 0.0
        self._ended = False
        self._limit = float("inf")
        self._idle = False
        self._halting = False
        self._turns = 0
        self._soon: deque[_ReadyCallback | _Timer] = deque()
        self._timers: list[tuple[float, int, _Timer]] = []  # a heap: time, and order of setting
        self._set = 0  # timers so far
        self._cancelled = 0  # cancelled timers that are still queued
        self._failures: list[BaseException] = []
        self.on_jump: Callable[[float], None] | None = None  # called before the clock jumps
        super().__init__()
        _rare_collection.begin()
        self.set_exception_handler(self._note_failure)

    def time(self) -> float:
        return self.now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if self._ended:
            raise RuntimeError("Event loop is closed")
        handle = _ReadyCallback(
            callback, args, self, copy_context() if context is None else context
        )
        self._soon.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)  # There is one thread.

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        if context is not None:
            return self.set_timer(to_micros(when), context.run, callback, *args)
        return self.set_timer(to_micros(when), callback, *args)

    def set_timer(
        self, moment: float, callback: Callable[..., object], *args: Any
    ) -> asyncio.TimerHandle:
        """Like `call_at`, for a time that is already rounded to microseconds."""
        if self._ended:
            raise RuntimeError("Event loop is closed")
        timer: Any = _Timer(moment, callback, args, self)  # It has all methods of a handle.
        self._set += 1
        heappush(self._timers, (moment, self._set, timer))
        handle: asyncio.TimerHandle = timer
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        if context is None:
            return self.set_timer(to_micros(self.now + delay), callback, *args)
        return self.call_at(self.now + delay, callback, *args, context=context)

    def jump_to(self, moment: float) -> bool:
        """Set the clock to the rounded time of a timer that was not set; False if it must be set.

        The last statement of a timer's callback may use it instead of a timer that would be the
        next thing to happen anyway.
        """
        if self._soon or self._halting or moment > self._limit:
            return False
        if self._timers and self._timers[0][0] <= moment:
            return False
        if moment > self.now:
            self._turns = 0
            if self.on_jump is not None:
                self._leave(moment)
            self.now = moment
        return True

    def stop(self) -> None:
        """End the run after this turn."""
        super().stop()
        self._halting = True

    def run_forever(self) -> None:
        """Run in the context of timers, so that their callbacks need not enter it one by one."""
        self._context.run(super().run_forever)

    def close(self) -> None:
        if not self._ended:
            _rare_collection.end()
        self._ended = True
        super().close()
        self._soon.clear()
        self._timers.clear()

    def run_to(self, limit: float) -> bool:
        """Run everything up to `limit` and set the clock to it; False if nothing is left to run."""
        self._limit = round(limit, DIGITS)
        self._idle = False
        try:
            self.run_forever()
        finally:
            if self._failures:
                failures, self._failures = self._failures, []
                raise SimulationError(f"an actor failed at {self.now:.6f}") from failures[0]
        return not self._idle

    def settle_at(self, moment: float) -> None:
        """Set the clock of an idle world to a later time; nothing happens in between."""
        moment = round(moment, DIGITS)
        if moment > self.now:
            self._leave(moment)
        self.now = max(self.now, moment)

    def _leave(self, upcoming: float) -> None:
        """Report that everything at the current time is done; the clock still shows this time."""
        if self.on_jump is not None:
            self.on_jump(upcoming)

    def _run_once(self) -> None:
        """Run until the loop is stopped; asyncio's loop calls this."""
        soon = self._soon
        while True:
            if self._cancelled:
                self._drop_cancelled()
            if soon or self._halting or self.on_jump or not self._jump_alone():
                self._make_ready()
            for _ in range(len(soon)):
                handle = soon.popleft()
                if handle._cancelled:
                    continue
                context = handle._context
                try:
                    if context is None:
                        handle._callback(*handle._args)
                    else:
                        context.run(handle._callback, *handle._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    self._failures.append(error)
                    self._halting = False
                    raise
            if self._halting:
                self._halting = False
                return

    def _jump_alone(self) -> bool:
        """Jump to the next timer, which becomes ready; True if nothing else is due at its time."""
        timers = self._timers
        if not timers:
            return False
        moment = timers[0][0]
        if not self.now < moment <= self._limit or moment - self.now > FAR:
            return False
        self._turns, self.now = 0, moment
        timer = heappop(timers)[2]
        timer.waiting = False
        self._soon.append(timer)
        return not timers or timers[0][0] != moment

    def _make_ready(self) -> None:
        """Begin a turn of callbacks: those that are ready, and the timers that are due now."""
        soon, timers = self._soon, self._timers
        if soon or self._halting or (timers and timers[0][0] <= self.now):
            self._turns += 1
            if self._turns > MOST_TURNS:
                self._turns = 0
                words = "time stands still: actors run in a circle"
                self._note_failure(self, {"message": words})
        else:
            self._move_on()
        while timers and timers[0][0] <= self.now:
            timer = heappop(timers)[2]
            timer.waiting = False
            if timer._cancelled:
                self._cancelled -= 1
            else:
                soon.append(timer)

    def _move_on(self) -> None:
        """Jump to the time of the next timer, because nothing is ready."""
        now = self.now
        self._turns = 0
        if not self._timers:
            self._idle = True
            self.stop()
            return
        upcoming = self._timers[0][0]
        if upcoming - now > FAR:
            upcoming = min(upcoming, round(now + LONGEST_JUMP, DIGITS))
        if self.on_jump is not None:
            self._leave(min(upcoming, self._limit))
        if upcoming > self._limit:
            self.now = max(now, self._limit)
            self.stop()
        else:
            self.now = upcoming

    def _drop_cancelled(self) -> None:
        """Remove the cancelled timers that would be next."""
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heappop(timers)[2].waiting = False
            self._cancelled -= 1

    def note_cancelled(self) -> None:
        """A queued timer was cancelled; if these are too many, all of them are removed."""
        self._cancelled += 1
        waiting = len(self._timers)
        if waiting > FEW_TIMERS and self._cancelled > MOST_CANCELLED * waiting:
            self._timers[:] = [each for each in self._timers if not each[2].cancelled()]
            heapify(self._timers)
            self._cancelled = 0

    def _note_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        cause = context.get("exception")
        if not isinstance(cause, BaseException):
            cause = SimulationError(str(context.get("message", "unknown error in the loop")))
        self._failures.append(cause)
        self.stop()


class SimClock:
    """The virtual wall clock: `start` plus the time of the loop."""

    def __init__(self, loop: VirtualLoop, start: datetime) -> None:
        self._loop = loop
        self._start = start
        self._shown = 0.0, start

    @property
    def start(self) -> datetime:
        return self._start

    def elapsed(self) -> float:
        """Virtual seconds since the start."""
        return self._loop.now

    def now(self) -> datetime:
        elapsed = self._loop.now
        if elapsed != self._shown[0]:
            self._shown = elapsed, self._start + timedelta(seconds=elapsed)
        return self._shown[1]

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))
