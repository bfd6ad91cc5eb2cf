"""Cron expressions in time zones: names, the nights when clocks change, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.core.headrooms.headrooms import Window
from headroom.core.headrooms.windows import Occurrences, WindowRefused, active, judged, next_change
from headroom.core.sizes.replicas import Replicas
from headroom.engine.cron import NAMES, calendar, cron_refusal
from tests.core.headroom_builder import headroom

ZURICH = "Europe/Zurich"
NEW_YORK = "America/New_York"


def starts(expression: str, zone: str = "UTC") -> Occurrences:
    found = calendar(expression, zone)
    assert not isinstance(found, WindowRefused)
    return found


def local(text: str, zone: str) -> datetime:
    """A moment by the clock on the wall of a zone; with an offset, that one."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))


def following(expression: str, zone: str, after: str, count: int = 3) -> list[str]:
    """The next starts, as the clock on the wall shows them."""
    moment, told = local(after, zone), []
    for _ in range(count):
        found = starts(expression, zone).next(moment)
        assert found is not None
        told.append(found.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M%z"))
        moment = found
    return told


def test_an_office_day_starts_by_the_local_clock_all_year() -> None:
    assert following("0 8 * * 1-5", ZURICH, "2027-03-25T12:00", 3) == [
        "03-26 08:00+0100",
        "03-29 08:00+0200",
        "03-30 08:00+0200",
    ]


@pytest.mark.parametrize(
    ("zone", "after", "expression", "told"),
    [
        # 2027-03-28 02:00 to 03:00 does not happen in Zurich.
        (ZURICH, "2027-03-27T12:00", "30 2 * * *", ["03-28 03:00+0200", "03-29 02:30+0200"]),
        # 2027-10-31 02:00 to 03:00 happens twice.
        (ZURICH, "2027-10-30T12:00", "30 2 * * *", ["10-31 02:30+0200", "11-01 02:30+0100"]),
        (NEW_YORK, "2027-03-13T12:00", "30 2 * * *", ["03-14 03:00-0400", "03-15 02:30-0400"]),
        (NEW_YORK, "2027-11-06T12:00", "30 1 * * *", ["11-07 01:30-0400", "11-08 01:30-0500"]),
        # In the second of the two hours: what came in the first does not come again.
        (ZURICH, "2027-10-31T02:15+01:00", "30 2 * * *", ["11-01 02:30+0100", "11-02 02:30+0100"]),
        # What repeats by the minute goes on through both.
        (
            ZURICH,
            "2027-10-31T02:30+02:00",
            "*/30 * * * *",
            ["10-31 02:00+0100", "10-31 02:30+0100"],
        ),
    ],
)
def test_a_start_comes_once_where_the_clocks_change(
    zone: str, after: str, expression: str, told: list[str]
) -> None:
    assert following(expression, zone, after, 2) == told


@pytest.mark.parametrize(
    ("zone", "at", "expression", "told"),
    [
        (ZURICH, "2027-03-28T03:00", "30 2 * * *", "2027-03-28T03:00+02:00"),
        (ZURICH, "2027-03-28T01:59", "30 2 * * *", "2027-03-27T02:30+01:00"),
        (ZURICH, "2027-03-28T12:00", "30 2 * * *", "2027-03-28T03:00+02:00"),
        (ZURICH, "2027-10-31T02:15+01:00", "30 2 * * *", "2027-10-31T02:30+02:00"),
        (ZURICH, "2027-10-31T02:45+01:00", "30 2 * * *", "2027-10-31T02:30+02:00"),
        (NEW_YORK, "2027-03-14T12:00", "30 2 * * *", "2027-03-14T03:00-04:00"),
        (NEW_YORK, "2027-11-07T01:29-05:00", "30 1 * * *", "2027-11-07T01:30-04:00"),
    ],
)
def test_the_latest_start_is_found_where_the_clocks_change(
    zone: str, at: str, expression: str, told: str
) -> None:
    assert starts(expression, zone).latest(local(at, zone)) == datetime.fromisoformat(told)


def test_a_start_is_at_or_before_for_the_latest_and_after_for_the_next() -> None:
    noon = datetime(2027, 1, 4, 12, tzinfo=UTC)
    daily = starts("0 12 * * *")
    assert (daily.latest(noon), daily.next(noon)) == (noon, noon + timedelta(days=1))
    just_before = noon - timedelta(microseconds=1)
    assert (daily.latest(just_before), daily.next(just_before)) == (noon - timedelta(days=1), noon)


EXPRESSIONS = (
    "30 2 * * *",
    "0 2,3 * * *",
    "15 1-3 * * 0",
    "*/20 * * * *",
    "0 */3 * * *",
    "0 0 1 * *",
    "45 23 * * 6L",
)
NIGHTS = ("2027-03-28", "2027-10-31", "2027-03-14", "2027-11-07", "2027-04-04", "2027-06-01")


@given(
    st.sampled_from(EXPRESSIONS),
    st.sampled_from((ZURICH, NEW_YORK, "UTC", "Australia/Lord_Howe")),
    st.sampled_from(NIGHTS),
    st.integers(-300, 900),
)
def test_going_back_and_going_on_agree(
    expression: str, zone: str, night: str, minutes: int
) -> None:
    asked = starts(expression, zone)
    moment = datetime.fromisoformat(night).replace(tzinfo=UTC) + timedelta(minutes=minutes)
    latest, after = asked.latest(moment), asked.next(moment)
    assert latest is not None
    assert after is not None
    assert latest <= moment < after
    # No start lies between the two, whichever way one comes from.
    assert asked.next(latest) == after
    assert asked.latest(after - timedelta(seconds=1)) == latest
    assert asked.next(latest - timedelta(seconds=1)) == latest


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    moments = [datetime(2027, 10, 31, 0, tzinfo=UTC) + timedelta(minutes=m) for m in range(300)]
    asked = starts("30 2 * * *", ZURICH)
    forwards = [(asked.latest(moment), asked.next(moment)) for moment in moments]
    backwards = [(asked.latest(moment), asked.next(moment)) for moment in reversed(moments)]
    assert forwards == backwards[::-1]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_names_stand_for_what_they_say(name: str) -> None:
    moment = datetime(2027, 1, 4, 12, 30, tzinfo=UTC)
    assert starts(name).next(moment) == starts(NAMES[name]).next(moment)
    assert cron_refusal(name.upper()) is None


def test_a_question_mark_is_any_day() -> None:
    moment = datetime(2027, 1, 4, tzinfo=UTC)
    for one, other in (("0 8 ? * 1-5", "0 8 * * 1-5"), ("0 8 1 * ?", "0 8 1 * *")):
        assert starts(one).next(moment) == starts(other).next(moment)


@pytest.mark.parametrize("zone", ["UTC", ZURICH])
def test_a_leap_day_is_far_but_comes(zone: str) -> None:
    found = starts("0 0 29 2 *", zone)
    assert following("0 0 29 2 *", zone, "2027-01-01T00:00", 1)[0].startswith("02-29")
    assert found.latest(datetime(2027, 1, 1, tzinfo=UTC)) is not None


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("0 0 30 2 *", "never fires: no such month has such a day"),
        ("0 0 31 2,4,6 *", "never fires"),
        ("0 0 31 11 ?", "never fires"),
        ("61 * * * *", "is not a cron expression: bad minute"),
        ("* 25 * * *", "bad hour"),
        ("* * 32 * *", "bad day-of-month"),
        ("* * * 13 *", "bad month"),
        ("* * * * 9", "bad day-of-week"),
        ("? * * * *", "bad minute"),
        ("0 8 * * MON-", "bad day-of-week"),
        ("*/0 * * * *", "bad minute"),
        ("0 8 * *", "use five fields"),
        ("0 0 8 * * *", "use five fields"),
        ("", "use five fields"),
        ("@reboot", "or one of @yearly"),
        ("@every 5m", "use five fields"),
        ("TZ=Europe/Zurich 0 8 * * *", "use five fields"),
        ("0 " * 200, "is longer than 128"),
    ],
)
def test_an_expression_that_makes_no_sense_says_why(expression: str, says: str) -> None:
    assert says in str(cron_refusal(expression))
    assert calendar(expression, "UTC") == WindowRefused("start", str(cron_refusal(expression)))


