"""The marks of a chart: lines, steps, bands, bars, dots, shaded windows and levels.

These are values only. `tone` is the number of a colour (see `style`); marks of one tone belong
together. A value that is not a finite number leaves a gap.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """Points joined by straight lines."""

    name: str
    points: tuple[Point, ...]
    tone: int = 0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """A value that stays until the next point: sizes, counts."""

    name: str
    points: tuple[Point, ...]
    tone: int = 0
    dashed: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two values: (x, low, high)."""

    name: str
    points: tuple[tuple[float, float, float], ...]
    tone: int = 0
    stepped: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each of the chart's categories; several of these are drawn side by side."""

    name: str
    values: tuple[float, ...]
    tone: int = 0


@dataclass(frozen=True, slots=True)
class Dots:
    """Single points, each with a text that is shown when the pointer is on it."""

    name: str
    points: tuple[Point, ...]
    tone: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShadedSpan:
    """A span of x that is shaded."""

    name: str
    begin: float
    end: float
    tone: int = 7


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line across the chart: a promise, a limit."""

    name: str
    value: float
    tone: int = 7


Mark = Line | Steps | Band | Bars | Dots | ShadedSpan | LevelLine


def thinned(points: tuple[Point, ...], most: int) -> tuple[Point, ...]:
    """Reduce points to about this number with the same look: keep ends and extremes.

    The smallest and the largest values are kept because readers look for them.
    """
    if len(points) <= most:
        return points
    part = -(-len(points) * 4 // most)
    kept: list[Point] = []
    for begin in range(0, len(points), part):
        some = range(begin, min(begin + part, len(points)))
        least = min(some, key=lambda index: (points[index][1], index))
        greatest = max(some, key=lambda index: (points[index][1], -index))
        kept += [points[index] for index in sorted({some[0], least, greatest, some[-1]})]
    return tuple(kept)
