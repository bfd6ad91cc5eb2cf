"""A recommendation as one page: the curve from promise to idle slots, and the sizes over time."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from headroom.cli.analysis.answers import HEADINGS, Recommendation, about, reasons, table_rows
from headroom.plot.chart import Chart
from headroom.plot.marks import Bars, Dots, Line, ShadedSpan, Steps
from headroom.plot.page import Code, HtmlPage, HtmlTable, Paragraph, Section
from headroom.plot.scales import Axis, Unit
from headroom.plot.text import percent
from headroom.recommend.study import Sizing
from headroom.wire.traces.cells import CLOCK
from headroom.wire.yamls import dump

TONES = {Sizing.STATIC: 1, Sizing.PERCENT: 3, Sizing.SCHEDULED: 4, Sizing.ADAPTIVE: 0}
NINES = (0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999)
HALVES = 400  # time intervals in the picture of arrivals


def page(answer: Recommendation) -> str:
    """The whole page."""
    chosen = answer.choice.kind
    headings = (*HEADINGS, *answer.cost_heading)
    rows = table_rows(answer)
    table = HtmlTable(headings, rows, (list(Sizing).index(chosen),))
    told = tuple(Paragraph(words) for words in reasons(answer))
    sections = (
        Section("", (Paragraph(about(answer)),)),
        Section("What a promise costs", (curve(answer), table)),
        Section("Sizes and arrivals", (sizes(answer), by_day(answer))),
        Section(f"Recommended: {chosen} (how sure: {answer.choice.sure})", told),
        Section("To paste", (Code(dump(answer.recommended)),)),
    )
    return HtmlPage("How much headroom", sections, "made by headroom recommend").html()


def nines(ratio: float) -> float:
    """A ratio on an axis on which every nine has the same width."""
    return -log10(max(1.0 - ratio, 1e-5))


def curve(answer: Recommendation) -> Chart:
    """The hits that each policy reached, and its unused slots."""
    marks: list[Line | Dots | ShadedSpan] = []
    for kind in Sizing:
        points, words = [], []
        for promise, rows in sorted(answer.study.curve.items()):
            outcome = rows[kind].outcome
            points.append((nines(outcome.ratio), outcome.idle))
            words.append(
                f"promised {percent(promise)}: {outcome.ratio:.2%}, {outcome.idle:.1f} idle"
            )
        marks.append(Line("", tuple(points), TONES[kind]))
        marks.append(Dots(str(kind), tuple(points), TONES[kind], tuple(words)))
    ticks = tuple((nines(ratio), percent(ratio)) for ratio in NINES)
    return Chart(
        "Pods that found a slot, and slots that stood unused",
        tuple(marks),
        Axis("pods that found a slot", ticks=ticks),
        Axis("idle slots, on average", low=0.0),
    )


def sizes(answer: Recommendation) -> Chart:
    """The size of the adaptive and of the fixed policy over time, with the arrivals."""
    adaptive = answer.study.rows[Sizing.ADAPTIVE].outcome
    static = answer.study.rows[Sizing.STATIC]
    trained = answer.study.trained
    seconds = [*trained.sizes[0], *adaptive.sizes[0]]
    slots = [*trained.sizes[1], *adaptive.sizes[1]]
    begin = answer.past.begin
    clock = begin >= CLOCK
    shift = 0.0 if clock else begin
    unit = Unit.TIME if clock else Unit.SPAN
    end = answer.past.end
    points = [
        *((at - shift, float(n)) for at, n in zip(seconds, slots, strict=True)),
        (end - shift, float(slots[-1])),
    ]
    train = answer.study.question.train_until
    fixed = static.setting[0]
    return Chart(
        "Wanted slots over time",
        (
            ShadedSpan("learnt from", begin - shift, train - shift),
            Line("arrivals in a lead time", arrivals_in_lead(answer, shift), 2),
            Steps("adaptive", tuple(points), TONES[Sizing.ADAPTIVE]),
            Line("static", ((train - shift, fixed), (end - shift, fixed)), TONES[Sizing.STATIC]),
        ),
        Axis("", unit),
        Axis("slots"),
    )


def arrivals_in_lead(answer: Recommendation, shift: float) -> tuple[tuple[float, float], ...]:
    """The number of pods in each lead time; for each interval of the picture the maximum."""
    lead, past = answer.study.question.lead, answer.past
    counts: dict[int, int] = {}
    for second, pods in zip(past.seconds, past.counts, strict=True):
        index = int((second - past.begin) // lead)
        counts[index] = counts.get(index, 0) + pods
    last = int((past.end - past.begin) // lead)
    part = max(1, last // HALVES)
    points = []
    for first in range(0, last + 1, part):
        most = max(counts.get(index, 0) for index in range(first, first + part))
        points.append((past.begin - shift + first * lead, float(most)))
    return tuple(points)


def by_day(answer: Recommendation) -> Chart:
    """The hits of each policy, and the hits of its worst day."""
    rows = [answer.study.rows[kind].outcome for kind in Sizing]
    return Chart(
        "Pods that found no slot, in percent",
        (
            Bars("all judged time", _missed([row.ratio for row in rows]), 0),
            Bars("the worst day", _missed([row.worst_day() for row in rows]), 1),
        ),
        y=Axis("percent of the pods"),
        categories=tuple(map(str, Sizing)),
        height=240,
    )


def _missed(ratios: Sequence[float]) -> tuple[float, ...]:
    return tuple(100.0 * (1.0 - ratio) for ratio in ratios)
