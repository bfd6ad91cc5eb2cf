"""A stream without a chunk for too long: noticed on time, and only if its reader waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from aiohttp import SocketTimeoutError, StreamReader
from aiohttp.base_protocol import BaseProtocol

from headroom.kube.client import Client, Tuning
from headroom.kube.connections.silence import SilenceTimer
from headroom.kube.errors import Silence
from tests.kube.fakeapi import FakeApi, run


class Clock:
    """The time and the timers of an event loop, moved by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, ring: Callable[[], None]) -> Clock:
        self.timers.append((self.now + delay, ring))
        return self

    def cancel(self) -> None:
        self.timers.clear()

    def pass_until(self, now: float) -> None:
        while self.timers and self.timers[0][0] <= now:
            self.now, ring = self.timers.pop(0)
            ring()
        self.now = now


def stream() -> tuple[StreamReader, Clock, SilenceTimer]:
    """A stream that may be silent for ten seconds."""
    loop, clock = asyncio.get_running_loop(), Clock()
    protocol = BaseProtocol(loop)
    protocol.transport = asyncio.Transport()
    content = StreamReader(protocol, 2**16, loop=loop)
    return content, clock, SilenceTimer(content, 10, cast(Any, clock))


async def reading(timer: SilenceTimer) -> asyncio.Task[bytes]:
    task = asyncio.create_task(timer.next_chunk())
    await asyncio.sleep(0)
    return task


def test_silence_counts_from_the_last_chunk() -> None:
    async def main() -> None:
        content, clock, timer = stream()
        for at in (8.0, 17.0, 26.0):
            task = await reading(timer)
            clock.pass_until(at)
            content.feed_data(b"one")
            assert await task == b"one"
        task = await reading(timer)
        clock.pass_until(35.9)
        assert content.exception() is None
        clock.pass_until(36.0)
        with pytest.raises(SocketTimeoutError):
            await task
        assert not clock.timers

    run(main())


def test_a_reader_that_takes_its_time_is_not_a_silent_server() -> None:
    async def main() -> None:
        content, clock, timer = stream()
        content.feed_data(b"one")
        assert await timer.next_chunk() == b"one"
        clock.pass_until(100.0)
        content.feed_data(b"two")
        assert await timer.next_chunk() == b"two"
        assert len(clock.timers) == 1
        timer.stop()
        assert not clock.timers

    run(main())


def test_a_stream_without_an_answer_is_silent() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.gate = asyncio.Event()
            client = Client(api.access(), Tuning(request_seconds=10))
            with pytest.raises(Silence, match="nothing was received"):
                async with client.stream("/x", "watch", quiet=0.03):
                    pass
            await client.close()

    run(main())
