"""The pictures of the guides are charts of the pages that the guides' commands write."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from headroom.plot.chart import Chart
from headroom.plot.marks import Line
from headroom.plot.page import HtmlPage, Section
from tests.tidy.tree import ROOT
from tools.pictures import COMMAND, GUIDES, PICTURES, charts

SHOWN = re.compile(r"!\[[^\]]*\]\(pictures/(\S+\.svg)\)")


def test_charts_cut_out_of_a_page_stand_alone() -> None:
    chart = Chart("one", (Line("a", ((0.0, 1.0), (2.0, 3.0))),))
    page = HtmlPage("both", (Section("", (chart, Chart("two", ()))),)).html()
    first, second = charts(page)
    assert first == chart.svg(alone=True)
    assert ElementTree.fromstring(second).tag == "{http://www.w3.org/2000/svg}svg"


def test_every_picture_of_a_guide_is_there_and_made_by_a_command_that_it_shows() -> None:
    shown = set()
    for guide in sorted(GUIDES.glob("*.md")):
        text = guide.read_text(encoding="utf-8")
        made = {match[1] for match in COMMAND.finditer(text)}
        for name in SHOWN.findall(text):
            shown.add(name)
            assert name.rpartition("-")[0] in made, f"{guide.relative_to(ROOT)}: {name}"
    assert shown == {path.name for path in PICTURES.glob("*.svg")}
    for name in shown:
        ElementTree.fromstring((PICTURES / name).read_text(encoding="utf-8"))
