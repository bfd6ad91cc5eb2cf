"""Hours of the week in cron's five fields, read as open times and not as start times.

A quota's time window `0 9-17 * * 1-5` means these whole hours: it is open in every minute that the
fields allow. A minute field of `0` or `*` means all minutes of the hour, and a range may wrap
around (`18-8`, `fri-mon`). Hours are in UTC. `core.windows` is about starts and durations; `limits`
uses this module.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headroom.core.quantity import shown, whole_number

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
_LONGEST_STEP = 999
_LONGEST_FIELD = 500

_WEEKDAYS = {
    name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
}
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_ITEM = re.compile(r"(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]{1,4}))?")
_ALL_MINUTES = frozenset(range(60))


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    words: tuple[tuple[str, int], ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, tuple(_MONTHS.items())),
    _Field("day of week", 0, 6, (*_WEEKDAYS.items(), ("7", 0))),
)


@dataclass(frozen=True, slots=True)
class Hours:
    """The numbers that each field allows.

    With `either`, a day counts if its day of month or its day of week does, as in cron where both
    are restricted.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool = False

    def open_at(self, moment: datetime) -> bool:
        """Say whether the minute of this moment is one of them."""
        at = moment.astimezone(UTC)
        if at.minute not in self.minutes or at.hour not in self.hours:
            return False
        if at.month not in self.months:
            return False
        day, weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return (day or weekday) if self.either else (day and weekday)


def parse_hours(text: str) -> Hours:
    """Read five fields; ValueError says what is wrong with them."""
    written = text.lower().split()
    if len(written) != len(_FIELDS):
        raise ValueError(
            f"{text!r} are not hours; write five fields (minute, hour, day of month, month, day of "
            "week), such as 0 9-17 * * 1-5"
        )
    minutes, hours, days, months, weekdays = (
        _numbers(field, part) for field, part in zip(_FIELDS, written, strict=True)
    )
    return Hours(
        minutes=_ALL_MINUTES if written[0] == "0" else minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        either=written[2][0] != "*" and written[4][0] != "*",
    )


def look_again(hours: Collection[Hours], now: datetime) -> datetime:
    """Say when one of them may next open or close: the first such minute of the coming day.

    If none does before, a day later: whoever asks then asks again.
    """
    by_the_hour = all(each.minutes == _ALL_MINUTES for each in hours)
    step = HOUR if by_the_hour else MINUTE
    at = now.astimezone(UTC).replace(second=0, microsecond=0)
    at = at.replace(minute=0) if by_the_hour else at
    before = [each.open_at(now) for each in hours]
    last = at + DAY
    at += step
    while at < last and [each.open_at(at) for each in hours] == before:
        at += step
    return at


def _numbers(field: _Field, text: str) -> frozenset[int]:
    """Read one field: numbers, ranges and *, with steps or without, and commas between them."""
    found: list[int] = []
    if len(text) > _LONGEST_FIELD:
        raise ValueError(f"{shown(text)} is not a valid {field.name}: it is too long")
    for item in text.split(","):
        parts = _ITEM.fullmatch("*" if item == "?" else item)
        if parts is None:
            raise ValueError(f"{shown(item)} is not a valid {field.name}; use a number, range or *")
        star, first, last, step = parts.groups()
        every = whole_number(step, _LONGEST_STEP) if step else 1
        if not every:
            raise ValueError(
                f"{shown(item)} is not a valid {field.name}: a step is 1 to {_LONGEST_STEP}"
            )
        start = field.least if star else _number(field, first)
        end = field.most if star or (step and not last) else _number(field, last or first)
        found.extend(_range(field, start, end)[::every])
    return frozenset(found)


def _range(field: _Field, start: int, end: int) -> list[int]:
    if start <= end:
        return list(range(start, end + 1))
    # Past its end a field begins again: 18-8 is the evening, the night and the early morning.
    return [*range(start, field.most + 1), *range(field.least, end + 1)]


def _number(field: _Field, text: str) -> int:
    words = dict(field.words)
    if text in words:
        return words[text]
    number = whole_number(text, field.most)
    if number is None or number < field.least:
        raise ValueError(
            f"{shown(text)} is not a valid {field.name}, which is {field.least} to {field.most}"
        )
    return number
