"""The virtual loop runs callbacks in the order of asyncio's own loop; ties as they were set."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from contextvars import Context
from random import Random
from typing import Any, Protocol, TypeVarTuple

import pytest

from headroom.sim.loop import DIGITS, VirtualLoop

Ts = TypeVarTuple("Ts")

END = 50.0
STEPS = 400
HAIR = 1e-10
"""How much later asyncio's loop takes each timer than the one before: too little for the clock."""


class _Scheduling(Protocol):
    def time(self) -> float: ...

    def call_soon(self, callback: Callable[..., object], *args: Any) -> asyncio.Handle: ...

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any
    ) -> asyncio.TimerHandle: ...


class _NoFiles(selectors.BaseSelector):
    """Lets the clock jump instead of waiting for files."""

    def __init__(self, jump: Callable[[float | None], None]) -> None:
        self._jump = jump
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
        self._jump(timeout)
        return []


class _Asyncio(asyncio.SelectorEventLoop):
    """asyncio's own loop with a clock that jumps, and no two timers at one moment."""

    def __init__(self) -> None:
        self.now = 0.0
        self._set = 0
        super().__init__(_NoFiles(self._jump))
        self._clock_resolution = 10.0**-DIGITS

    def call_at(
        self,
        when: float,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        self._set += 1
        return super().call_at(when + self._set * HAIR, callback, *args, context=context)

    def time(self) -> float:
        return self.now

    def _jump(self, timeout: float | None) -> None:
        if timeout is None or self.now + timeout > END:
            self.stop()
        else:
            self.now = round(self.now + timeout, DIGITS)


class _Script:
    """Callbacks that make and cancel others, at times of which many are the same."""

    def __init__(self, loop: _Scheduling, seed: int) -> None:
        self._loop = loop
        self._random = Random(seed)
        self._timers: list[asyncio.TimerHandle] = []
        self._made = 0
        self.seen: list[tuple[float, int]] = []

    def step(self, number: int) -> None:
        self.seen.append((self._loop.time(), number))
        for _ in range(self._random.randrange(1, 5)):
            if self._made >= STEPS:
                return
            self._made += 1
            if self._random.random() < 0.2:
                self._loop.call_soon(self.step, self._made)
                continue
            when = self._loop.time() + self._random.choice((0.0, 0.5, 0.5, 1.0, 3.0))
            self._timers.append(self._loop.call_at(when, self.step, self._made))
        for _ in range(self._random.randrange(0, 3)):
            self._random.choice(self._timers or [self._loop.call_at(END, id, 0)]).cancel()

    def many(self) -> None:
        """More timers than asyncio keeps cancelled ones of, most of them cancelled."""
        timers = [self._loop.call_at(1.0 + i % 7, self.step, -i) for i in range(300)]
        for timer in self._random.sample(timers, 200):
            timer.cancel()


@pytest.mark.parametrize("seed", range(20))
def test_callbacks_run_in_the_order_of_asyncio(seed: int) -> None:
    seen = []
    for loop in (_Asyncio(), VirtualLoop()):
        script = _Script(loop, seed)
        script.many()
        loop.call_soon(script.step, 0)
        if isinstance(loop, VirtualLoop):
            loop.run_to(END)
        else:
            loop.run_forever()
        loop.close()
        seen.append(script.seen)
    assert seen[0] == seen[1]
    assert len(seen[0]) > 100
