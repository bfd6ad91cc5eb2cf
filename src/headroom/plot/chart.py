"""One chart as SVG: axes, grid, marks, legend.

Pure and deterministic: no ids, no scripts, coordinates rounded the same way everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from headroom.plot import svg
from headroom.plot.marks import Band, Bars, Dots, LevelLine, Line, Mark, ShadedSpan, Steps
from headroom.plot.scales import Axis, AxisScale, scale
from headroom.plot.style import CHART, TONES, variables
from headroom.plot.text import place, safe

LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 44.0
TITLE, KEY = 24.0, 20.0
LETTER = 6.6  # about the width of a letter, for the legend
X_TICK, Y_TICK = 90.0, 44.0
PLAIN = Axis()
MOST_TICK_LETTERS = 22


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: bars over `categories`; everything else over the numbers of x."""

    title: str
    marks: tuple[Mark, ...]
    x: Axis = PLAIN
    y: Axis = PLAIN
    categories: tuple[str, ...] = ()
    width: int = 760
    height: int = 300

    def svg(self, alone: bool = False) -> str:
        """The chart as SVG; `alone`: with its own style, for a file or an image."""
        return _Drawn(self).svg(alone)


SPACE = ' xmlns="http://www.w3.org/2000/svg"'


def standalone(svg: str) -> str:
    """A chart of a page as a separate file: with its style, background and XML namespace."""
    opening, _, rest = svg.partition(">")
    return f"{opening}{SPACE}>{_ground()}{rest}"


def _ground() -> str:
    style = f"<style>{variables('.chart')}{CHART}</style>"
    return f'{style}<rect width="100%" height="100%" style="fill:var(--page)"/>'


class _Drawn:
    """A chart with its scales, which place everything."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.rows = _legend_rows(chart)
        self.top = TOP + (TITLE if chart.title else 0.0) + KEY * len(self.rows)
        self.bottom = chart.height - BOTTOM
        inner = (LEFT, chart.width - RIGHT)
        xs, ys = list(_all_x(chart)), list(_all_y(chart))
        if chart.categories:
            self.x = AxisScale(0.0, float(len(chart.categories)), *inner, ())
        else:
            self.x = scale(chart.x, xs, inner, int((inner[1] - inner[0]) / X_TICK))
        upright = (self.bottom, self.top)
        self.y = scale(chart.y, ys, upright, int((self.bottom - self.top) / Y_TICK))
        self.empty = not ys and not chart.categories

    def svg(self, alone: bool) -> str:
        chart = self.chart
        size = f'viewBox="0 0 {chart.width} {chart.height}"'
        whole = f'width="{chart.width}" height="{chart.height}" {size}'
        body = "".join((*self._title(), *self._grid(), *self._marks(), *self._axes()))
        name = f'class="chart" role="img" aria-label="{safe(chart.title)}"'
        inline = f"<svg {name} {whole}>{body}</svg>"
        return standalone(inline) if alone else inline

    def _title(self) -> Iterator[str]:
        if self.chart.title:
            yield svg.words(LEFT, TOP + 10, self.chart.title, "title")
        first = TOP + (TITLE if self.chart.title else 0.0) + 8
        for index, row in enumerate(self.rows):
            left = LEFT
            for mark in row:
                yield svg.key(mark, left, first + KEY * index)
                left += _key_width(mark)

    def _grid(self) -> Iterator[str]:
        left, right = self.x.begin, self.x.end
        for value, said in self.y.ticks:
            y = self.y.at(value)
            yield svg.rule((left, y), (right, y), "grid")
            yield svg.words(left - 8, y + 4, said, anchor="end")
        for value, said in self.x.ticks:
            x = self.x.at(value)
            yield svg.rule((x, self.top), (x, self.bottom), "grid")
            yield svg.words(x, self.bottom + 16, said, anchor="middle")
        for index, name in enumerate(self.chart.categories):
            short = name if len(name) <= MOST_TICK_LETTERS else f"{name[:MOST_TICK_LETTERS]}…"
            yield svg.words(self.x.at(index + 0.5), self.bottom + 16, short, anchor="middle")

    def _axes(self) -> Iterator[str]:
        yield svg.rule((self.x.begin, self.bottom), (self.x.end, self.bottom), "axis")
        middle = (self.x.begin + self.x.end) / 2
        if self.chart.x.label:
            yield svg.words(middle, self.chart.height - 8, self.chart.x.label, anchor="middle")
        if self.chart.y.label:
            half = (self.top + self.bottom) / 2
            turned = f' transform="rotate(-90 14 {place(half)})"'
            yield svg.words(14, half, self.chart.y.label, anchor="middle", more=turned)
        if self.empty:
            half = (self.top + self.bottom) / 2
            yield svg.words(middle, half, "nothing to show", anchor="middle")

    def _marks(self) -> Iterator[str]:
        """Shaded areas first, then bands, then lines, so that thin marks stay visible."""
        order = (ShadedSpan, Band, Bars, Steps, Line, LevelLine, Dots)
        together = [mark for mark in self.chart.marks if isinstance(mark, Bars)]
        for mark in sorted(self.chart.marks, key=lambda mark: order.index(type(mark))):
            match mark:
                case ShadedSpan():
                    yield svg.window(mark, self.x, (self.top, self.bottom))
                case Bars():
                    turn = next(i for i, other in enumerate(together) if other is mark)
                    names = self.chart.categories
                    yield svg.bars(mark, (self.x, self.y), names, (turn, len(together)))
                case LevelLine():
                    yield svg.level(mark, self.x, self.y)
                case _:
                    yield svg.drawn(mark, self.x, self.y)


def _all_x(chart: Chart) -> Iterator[float]:
    for mark in chart.marks:
        match mark:
            case Line() | Steps() | Dots() | Band():
                yield from (point[0] for point in mark.points)
            case ShadedSpan():
                yield from (mark.begin, mark.end)
            case _:
                pass


def _all_y(chart: Chart) -> Iterator[float]:
    """All finite values, and zero if areas or bars start there."""
    for mark in chart.marks:
        match mark:
            case Line() | Steps() | Dots():
                yield from (y for _, y in mark.points if isfinite(y))
                if isinstance(mark, Steps) and mark.points:
                    yield 0.0
            case Band():
                yield from (y for _, *ends in mark.points for y in ends if isfinite(y))
            case Bars():
                yield from (0.0, *(value for value in mark.values if isfinite(value)))
            case LevelLine():
                yield mark.value
            case _:
                pass


def _key_width(mark: Mark) -> float:
    return 40.0 + LETTER * len(mark.name)


def _legend_rows(chart: Chart) -> list[list[Mark]]:
    """The named marks in rows that fit; each name is shown once."""
    named: dict[tuple[str, int], Mark] = {}
    for mark in chart.marks:
        if mark.name:
            named.setdefault((mark.name, mark.tone % TONES), mark)
    rows: list[list[Mark]] = []
    left = 0.0
    for mark in named.values():
        wide = _key_width(mark)
        if not rows or left + wide > chart.width - LEFT - RIGHT:
            rows.append([])
            left = 0.0
        rows[-1].append(mark)
        left += wide
    return rows
