"""Charts are well-formed, the same every time, and nothing that others wrote is markup in them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from headroom.plot.chart import Chart
from headroom.plot.marks import Band, Bars, Dots, LevelLine, Line, Mark, ShadedSpan, Steps, thinned
from headroom.plot.page import Code, HtmlPage, HtmlTable, Paragraph, Section
from headroom.plot.scales import Axis, Unit, scale
from headroom.plot.text import number, percent, span

HOSTILE = "</svg><script>alert(1)</script>\x1b[31m\"'&\u202e"
NAN, INFINITE = float("nan"), float("inf")
EVERY: tuple[Mark, ...] = (
    ShadedSpan("night", 0, 10),
    Band("spread", ((0, 1, 2), (5, 2, 4), (9, 1, 3)), 1),
    Line("mean", ((0, 1.5), (5, 3), (9, 2)), 1, dashed=True),
    Steps("slots", ((0, 4), (3, 8), (9, 2)), 2, filled=True),
    LevelLine("promise", 6.0),
    Dots("misses", ((2, 3), (4, 4)), 5, ("at 2", "at 4")),
)


def drawn(chart: Chart) -> ElementTree.Element:
    """The chart, parsed: a picture that cannot be parsed is none."""
    return ElementTree.fromstring(chart.svg(alone=True))


def test_every_mark_is_drawn_and_named_in_the_legend() -> None:
    chart = Chart("all", EVERY, Axis("time", Unit.SPAN), Axis("slots"))
    texts = [element.text for element in drawn(chart).iter() if element.tag.endswith("text")]
    for mark in EVERY:
        assert mark.name in texts
    assert {"all", "time", "slots"} <= set(texts)


def test_the_same_values_give_the_same_bytes() -> None:
    chart = Chart("all", EVERY)
    assert chart.svg() == Chart("all", EVERY).svg()


def test_no_text_of_others_becomes_markup() -> None:
    marks = (Line(HOSTILE, ((0, 1), (1, 2))), Dots(HOSTILE, ((0, 1),), 1, (HOSTILE,)))
    bars = Chart(HOSTILE, (Bars(HOSTILE, (1.0,)),), categories=(HOSTILE,))
    sections = Section(
        HOSTILE, (Paragraph(HOSTILE), HtmlTable((HOSTILE,), ((HOSTILE,),)), Code(HOSTILE), bars)
    )
    axis = Axis(HOSTILE, ticks=((0.0, HOSTILE),))
    for text in (
        Chart(HOSTILE, marks, axis, axis).svg(alone=True),
        bars.svg(),
        HtmlPage(HOSTILE, (sections,), HOSTILE).html(),
    ):
        assert "<script" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    drawn(Chart(HOSTILE, marks, axis, axis))


@pytest.mark.parametrize(
    "marks",
    [
        (),
        (Line("none", ()),),
        (Line("one", ((3, 3),)),),
        (Line("flat", ((0, 0), (1, 0))),),
        (Line("gaps", ((0, NAN), (1, 2), (2, INFINITE), (3, 4))),),
        (Steps("gone", ((0, NAN),)),),
        (Band("gone", ((0, NAN, 1),)),),
        (Line("huge", ((0, 1e300), (1e12, -1e300))),),
    ],
)
def test_odd_values_still_make_a_picture(marks: tuple[Mark, ...]) -> None:
    for unit in Unit:
        text = Chart("odd", marks, Axis(unit=unit), Axis(unit=unit)).svg()
        assert "nan" not in text
        assert "inf" not in text


def test_an_empty_chart_says_that_it_is_empty() -> None:
    assert "nothing to show" in Chart("empty", ()).svg()


def test_bars_stand_side_by_side_over_their_category() -> None:
    marks = (Bars("a", (1.0, 2.0)), Bars("b", (3.0, NAN), 1))
    chart = Chart("bars", marks, categories=("x", "y"))
    boxes = [e for e in drawn(chart).iter() if e.get("class", "").startswith("bar f")]
    with_words = [box for box in boxes if len(box)]
    assert len(with_words) == 3  # The fourth is no number; the other boxes are the legend's.
    lefts = [float(box.attrib["x"]) for box in with_words]
    assert lefts[0] < lefts[2] < lefts[1]


def test_many_points_are_thinned_and_peaks_stay() -> None:
    points = tuple((float(x), 100.0 if x == 77_777 else float(x % 7)) for x in range(100_000))
    some = thinned(points, 1000)
    assert len(some) <= 1004
    assert (77_777.0, 100.0) in some
    assert some[0] == points[0]
    assert some[-1] == points[-1]
    assert [x for x, _ in some] == sorted(x for x, _ in some)
    assert len(Chart("many", (Line("l", points),)).svg()) < 200_000


def test_ticks_are_round_numbers_and_lie_inside() -> None:
    found = scale(Axis(), (0.3, 9.7), (0.0, 100.0), 5)
    assert [said for _, said in found.ticks] == ["0", "2", "4", "6", "8", "10"]
    days = scale(Axis(unit=Unit.SPAN), (0.0, 86400.0 * 14), (0.0, 100.0), 7)
    assert [said for _, said in days.ticks][:3] == ["0 s", "2d", "4d"]
    hours = scale(Axis(unit=Unit.TIME), (1_800_000_000.0, 1_800_040_000.0), (0.0, 100.0), 4)
    assert [said for _, said in hours.ticks] == ["09:00", "12:00", "15:00", "18:00"]


def test_a_bound_that_was_set_is_kept_where_all_values_lie_on_it() -> None:
    found = scale(Axis(unit=Unit.PERCENT, high=1.0), [1.0, 1.0], (0.0, 100.0), 4)
    assert found.high == 1.0
    assert found.low < 1.0
    assert [said for _, said in found.ticks][-1] == "100 %"


def test_numbers_are_written_as_people_read_them() -> None:
    assert [number(n) for n in (0, 0.25, 12, 1234.5, 25_000_000)] == [
        *("0", "0.25", "12", "1,234", "25M")
    ]
    assert [percent(n) for n in (0.99, 0.9995, 1.0)] == ["99 %", "99.95 %", "100 %"]
    assert [span(n) for n in (0, 1.5, 90, 5400, 86400, 90000)] == [
        *("0 s", "1.5 s", "1m30s", "1h30m", "1d", "1d1h")
    ]


def test_a_page_stands_alone_and_loads_nothing() -> None:
    chart = Chart("all", EVERY)
    parts = (
        Paragraph("words"),
        chart,
        HtmlTable(("a", "b"), (("1", ""), ("3", "4")), (1,)),
        Code("x: 1"),
    )
    text = HtmlPage("report", (Section("first", parts),), "made by a test").html()
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text
    assert "prefers-color-scheme: dark" in text
    assert text == HtmlPage("report", (Section("first", parts),), "made by a test").html()
