"""The timeline of a snapshot as one SVG file."""

from __future__ import annotations

from datetime import datetime

from headroom.dashboard.document import Document
from headroom.dashboard.timeline import LINES
from headroom.plot.chart import Chart
from headroom.plot.marks import Mark, ShadedSpan, Steps
from headroom.plot.scales import Axis, Unit

TONES = {"wanted": 7, "held": 1, "claimed": 2, "waiting": 3, "misses": 4}


def timeline_svg(whole: Document) -> str:
    """Wanted, held, claimed, waiting and misses over time, with windows shaded."""
    rows = sorted((float(second), row) for second, row in whole["timeline"].items())
    marks: list[Mark] = []
    if rows:
        first, last = rows[0][0], rows[-1][0]
        spans = [(_second(each["opens"]), _second(each["ends"])) for each in whole["windows"]]
        inside = sorted((max(first, a), min(last, b)) for a, b in spans if a < last and b > first)
        marks += [ShadedSpan("window", begin, end) for begin, end in inside]
    for index, name in enumerate(LINES):
        points = tuple((second, float(row[index])) for second, row in rows)
        marks.append(Steps(name, points, TONES[name], dashed=name == "wanted"))
    title = f"{whole['source']['name'] or 'timeline'}: {', '.join(LINES)}{_in_time(rows)}"
    axis = Axis(unit=Unit.TIME)
    return Chart(title, tuple(marks), axis, Axis("slots and pods", low=0.0), width=900).svg(True)


def _in_time(rows: list[tuple[float, list[int]]]) -> str:
    """The share of owners that started in time in the last hour, if there were owners."""
    owners, late = rows[-1][1][len(LINES) :] if rows else (0, 0)
    return f"; {owners - late} of {owners} owners of the last hour in time" if owners else ""


def _second(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