@given(st.text(alphabet="0123456789*/,-?#LWMONTUESFRIJA@ ", max_size=30))
def test_no_expression_is_worse_than_refused(expression: str) -> None:
    found = calendar(expression, ZURICH)
    assert (
        isinstance(found, WindowRefused) or found.next(datetime(2027, 1, 4, tzinfo=UTC)) is not None
    )


@pytest.mark.parametrize(
    "zone",
    ["Mars/Base", "Europe", "europe/zurich/", "", "../UTC", "/etc/passwd", "localtime", "Local"],
)
def test_an_unknown_time_zone_is_told_with_its_field(zone: str) -> None:
    found = calendar("0 8 * * *", zone)
    assert isinstance(found, WindowRefused)
    assert found.field == "timeZone"
    assert repr(zone) in found.message


def test_problems_name_the_window_and_the_field() -> None:
    day = timedelta(hours=10)
    made = headroom(
        schedule=(
            Window("0 8 * * 1-5", day, ZURICH),
            Window("0 0 30 2 *", day),
            Window("@daily", day, "Europe/Zürich"),
        )
    )
    assert [problem.path for problem in judged(made, calendar).problems] == [
        "spec.schedule[1].start",
        "spec.schedule[2].timeZone",
    ]


def test_a_night_of_ten_hours_is_ten_hours_long_also_when_the_clocks_change() -> None:
    made = headroom(Replicas(3), schedule=(Window("0 20 * * *", timedelta(hours=10), ZURICH),))
    night = local("2027-03-28T01:00", ZURICH)
    found = active(made, night, calendar)
    assert found is not None
    assert found.ends_at == local("2027-03-28T07:00+02:00", ZURICH)
    assert next_change(made, night, calendar) == found.ends_at
