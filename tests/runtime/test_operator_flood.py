"""Tens of thousands of events at once do not delay those who came before them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from headroom.core.actions import Action, CreateGuardian, Done, Outcome
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Event, Seen, Synced
from headroom.runtime.clock import WallClock
from headroom.runtime.operator import MOST_OBSERVED, Operator
from headroom.runtime.reporter import NullReporter
from tests.builders import hold, node

FLOOD = 5 * MOST_OBSERVED


class Counting(NullReporter):
    """Counts what was observed."""

    def __init__(self) -> None:
        self.count = 0

    def observed(self, event: Event) -> None:
        self.count += 1


class Flooded:
    """A cluster that tells of a new hold, and of thousands of nodes in the same moment."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting
        self.observed_when_made = asyncio.get_running_loop().create_future()

    async def watch(self) -> AsyncGenerator[Event, None]:
        yield Seen(node("a"))
        yield Synced()
        yield Seen(hold("h", created=WallClock().now()))
        for number in range(FLOOD):
            yield Seen(node(f"n-{number}"))
        await asyncio.Event().wait()

    async def perform(self, action: Action) -> Outcome:
        if isinstance(action, CreateGuardian) and not self.observed_when_made.done():
            self.observed_when_made.set_result(self.counting.count)
        return Done("made")


def test_a_hold_is_served_before_all_that_came_after_it_is_observed() -> None:
    async def story() -> None:
        counting = Counting()
        cluster = Flooded(counting)
        operator = Operator(cluster, WallClock(), Engine(Policy()), reporter=counting)
        running = asyncio.create_task(operator.run())
        async with asyncio.timeout(60):
            assert await cluster.observed_when_made < FLOOD
            operator.stop()
            await running

    asyncio.run(story())
