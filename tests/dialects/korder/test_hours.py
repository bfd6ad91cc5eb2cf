"""Hours in cron's fields are times that last: open in every minute that the fields allow."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from headroom.dialects.korder.rules.hours import look_again, parse_hours

MONDAY = datetime(2027, 1, 4, tzinfo=UTC)
SUNDAY = datetime(2027, 1, 3, tzinfo=UTC)


def at(hour: int, minute: int = 0, day: datetime = MONDAY) -> datetime:
    return day + timedelta(hours=hour, minutes=minute)


@pytest.mark.parametrize(
    ("text", "open_at", "closed_at"),
    [
        ("0 9-17 * * 1-5", (at(9), at(12, 34), at(17, 59)), (at(8, 59), at(18), at(12, 0, SUNDAY))),
        ("0 18-8 * * *", (at(18), at(23, 59), at(0), at(8, 59)), (at(9), at(17, 59))),
        ("0 2-4 * * 0", (at(2, 0, SUNDAY), at(4, 59, SUNDAY)), (at(2), at(5, 0, SUNDAY))),
        ("0 9 * * *", (at(9), at(9, 59)), (at(8, 59), at(10))),
        ("* 9 * * *", (at(9), at(9, 59)), (at(10),)),
        ("0 * * * sun", (at(0, 0, SUNDAY), at(23, 59, SUNDAY)), (at(0),)),
        ("0 * * * 7", (at(5, 0, SUNDAY),), (at(5),)),
        ("0 * * * fri-mon", (at(1), at(1, 0, SUNDAY)), (at(25), at(73))),
        ("0-29 9 * * *", (at(9), at(9, 29)), (at(9, 30),)),
        ("*/20 9 * * *", (at(9), at(9, 40)), (at(9, 1),)),
        ("0 1-5,10 * * *", (at(5, 59), at(10, 30)), (at(6), at(11))),
        ("0 8-20/6 * * *", (at(8), at(14), at(20, 30)), (at(9), at(13))),
        ("0 * 4 * *", (at(3),), (at(3, 0, SUNDAY),)),
        ("0 * * feb *", (datetime(2027, 2, 9, tzinfo=UTC),), (at(3),)),
        ("0 * * 12-2 *", (at(3),), (datetime(2027, 3, 9, tzinfo=UTC),)),
        ("0 * ? * ?", (at(3), at(3, 0, SUNDAY)), ()),
    ],
)
def test_a_window_is_open_in_every_minute_that_its_fields_allow(
    text: str, open_at: tuple[datetime, ...], closed_at: tuple[datetime, ...]
) -> None:
    hours = parse_hours(text)
    assert [moment for moment in open_at if not hours.open_at(moment)] == []
    assert [moment for moment in closed_at if hours.open_at(moment)] == []


def test_day_and_night_leave_no_gap_and_no_overlap() -> None:
    day, night = parse_hours("0 9-17 * * *"), parse_hours("0 18-8 * * *")
    minutes = [MONDAY + timedelta(minutes=number) for number in range(24 * 60)]
    assert all(day.open_at(moment) != night.open_at(moment) for moment in minutes)


def test_where_day_of_month_and_of_week_are_both_said_either_will_do() -> None:
    hours = parse_hours("0 * 1 * 1")
    assert hours.open_at(MONDAY)
    assert hours.open_at(datetime(2027, 1, 1, tzinfo=UTC))
    assert not hours.open_at(SUNDAY)


def test_hours_are_those_of_utc() -> None:
    elsewhere = timezone(timedelta(hours=5))
    assert parse_hours("0 9 * * *").open_at(at(9, 30).astimezone(elsewhere))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("9-17", "five fields"),
        ("", "five fields"),
        ("0 25 * * *", "'25' is not a valid hour, which is 0 to 23"),
        ("0 9-x * * *", "'x' is not a valid hour"),
        ("60 * * * *", "not a valid minute"),
        ("0 * 0 * *", "not a valid day of month"),
        ("0 * * 13 *", "not a valid month"),
        ("0 * * * 8", "not a valid day of week"),
        ("0 9- * * *", "'9-' is not a valid hour; use a number, range or *"),
        ("0 */0 * * *", "a step is 1 to"),
        ("0 9,, * * *", "is not a valid hour"),
        ("0 99999999999999999999 * * *", "is not a valid hour"),
    ],
)
def test_what_makes_no_hours_is_told(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse_hours(text)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (at(8, 59), at(9)),
        (at(9), at(18)),
        (at(9, 30), at(18)),
        (at(17, 59) + timedelta(seconds=59, microseconds=5), at(18)),
        (at(20), at(33)),
    ],
)
def test_the_next_look_is_when_a_window_opens_or_closes(now: datetime, then: datetime) -> None:
    assert look_again([parse_hours("0 9-17 * * 1-5")], now) == then


def test_windows_by_the_minute_are_followed_by_the_minute() -> None:
    assert look_again([parse_hours("30-44 9 * * *")], at(9, 31)) == at(9, 45)


def test_with_several_windows_the_first_to_turn_counts() -> None:
    windows = [parse_hours("0 9-17 * * *"), parse_hours("0 12 * * *")]
    assert look_again(windows, at(9, 30)) == at(12)


def test_what_does_not_turn_for_long_is_looked_at_once_a_day() -> None:
    assert look_again([parse_hours("0 * 29 2 *")], at(9, 30)) == at(33)
