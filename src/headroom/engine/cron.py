"""Cron expressions in IANA time zones: the calendar for `core.windows`.

`cronsim` does the arithmetic, as Debian's cron does: a start that a clock change skips takes place
right after the change, one that occurs twice takes place once. This module adds the names
(`@daily`), the `?` of other crons, error messages for invalid expressions, and a cache of answers,
because they are needed far more often than they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from headroom.core.headrooms.windows import Occurrences, WindowRefused

NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_LONGEST = 128
LONGEST_REMEMBERED = 256  # Memory is not there for tenants to fill with long texts.
_SOME_DAY = datetime(2024, 1, 1, tzinfo=UTC)
# More than any clock is ever set by: around such an hour cronsim may miss a start backwards, or
# give one forwards that is past already.
_CLOCK_CHANGE = timedelta(hours=3)


def calendar(expression: str, zone: str) -> Occurrences | WindowRefused:
    """Read a cron expression of five fields (or a name such as @daily) in a time zone."""
    short = len(expression) + len(zone) <= LONGEST_REMEMBERED
    return _remembered(expression, zone) if short else _read(expression, zone)


@lru_cache(maxsize=4096)
def _remembered(expression: str, zone: str) -> Occurrences | WindowRefused:
    return _read(expression, zone)


def _read(expression: str, zone: str) -> Occurrences | WindowRefused:
    spelled = _spelled(expression)
    refusal = cron_refusal(expression)
    if refusal is not None:
        return WindowRefused("start", refusal)
    place = zone_named(zone)
    if place is None:
        return WindowRefused(
            "timeZone", f"{zone!r} is not a time zone; write for example UTC or Europe/Zurich"
        )
    return Starts(spelled, place)


def cron_refusal(expression: str) -> str | None:
    """Say what is wrong with a cron expression, or None."""
    if len(expression) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    fields = _spelled(expression).split()
    if len(fields) != 5:
        names = ", ".join(NAMES)
        return (
            f"{expression!r} is not a cron expression: use five fields (minute, hour, "
            f"day of month, month, day of week) or one of {names}"
        )
    trouble = _trouble(" ".join(fields))
    if trouble is None:
        fires = next(CronSim(" ".join(fields), _SOME_DAY), None) is not None
        return None if fires else f"{expression!r} never fires"
    every_month = " ".join((*fields[:3], "*", fields[4]))
    if "day-of-month" in trouble and _trouble(every_month) is None:
        return f"{expression!r} never fires: no such month has such a day"
    return f"{expression!r} is not a cron expression: {trouble[0].lower()}{trouble[1:]}"


@dataclass(frozen=True, slots=True)
class Starts:
    """The starts of one expression, which are at whole minutes."""

    expression: str
    zone: ZoneInfo

    def latest(self, moment: datetime) -> datetime | None:
        """The last start at or before a moment."""
        return _around(self, moment.replace(second=0, microsecond=0))[0]

    def next(self, moment: datetime) -> datetime | None:
        """The first start after a moment."""
        return _around(self, moment.replace(second=0, microsecond=0))[1]


@lru_cache(maxsize=4096)
def _around(starts: Starts, moment: datetime) -> tuple[datetime | None, datetime | None]:
    """The last start at or before a moment, and the first one after it."""
    latest = None
    for start in _walk(starts, moment):
        if start > moment:
            return latest, start
        latest = start
    return latest, None


def _walk(starts: Starts, moment: datetime) -> Iterator[datetime]:
    """Give starts in order, from before the one that we look for."""
    earlier = (moment - _CLOCK_CHANGE).astimezone(starts.zone)
    before = next(CronSim(starts.expression, earlier, reverse=True), earlier)
    # In UTC: times of one zone are compared by the clock on the wall, which goes back at times.
    begin = min(before.astimezone(UTC), moment) - _CLOCK_CHANGE
    for start in CronSim(starts.expression, begin.astimezone(starts.zone)):
        yield start.astimezone(UTC)


def _spelled(expression: str) -> str:
    """Write names out, and `?` as the `*` that it means in either field of days."""
    fields = NAMES.get(expression.strip().lower(), expression).split()
    return " ".join(
        "*" if field == "?" and place in (2, 4) else field for place, field in enumerate(fields)
    )


def _trouble(expression: str) -> str | None:
    try:
        CronSim(expression, _SOME_DAY)
    except CronSimError as error:
        return str(error)
    return None


def zone_named(name: str) -> ZoneInfo | None:
    """The time zone of that name; None if there is none that means the same everywhere."""
    # This one is the machine's own, and would mean something else on the next.
    if name == "localtime":
        return None
    try:
        return ZoneInfo(name)
    # A folder of the database, or a path out of it, is an OSError or a ValueError.
    except (KeyError, OSError, ValueError):
        return None
