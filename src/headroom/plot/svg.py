"""The SVG elements of single marks, one function for each mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from headroom.plot.marks import (
    Band,
    Bars,
    Dots,
    LevelLine,
    Line,
    Mark,
    Point,
    ShadedSpan,
    Steps,
    thinned,
)
from headroom.plot.scales import AxisScale
from headroom.plot.style import TONES
from headroom.plot.text import number, place, safe

MOST_POINTS = 4000
"""More points are not visible on a screen, and a page should stay small."""
BAR_SHARE = 0.72


def words(
    x: float, y: float, text: str, kind: str = "", anchor: str = "start", more: str = ""
) -> str:
    """A text at a position."""
    kind = f' class="{kind}"' if kind else ""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{place(x)}" y="{place(y)}"{kind}{side}{more}>{safe(text)}</text>'


def rule(begin: Point, end: Point, kind: str) -> str:
    """A straight line."""
    ends = (
        f'x1="{place(begin[0])}" y1="{place(begin[1])}" x2="{place(end[0])}" y2="{place(end[1])}"'
    )
    return f'<line class="{kind}" {ends}/>'


def key(mark: Mark, left: float, middle: float) -> str:
    """A mark's entry in the legend."""
    tone = mark.tone % TONES
    name = words(left + 26, middle + 4, mark.name, "key")
    match mark:
        case Line() | Steps():
            kind = f"line s{tone}" + (" dashed" if mark.dashed else "")
            return rule((left, middle), (left + 20, middle), kind) + name
        case LevelLine():
            return rule((left, middle), (left + 20, middle), f"level s{tone}") + name
        case Dots():
            return _dot(left + 10, middle, tone) + name
        case _:
            kind = {ShadedSpan: "window", Band: "area"}.get(type(mark), "bar")
            box = f'x="{place(left)}" y="{place(middle - 6)}" width="20" height="12"'
            return f'<rect class="{kind} f{tone}" {box}/>{name}'


def window(mark: ShadedSpan, x: AxisScale, ends: tuple[float, float]) -> str:
    """A shaded span over the whole height."""
    begin, end = x.at(mark.begin), x.at(mark.end)
    where = f'x="{place(begin)}" y="{place(ends[0])}" width="{place(max(1.0, end - begin))}"'
    high = place(ends[1] - ends[0])
    told = f"<title>{safe(mark.name)}</title>" if mark.name else ""
    return f'<rect class="window f{mark.tone % TONES}" {where} height="{high}">{told}</rect>'


def level(mark: LevelLine, x: AxisScale, y: AxisScale) -> str:
    """A horizontal line across the chart."""
    if not y.shows(mark.value):
        return ""
    height = y.at(mark.value)
    return rule((x.begin, height), (x.end, height), f"level s{mark.tone % TONES}")


def bars(
    mark: Bars, scales: tuple[AxisScale, AxisScale], names: Sequence[str], turn: tuple[int, int]
) -> str:
    """A bar for each category; `turn` is its position among the bars side by side."""
    x, y = scales
    wide = BAR_SHARE / turn[1]
    drawn: list[str] = []
    for index, (name, value) in enumerate(zip(names, mark.values, strict=False)):
        if not isfinite(value):
            continue
        left = x.at(index + (1 - BAR_SHARE) / 2 + wide * turn[0])
        width = x.at(index + wide) - x.at(index)
        top, foot = sorted((y.at(value), y.at(0.0)))
        box = f'x="{place(left)}" y="{place(top)}" width="{place(width)}"'
        told = f"<title>{safe(f'{name}: {mark.name} {number(value)}')}</title>"
        drawn.append(
            f'<rect class="bar f{mark.tone % TONES}" {box} height="{place(foot - top)}">'
            f"{told}</rect>"
        )
    return "".join(drawn)


def drawn(mark: Line | Steps | Band | Dots, x: AxisScale, y: AxisScale) -> str:
    """A mark that consists of points."""
    tone = mark.tone % TONES
    match mark:
        case Line():
            path = "".join(_path(run, x, y) for run in _runs(thinned(mark.points, MOST_POINTS)))
            return _stroke(path, tone, mark.dashed)
        case Steps():
            runs = [_stairs(run) for run in _runs(thinned(mark.points, MOST_POINTS))]
            fill = "".join(_down(run, x, y) for run in runs) if mark.filled else ""
            area = f'<path class="area f{tone}" d="{fill}"/>' if fill else ""
            return area + _stroke("".join(_path(run, x, y) for run in runs), tone, mark.dashed)
        case Band():
            return f'<path class="area f{tone}" d="{_band(mark, x, y)}"/>'
        case _:
            return "".join(_dots(mark, x, y, tone))


def _dots(mark: Dots, x: AxisScale, y: AxisScale, tone: int) -> Iterator[str]:
    for index, (across, up) in enumerate(mark.points[:MOST_POINTS]):
        if isfinite(across) and isfinite(up):
            said = mark.words[index] if index < len(mark.words) else ""
            yield _dot(x.at(across), y.at(up), tone, said)


def _dot(x: float, y: float, tone: int, said: str = "") -> str:
    where = f'cx="{place(x)}" cy="{place(y)}" r="4"'
    return f'<circle class="f{tone}" {where}><title>{safe(said)}</title></circle>'


def _stroke(path: str, tone: int, dashed: bool) -> str:
    if not path:
        return ""
    more = " dashed" if dashed else ""
    return f'<path class="line s{tone}{more}" d="{path}"/>'


def _runs(points: Iterable[Point]) -> Iterator[list[Point]]:
    """The points in runs without a gap."""
    run: list[Point] = []
    for point in points:
        if isfinite(point[0]) and isfinite(point[1]):
            run.append(point)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _stairs(points: Sequence[Point]) -> list[Point]:
    """The corners of steps: first horizontal, then vertical."""
    corners: list[Point] = []
    for point in points:
        if corners and corners[-1][1] != point[1]:
            corners.append((point[0], corners[-1][1]))
        corners.append(point)
    return corners


def _path(points: Sequence[Point], x: AxisScale, y: AxisScale) -> str:
    places = [f"{place(x.at(across))} {place(y.at(up))}" for across, up in points]
    if len(places) == 1:  # A single point is drawn as a short dash.
        places.append(f"{place(x.at(points[0][0]) + 1)} {place(y.at(points[0][1]))}")
    return "M" + "L".join(places)


def _down(points: Sequence[Point], x: AxisScale, y: AxisScale) -> str:
    """The area between a run and the bottom of the chart."""
    foot = max(0.0, y.low)
    return _path([*points, (points[-1][0], foot), (points[0][0], foot)], x, y) + "Z"


def _band(mark: Band, x: AxisScale, y: AxisScale) -> str:
    whole = [point for point in mark.points if all(isfinite(value) for value in point)]
    if not whole:
        return ""
    lower = thinned(tuple((across, low) for across, low, _ in whole), MOST_POINTS)
    upper = thinned(tuple((across, high) for across, _, high in whole), MOST_POINTS)
    if mark.stepped:
        return _path([*_stairs(upper), *reversed(_stairs(lower))], x, y) + "Z"
    return _path([*upper, *reversed(lower)], x, y) + "Z"
