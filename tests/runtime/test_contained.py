"""A write that cannot be spelled out is refused by itself: the others go out, the process lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from headroom.core.actions import Action, CreateGuardian, Done, Outcome
from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Event, Seen, Synced
from headroom.runtime.clock import WallClock
from headroom.runtime.operator import Operator
from headroom.throttle import Throttle
from tests.builders import hold, node


class Breaking:
    """A cluster on which the guardian of the hold `odd` cannot be written."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.tried = asyncio.Event()

    async def watch(self) -> AsyncGenerator[Event, None]:
        yield Seen(node("a"))
        for name in ("odd", "fine"):
            yield Seen(hold(name, created=WallClock().now()))
        yield Synced()
        await asyncio.Event().wait()

    async def perform(self, action: Action) -> Outcome:
        if isinstance(action, CreateGuardian):
            if action.hold.parent.name == "odd":
                raise ZeroDivisionError("nobody thought of this")
            self.made.append(action.hold.parent.name)
            self.tried.set()
        return Done("made")


def test_a_write_that_breaks_hurts_no_other_and_is_told() -> None:
    async def story() -> None:
        cluster = Breaking()
        operator = Operator(cluster, WallClock(), Engine(Policy()))
        running = asyncio.create_task(operator.run())
        async with asyncio.timeout(30):
            await cluster.tried.wait()
        assert cluster.made == ["fine"]
        assert not running.done()
        (line,) = operator.contained()
        assert "ZeroDivisionError" in line
        operator.stop()
        await running

    asyncio.run(story())


def test_the_same_subject_speaks_once_in_a_while_and_many_subjects_only_so_often() -> None:
    throttle = Throttle(again=600, most=3, window=60)
    assert [throttle.allows("a", 0.0), throttle.allows("a", 1.0)] == [True, False]
    assert [throttle.allows(f"s{n}", 2.0) for n in range(4)] == [True, True, False, False]
    assert throttle.take_dropped() == 3
    assert throttle.allows("s9", 60.0)
    assert not throttle.allows("a", 61.0)
    assert throttle.allows("a", 600.0)
