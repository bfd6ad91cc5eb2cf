"""An operator that is asked to stop stops, whatever comes in at that very moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from headroom.core.actions import Action, Done, Outcome
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Event, Seen, Synced
from headroom.runtime.clock import WallClock
from headroom.runtime.operator import Operator
from headroom.runtime.reporter import NullReporter
from tests.builders import hold, node


class Busy:
    """A cluster with one hold, and news when it is told to have some."""

    def __init__(self) -> None:
        self.news = asyncio.Event()

    async def watch(self) -> AsyncGenerator[Event, None]:
        yield Seen(node("a"))
        yield Seen(hold("h", created=WallClock().now()))
        yield Synced()
        while True:
            await self.news.wait()
            self.news.clear()
            yield Seen(node("a"))

    async def perform(self, action: Action) -> Outcome:
        return Done("made")


@pytest.mark.parametrize("moments", range(8))
def test_news_that_come_with_the_wish_to_stop_do_not_keep_it_running(moments: int) -> None:
    async def story() -> None:
        cluster = Busy()
        operator = Operator(cluster, WallClock(), Engine(Policy()))
        running = asyncio.create_task(operator.run())
        for _ in range(50):
            await asyncio.sleep(0)
        operator.stop()
        for _ in range(moments):
            await asyncio.sleep(0)
        cluster.news.set()
        async with asyncio.timeout(10):
            await running

    asyncio.run(story())


class Strict(NullReporter):
    """A reporter that finds a bug in the driver."""

    def observed(self, event: Event) -> None:
        if isinstance(event, Synced):
            raise ZeroDivisionError


def test_a_bug_in_the_driver_ends_the_run() -> None:
    async def story() -> None:
        operator = Operator(Busy(), WallClock(), Engine(Policy()), reporter=Strict())
        async with asyncio.timeout(10):
            with pytest.raises(ZeroDivisionError):
                await operator.run()

    asyncio.run(story())
