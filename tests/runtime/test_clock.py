"""The operator's clock: the machine's own, set right by the API server's where they are apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headroom.kube.servertime import ServerTime
from headroom.runtime.clock import ServerClock

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize("minutes", [-10, 10])
def test_a_clock_that_is_off_is_set_once_and_does_not_jump_about(minutes: int) -> None:
    told: list[timedelta] = []
    skew = timedelta(minutes=minutes)
    wall, server = [NOON + skew], [NOON]
    clock = ServerClock(lambda: server[0], lambda: wall[0], told.append)
    assert clock.now() == NOON
    for number in range(100):
        wall[0] += timedelta(seconds=1)
        server[0] += timedelta(seconds=1, milliseconds=10 if number % 2 else -10)
        assert abs(clock.now() - server[0]) <= timedelta(seconds=2)
    assert told == [-skew]


def test_clocks_that_agree_are_left_alone() -> None:
    clock = ServerClock(lambda: NOON, lambda: NOON + timedelta(seconds=1.5))
    assert clock.now() == NOON + timedelta(seconds=1.5)
    assert ServerClock(lambda: None, lambda: NOON).now() == NOON


def test_a_machine_whose_clock_is_mended_is_followed() -> None:
    wall = [NOON + timedelta(minutes=10)]
    told: list[timedelta] = []
    clock = ServerClock(lambda: NOON, lambda: wall[0], told.append)
    assert clock.now() == NOON
    wall[0] = NOON
    assert clock.now() == NOON
    assert told == [timedelta(minutes=-10), timedelta()]


def test_the_servers_time_goes_on_between_answers_and_nonsense_changes_nothing() -> None:
    seconds = [100.0]
    server = ServerTime(lambda: seconds[0])
    assert server.now() is None
    server.note("Mon, 04 Jan 2027 12:00:00 GMT")
    half = timedelta(milliseconds=500)
    assert server.now() == NOON + half
    seconds[0] += 60
    for odd in ("", "yesterday", "9" * 10_000, "Mon, 99 Jan 99999 12:00:00 GMT", None):
        server.note(odd)
    assert server.now() == NOON + half + timedelta(seconds=60)
    server.note("Mon, 04 Jan 2027 13:00:00 GMT")
    assert server.now() == NOON + half + timedelta(hours=1)


def test_clocks_that_part_are_noticed_within_a_second() -> None:
    wall, server = [NOON], [NOON]
    clock = ServerClock(lambda: server[0], lambda: wall[0])
    assert clock.now() == NOON
    server[0] += timedelta(minutes=5)
    wall[0] += timedelta(seconds=1)
    assert clock.now() == server[0]
