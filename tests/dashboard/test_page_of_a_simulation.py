"""A simulation in a real browser: while it runs, with its clock, and as one file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from testbed.browser import Browser
from tests.cli.commands import headroom
from tests.dashboard.looking import assert_well
from tests.dashboard.worlds import served

pytestmark = pytest.mark.e2e
CLOCK = "document.querySelector('#moment').innerText"
SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: clockwork}
spec:
  start: "2027-01-04T07:55:00Z"
  until: 20m
  pools: [{name: general, count: 2, cpu: "4", memory: 16Gi, price: 0.5}]
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: spare, namespace: default}
spec:
  slot: {template: {resources: {requests: {cpu: "1", memory: 1Gi}}}}
  size: {replicas: 3}
  owners: [{priorityAtLeast: 1000}]
  schedule: [{start: "0 8 * * *", duration: 10m}]
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO)
    return file


def test_a_running_simulation_can_be_paused_sped_up_and_looked_back_on(
    browser: Browser, scenario: Path
) -> None:
    with (
        served("simulate", str(scenario), "--serve", "127.0.0.1:0") as address,
        browser.page(address) as page,
    ):
        page.until("document.documentElement.dataset.connection === 'live'")
        page.until("!document.querySelector('#clock').hidden")
        page.click("#play")
        page.until("document.querySelector('#play').innerText === 'Play'")
        assert "finished" not in page.eval(CLOCK)
        page.choose("#speed", "0")
        page.until("document.querySelector('#speed').value === '0'")
        page.click("#play")
        page.until(f"{CLOCK}.includes('finished')")
        held = "document.querySelector('[data-row] td:nth-child(5)').innerText"
        page.until(f"{held} === '0'")
        page.choose("#slider", "600")
        page.until(f"{held} === '3'")
        assert page.text("#moment").startswith("0:10:00 of 0:20:00")
        page.until("document.querySelector('#cost-area').innerText.includes('0.375 per hour')")
        page.click("#now")
        page.until(f"{held} === '0'")
        page.click('[data-object="Headroom/default/spare"]')
        page.until("!!document.querySelector('#details-area dl')")
        assert_well(page)


def test_a_simulation_in_one_file_shows_every_moment(
    browser: Browser, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page_file, picture = tmp_path / "run.html", tmp_path / "run.svg"
    done = headroom(
        capsys, "simulate", str(scenario), "--html", str(page_file), "--svg", str(picture)
    )
    assert done.code == 0, done.err
    with browser.page(page_file.as_uri()) as page:
        page.until("!!document.documentElement.dataset.drawn")
        page.until("!!document.querySelector('#timeline svg .line.held')")
        page.until("document.querySelectorAll('[data-node]').length === 2")
        page.choose("#slider", "600")
        page.until("document.querySelector('[data-row] td:nth-child(5)').innerText === '3'")
        assert [url for url in page.requests if not url.startswith(("file:", "about:"))] == []
        assert_well(page)
    with browser.page(picture.as_uri()) as page:
        page.until("document.documentElement.tagName === 'svg'")
        assert page.errors == []


def test_the_picture_in_the_docs_is_what_the_command_on_the_page_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = Path(__file__).resolve().parents[2] / "docs" / "images"
    made = tmp_path / "shop.svg"
    done = headroom(capsys, "simulate", str(images / "shop.yaml"), "--svg", str(made))
    assert done.code == 0, done.err
    drawn = re.compile(r' (?:d|points)="[^"]+"')
    shown = drawn.findall((images / "shop.svg").read_text())
    assert shown
    assert drawn.findall(made.read_text()) == shown, "run make screenshots"


def test_reports_of_recommend_and_compare_shut_nobody_out(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[2]
    trace, shop = root / "docs/guides/traces/shop.csv", root / "docs/images/shop.yaml"
    first, second = tmp_path / "recommend.html", tmp_path / "compare.html"
    done = headroom(capsys, "recommend", "--trace", str(trace), "--html", str(first))
    assert done.code == 0, done.err
    vary = ("--vary", "Headroom:spec.size.replicas=0,8")
    done = headroom(capsys, "compare", str(shop), *vary, "--html", str(second))
    assert done.code == 0, done.err
    for file in (first, second):
        for dark in (False, True):
            for width in (1200, 420):
                with browser.page(file.as_uri(), dark, (width, 900)) as page:
                    page.until("!!document.querySelector('svg.chart')")
                    assert_well(page)
