"""When a headroom is on: windows over given starts, without any cron."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headroom.core.headrooms.headrooms import Window
from headroom.core.headrooms.windows import (
    ActiveWindow,
    Occurrences,
    WindowRefused,
    active,
    judged,
    next_change,
    next_start,
)
from headroom.core.holds import Problem
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON
from tests.core.headroom_builder import headroom

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Every:
    """Starts at noon plus the offset, and every interval before and after."""

    interval: timedelta
    offset: timedelta = timedelta()

    def latest(self, moment: datetime) -> datetime | None:
        return moment - (moment - NOON - self.offset) % self.interval

    def next(self, moment: datetime) -> datetime | None:
        return moment - (moment - NOON - self.offset) % self.interval + self.interval


class Once:
    """Starts at noon, and never else."""

    def latest(self, moment: datetime) -> datetime | None:
        return NOON if moment >= NOON else None

    def next(self, moment: datetime) -> datetime | None:
        return NOON if moment < NOON else None


CRONS: dict[str, Occurrences] = {
    "daily": Every(24 * HOUR),
    "hourly": Every(HOUR),
    "at one": Every(24 * HOUR, HOUR),
    "once": Once(),
}


def calendar(start: str, zone: str) -> Occurrences | WindowRefused:
    return CRONS.get(start) or WindowRefused("start", f"{start!r} never fires in {zone}")


def window(start: str = "daily", hours: float = 2, **parts: Any) -> Window:
    return Window(start, hours * HOUR, **parts)


def on(*windows: Window, at: timedelta) -> ActiveWindow | None:
    """What is on at noon plus `at`; the size is three unless a window says another."""
    return active(headroom(Replicas(3), schedule=windows), NOON + at, calendar)


def changes(*windows: Window, at: timedelta) -> timedelta | None:
    """When the next change comes, counted from noon."""
    found = next_change(headroom(Replicas(3), schedule=windows), NOON + at, calendar)
    return found - NOON if found else None


def test_without_a_schedule_it_is_always_on_and_never_changes() -> None:
    assert on(at=HOUR) == ActiveWindow(Replicas(3))
    assert changes(at=HOUR) is None


def test_a_window_is_open_from_its_start_until_just_before_its_end() -> None:
    found = ActiveWindow(Replicas(3), NOON, NOON + 2 * HOUR)
    assert on(window(), at=-MINUTE) is None
    assert on(window(), at=timedelta()) == found
    assert on(window(), at=2 * HOUR - MINUTE) == found
    assert on(window(), at=2 * HOUR) is None


def test_the_lead_time_opens_it_earlier_and_does_not_move_its_end() -> None:
    early = window(lead_time=5 * MINUTE)
    found = ActiveWindow(Replicas(3), NOON - 5 * MINUTE, NOON + 2 * HOUR)
    assert on(early, at=-6 * MINUTE) is None
    assert on(early, at=-5 * MINUTE) == found
    assert on(early, at=HOUR) == found


def test_the_next_change_is_an_opening_or_an_end() -> None:
    early = window(lead_time=5 * MINUTE)
    assert changes(early, at=-HOUR) == -5 * MINUTE
    assert changes(early, at=-5 * MINUTE) == 2 * HOUR
    assert changes(early, at=timedelta()) == 2 * HOUR
    assert changes(early, at=2 * HOUR) == 24 * HOUR - 5 * MINUTE


def test_the_next_change_is_always_later_and_nothing_changes_before_it() -> None:
    windows = (window(lead_time=5 * MINUTE), window("at one", 0.5, replicas=9), window("hourly", 3))
    moment = timedelta()
    for _ in range(60):
        following = changes(*windows, at=moment)
        assert following is not None
        assert following > moment
        just_before = following - timedelta(microseconds=1)
        assert on(*windows, at=just_before) == on(*windows, at=moment)
        moment = following


def test_a_duration_longer_than_the_interval_never_ends_but_starts_anew() -> None:
    found = on(window("hourly", 3), at=2.5 * HOUR)
    assert found == ActiveWindow(Replicas(3), NOON + 2 * HOUR, NOON + 5 * HOUR)
    assert changes(window("hourly", 3), at=2.5 * HOUR) == 3 * HOUR


def test_the_larger_of_overlapping_windows_wins_while_it_lasts() -> None:
    windows = (window(hours=4, replicas=5), window("at one", 1, replicas=20))
    sizes = [found.size for at in (0, 1, 2) if (found := on(*windows, at=at * HOUR))]
    assert sizes == [Replicas(5), Replicas(20), Replicas(5)]
    assert changes(*windows, at=0 * HOUR) == HOUR
    assert changes(*windows, at=HOUR) == 2 * HOUR


def test_a_window_of_none_is_smaller_than_any() -> None:
    windows = (window(hours=4, replicas=0), window("at one", 1, replicas=1))
    found = on(*windows, at=HOUR)
    assert found is not None
    assert found.size == Replicas(1)


def test_of_equal_windows_the_one_that_opened_last_counts() -> None:
    found = on(window(hours=4), window("at one", 1), at=HOUR)
    assert found == ActiveWindow(Replicas(3), NOON + HOUR, NOON + 2 * HOUR)


def test_a_window_does_not_change_what_a_size_per_node_is() -> None:
    made = headroom(PerNode(slots=2), schedule=(window(),))
    found = active(made, NOON, calendar)
    assert found is not None
    assert found.size == PerNode(slots=2)


def test_a_start_that_never_comes_again_leaves_nothing_to_wait_for() -> None:
    assert on(window("once"), at=-HOUR) is None
    assert changes(window("once"), at=-HOUR) == timedelta()
    assert changes(window("once"), at=HOUR) == 2 * HOUR
    assert changes(window("once"), at=3 * HOUR) is None


def test_the_next_start_is_told_without_lead_time() -> None:
    made = headroom(schedule=(window(lead_time=5 * MINUTE), window("at one")))
    assert next_start(made, NOON - HOUR, calendar) == NOON
    assert next_start(made, NOON, calendar) == NOON + HOUR
    assert next_start(headroom(), NOON, calendar) is None


def test_a_window_that_can_never_open_is_a_problem_with_its_path() -> None:
    made = headroom(schedule=(window(), window("never", time_zone="Mars/Base")))
    assert judged(made, calendar).problems == (
        Problem("spec.schedule[1].start", "'never' never fires in Mars/Base"),
    )
    assert judged(headroom(schedule=(window(),)), calendar).problems == ()


def test_a_window_that_can_never_open_does_not_keep_the_others_shut() -> None:
    windows = (window("never"), window())
    assert on(*windows, at=HOUR) is not None
    assert changes(*windows, at=HOUR) == 2 * HOUR
    assert next_start(headroom(schedule=windows), NOON, calendar) == NOON + 24 * HOUR
