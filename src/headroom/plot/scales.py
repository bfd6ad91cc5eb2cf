"""Axes: the numbers at the ticks, and the position of a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from math import ceil, floor, isfinite, log10

from headroom.plot.text import number, percent, span

NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
TIMES = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 7, 14, 28, 91, 182, 365)),
)


class Unit(StrEnum):
    """The unit of an axis, which determines how numbers are formatted."""

    NUMBER = "number"
    PERCENT = "percent"  # shares between 0 and 1
    SPAN = "span"  # seconds since some start
    TIME = "time"  # seconds since 1970, in UTC


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a chart; `low` and `high` extend or limit the range of the values.

    Ticks are calculated unless they are given, each with its text.
    """

    label: str = ""
    unit: Unit = Unit.NUMBER
    low: float | None = None
    high: float | None = None
    ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Maps values between `low` and `high` to coordinates between `begin` and `end`."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """The coordinate of a value; one outside the range is at the edge."""
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def shows(self, value: float) -> bool:
        return self.low <= value <= self.high


def scale(axis: Axis, values: Iterable[float], ends: tuple[float, float], wished: int) -> AxisScale:
    """A scale for an axis with about the requested number of ticks, around all values."""
    seen = [value for value in values if isfinite(value)]
    low = min(seen, default=0.0) if axis.low is None else axis.low
    high = max(seen, default=1.0) if axis.high is None else axis.high
    if high <= low and axis.high is not None and axis.low is None:
        low = high - (abs(high) or 1.0)  # A given limit is kept: there is no 200 %.
    elif high <= low:
        high = low + (abs(low) or 1.0)
    if axis.ticks:
        return AxisScale(
            low, high, *ends, tuple(tick for tick in axis.ticks if low <= tick[0] <= high)
        )
    step = _step(axis.unit, (high - low) / max(1, wished))
    if axis.unit in (Unit.NUMBER, Unit.PERCENT):
        low = low if axis.low is not None else floor(low / step + 1e-9) * step
        high = high if axis.high is not None else ceil(high / step - 1e-9) * step
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    places = [round(index * step, 9) for index in range(first, last + 1)]
    return AxisScale(
        low, high, *ends, tuple((value, _said(axis.unit, value, step)) for value in places)
    )


def _step(unit: Unit, least: float) -> float:
    """The smallest round distance between ticks that is at least `least`."""
    if unit in (Unit.SPAN, Unit.TIME) and least >= TIMES[0]:
        return next((step for step in TIMES if step >= least), ceil(least / TIMES[-1]) * TIMES[-1])
    power = 10.0 ** floor(log10(least))
    return next((nice * power for nice in NICE if nice * power >= least * (1 - 1e-9)), 10 * power)


def _said(unit: Unit, value: float, step: float) -> str:
    match unit:
        case Unit.PERCENT:
            return percent(value)
        case Unit.SPAN:
            return span(value)
        case Unit.TIME:
            return _moment(value, step)
        case _:
            return number(value)


def _moment(value: float, step: float) -> str:
    try:
        moment = datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        return number(value)
    if step >= DAY:
        return f"{moment:%Y-%m-%d}"
    if moment.hour == moment.minute == moment.second == 0:
        return f"{moment:%m-%d}"
    return f"{moment:%H:%M}" if step >= MINUTE else f"{moment:%H:%M:%S}"
