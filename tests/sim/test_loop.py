"""Virtual time passes only through events, and as far as it is told."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from headroom.sim.errors import SimulationError
from headroom.sim.loop import DIGITS, SimClock, VirtualLoop, to_micros
from headroom.sim.world import SimWorld

START = datetime(2027, 1, 4, 7, 0, tzinfo=UTC)


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    made = VirtualLoop()
    yield made
    made.close()


def test_sleeping_takes_virtual_time_only(loop: VirtualLoop) -> None:
    seen: list[float] = []

    async def sleeper() -> None:
        await asyncio.sleep(86_400 * 30)
        seen.append(loop.time())

    loop.create_task(sleeper())
    loop.run_to(86_400 * 31)
    assert seen == [86_400 * 30]


def test_time_stops_at_the_limit_and_goes_on_from_there(loop: VirtualLoop) -> None:
    seen: list[float] = []
    loop.call_at(1.0, seen.append, 1.0)
    loop.call_at(2.0, seen.append, 2.0)
    assert loop.run_to(1.5)
    assert (seen, loop.time()) == ([1.0], 1.5)
    assert not loop.run_to(5.0)
    assert seen == [1.0, 2.0]


def test_an_idle_world_says_so_and_its_clock_stands(loop: VirtualLoop) -> None:
    loop.call_at(3.0, lambda: None)
    assert not loop.run_to(100.0)
    assert loop.time() == 3.0


def test_what_is_due_at_the_limit_still_happens(loop: VirtualLoop) -> None:
    seen: list[str] = []
    loop.call_at(2.0, seen.append, "due")
    loop.run_to(2.0)
    assert seen == ["due"]


def test_a_moment_is_one_moment_however_its_floats_were_added(loop: VirtualLoop) -> None:
    seen: list[float] = []
    loop.call_at(0.1 + 0.2, lambda: seen.append(loop.time()))
    loop.call_at(0.3, lambda: seen.append(loop.time()))
    loop.run_to(1.0)
    assert seen == [0.3, 0.3]


def test_times_are_rounded_as_python_rounds_them() -> None:
    chance = Random(1)
    ties = [chance.randrange(10**13) / 1e6 + 5e-7 for _ in range(10_000)]
    others = [chance.uniform(-1.0, 10.0 ** chance.randrange(9)) for _ in range(10_000)]
    for seconds in (*ties, *others, 0.0, float("inf")):
        assert to_micros(seconds) == round(seconds, DIGITS)


def test_a_failing_actor_stops_the_run_loudly(loop: VirtualLoop) -> None:
    def broken() -> None:
        raise ValueError("oh")

    loop.call_at(1.0, broken)
    with pytest.raises(SimulationError, match="actor failed at 1"):
        loop.run_to(5.0)


def test_two_actors_in_a_circle_are_found_out(
    loop: VirtualLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headroom.sim.loop.MOST_TURNS", 1000)

    def again() -> None:
        loop.call_soon(again)

    again()
    with pytest.raises(SimulationError) as caught:
        loop.run_to(1.0)
    assert "circle" in str(caught.value.__cause__)


def test_the_wall_clock_follows_the_loop(loop: VirtualLoop) -> None:
    clock = SimClock(loop, START)
    loop.call_at(90.5, lambda: None)
    loop.run_to(90.5)
    assert clock.now() == START + timedelta(seconds=90.5)


def test_a_wait_in_virtual_time_ends_at_its_limit() -> None:
    with SimWorld(seed=1) as world:
        world.run_for(1 / 3)
        before = world.elapsed
        assert not world.run_until(lambda: False, limit=0.7, step=0.05)
        assert world.elapsed - before == pytest.approx(0.7)


def test_the_garbage_collector_is_as_it_was_after_a_run() -> None:
    before, seen = gc.get_threshold(), []
    loop = VirtualLoop()
    loop.call_later(1.0, lambda: seen.append(gc.get_threshold()))
    loop.call_later(2.0, lambda: 1 / 0)
    with pytest.raises(SimulationError):
        loop.run_to(3.0)
    loop.close()
    assert gc.get_threshold() == before
    assert seen[0][0] > before[0]


def test_a_callback_may_jump_to_a_time_if_nothing_happens_before(loop: VirtualLoop) -> None:
    jumped: list[tuple[bool, float]] = []

    def jump(moment: float) -> None:
        jumped.append((loop.jump_to(moment), loop.time()))

    loop.call_at(1.0, jump, 2.0)
    loop.call_at(3.0, jump, 4.0)  # Another timer has that time.
    loop.call_at(4.0, jump, 9.0)  # That is after the end.
    loop.run_to(8.0)
    assert jumped == [(True, 2.0), (False, 3.0), (False, 4.0)]


def test_nobody_jumps_over_what_is_ready(loop: VirtualLoop) -> None:
    jumped: list[bool] = []
    order: list[str] = []

    def jump() -> None:
        loop.call_soon(order.append, "ready")
        jumped.append(loop.jump_to(2.0))
        order.append("jumped")

    loop.call_at(1.0, jump)
    loop.run_to(8.0)
    assert (jumped, order) == ([False], ["jumped", "ready"])


def test_a_jump_is_told_like_any_other(loop: VirtualLoop) -> None:
    told: list[float] = []
    loop.on_jump = told.append
    loop.call_at(1.0, loop.jump_to, 2.0)
    loop.run_to(8.0)
    assert told == [1.0, 2.0]


def test_timers_that_are_due_together_run_before_what_they_schedule(loop: VirtualLoop) -> None:
    order: list[str] = []

    def first() -> None:
        order.append("first")
        loop.call_soon(order.append, "soon")
        loop.call_later(0.0, order.append, "later")

    loop.call_at(1.0, first)
    loop.call_at(1.0, order.append, "second")
    loop.run_to(2.0)
    assert order == ["first", "second", "soon", "later"]


def test_who_interrupts_a_run_is_not_a_failing_actor(loop: VirtualLoop) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    seen: list[float] = []
    loop.call_at(1.0, interrupt)
    loop.call_at(1.0, seen.append, 1.0)
    with pytest.raises(KeyboardInterrupt):
        loop.run_to(5.0)
    loop.run_to(5.0)
    assert seen == [1.0]


def test_timers_run_in_no_context_of_who_set_them(loop: VirtualLoop) -> None:
    mark: ContextVar[str] = ContextVar("mark", default="none")
    seen: list[str] = []

    async def marked() -> None:
        mark.set("task")
        loop.call_later(1.0, lambda: seen.append(mark.get()))
        await asyncio.sleep(2.0)
        seen.append(mark.get())

    loop.create_task(marked())
    loop.run_to(5.0)
    assert seen == ["none", "task"]


def test_cancelled_timers_among_others_are_skipped(loop: VirtualLoop) -> None:
    seen: list[int] = []
    timers = [loop.call_at(1.0 + index // 2, seen.append, index) for index in range(300)]
    for index, timer in enumerate(timers):
        if index % 3:
            timer.cancel()
    loop.run_to(1000.0)
    assert seen == list(range(0, 300, 3))
    assert loop.time() == timers[297].when()
