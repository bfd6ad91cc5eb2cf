"""The page of a file in a real browser: everything that it shows, and every way to use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from testbed.browser import Browser, Page
from testbed.ports import Ports
from tests.cli.commands import headroom
from tests.dashboard.looking import assert_well
from tests.dashboard.worlds import hostile_result, many_nodes, served

pytestmark = pytest.mark.e2e
DRAWN = "!!document.documentElement.dataset.drawn"
HOSTILE = "<img src=x onerror=globalThis.hit=1>"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with objects of every sort, and text from people who mean harm."""
    file = tmp_path_factory.mktemp("files") / "result.json"
    file.write_text(json.dumps(hostile_result()))
    return file


@pytest.fixture(scope="module")
def address(result: Path) -> Iterator[str]:
    with served("view", str(result), "--price", "general=2") as found:
        yield found


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.eval("location.href")).query)


def test_the_page_of_a_result_shows_all_its_parts_in_light_and_dark(
    browser: Browser, address: str
) -> None:
    for dark in (False, True):
        with browser.page(address, dark=dark) as page:
            page.until(DRAWN)
            assert "3 nodes" in page.text("#totals")
            assert "burst" in page.text("#objects")
            assert "cannot be placed" in page.text("#waiting")
            assert "per hour" in page.text("#cost")
            page.until("!!document.querySelector('#timeline svg .line.held')")
            page.until("!!document.querySelector('#schedules svg .window')")
            assert page.eval("document.documentElement.dataset.theme") == (
                "dark" if dark else "light"
            )
            assert_well(page)


def test_choices_go_into_the_url_and_come_back_from_it(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.until(DRAWN)
        page.choose("#resource", "memory")
        page.choose("#group", "pool")
        page.choose("#look", "grid")
        page.choose("#sort", "name")
        page.choose("#filter", "general-1")
        page.choose("#pod", "own")
        page.click("#find button")
        page.click("#theme")
        assert page.until("document.querySelectorAll('.grid .node').length === 1")
        there = page.eval("location.href")
        assert query(page)["group"] == ["pool"]
        page.go("about:blank")
        page.go(there)
        page.until(f"{DRAWN} && document.querySelectorAll('.grid .node').length === 1")
        assert page.text("#node-area h3") == "general"
        assert page.eval("document.documentElement.dataset.theme") == "dark"
        assert "memory" in page.text("#totals")
        page.until("document.querySelector('#pod-area').innerText.includes('burst-0')")
        assert_well(page)


def test_a_node_opens_to_its_pods_and_a_row_to_what_explain_says(
    browser: Browser, address: str, result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with browser.page(address) as page:
        page.until(DRAWN)
        page.click('[data-node="general-0"]')
        page.until("!!document.querySelector('#details-area td')")
        assert "held" in page.text("#details")
        assert query(page)["node"] == ["general-0"]
        page.key("Escape")
        page.until("!document.querySelector('#details').open")
        page.until("!new URLSearchParams(location.search).has('node')")
        page.click('[data-object="Headroom/shop/burst"]')
        page.until("!!document.querySelector('#details-area dl')")
        told = headroom(capsys, "explain", "headroom/burst", "-n", "shop", "--from", str(result))
        assert told.out.splitlines()[0] in page.text("#details").splitlines()
        assert_well(page)
        there = page.eval("location.href")
        page.go("about:blank")
        page.go(there)
        page.until("!!document.querySelector('#details[open] dl')")
        page.key("Escape")
        page.until("!document.querySelector('#details').open")
        page.click('#waiting [data-object^="Pod/shop/late"]')
        page.until("document.querySelector('#details-area').innerText.includes('waits')")
        assert_well(page)


def test_markup_and_escape_sequences_in_objects_stay_text(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.until(DRAWN)
        page.until(f"document.body.innerText.includes({json.dumps(HOSTILE)})")
        page.until(r"document.body.innerText.includes('\\x1b[2J')")
        page.until(r"document.body.innerText.includes('\\u202e')")
        page.choose("#group", "label:evil")
        page.until(
            f"document.querySelector('#node-area').innerText.includes({json.dumps(HOSTILE)})"
        )
        page.click('[data-object="Headroom/shop/burst"]')
        page.until("!!document.querySelector('#details-area dl')")
        assert page.eval("globalThis.hit ?? null") is None
        assert (
            page.eval("document.querySelectorAll('main img, dialog img, main script').length") == 0
        )
        assert_well(page)


@pytest.mark.parametrize("odd", ["constructor", "__proto__", HOSTILE, "'\"></script>", "x" * 5000])
def test_whatever_a_url_says_the_page_is_drawn_and_nothing_runs(
    browser: Browser, result: Path, tmp_path: Path, odd: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert headroom(capsys, "view", str(result), "--html", str(file)).code == 0
    names = ("resource", "look", "sort", "order", "at", "theme", "filter", "node", "pod")
    query = {**dict.fromkeys(names, odd), "group": f"label:{odd}"}
    with browser.page(f"{file.as_uri()}?{urlencode(query)}") as page:
        page.until(DRAWN)
        page.until("document.querySelector('#details-area').innerText.includes('No answer')")
        page.key("Escape")
        page.choose("#filter", "")
        page.until("document.querySelectorAll('[data-node]').length === 3")
        assert "NaN" not in page.text("body")
        assert "function" not in page.text("#node-area")
        assert page.eval("globalThis.hit ?? null") is None
        assert_well(page)


def test_a_page_in_a_file_needs_no_server_and_loads_nothing(
    browser: Browser, result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert headroom(capsys, "view", str(result), "--html", str(file)).code == 0
    with browser.page(file.as_uri()) as page:
        page.until(DRAWN)
        page.until(f"document.body.innerText.includes({json.dumps(HOSTILE)})")
        page.click('[data-object="Headroom/shop/burst"]')
        page.until("!!document.querySelector('#details-area dl')")
        page.key("Escape")
        page.click('[data-node="general-0"]')
        page.until("!!document.querySelector('#details-area td')")
        assert [url for url in page.requests if not url.startswith(("file:", "about:"))] == []
        assert page.eval("globalThis.hit ?? null") is None
        assert_well(page)


def test_a_pod_is_found_by_a_part_of_its_name_and_leads_to_its_node(
    browser: Browser, address: str, result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert headroom(capsys, "view", str(result), "--html", str(file)).code == 0
    for where in (address, file.as_uri()):
        with browser.page(where) as page:
            page.until(DRAWN)
            page.choose("#pod", "SHOP/own")
            page.click("#find button")
            page.until("!!document.querySelector('#pod-area [data-opens]')")
            assert "Headroom/shop/burst" in page.text("#pod-area")
            assert "late" not in page.text("#pod-area")
            page.click("#pod-area [data-opens]")
            page.until("document.querySelector('#details').open")
            assert page.text("#details-title") == "Node burst-0"
            page.key("Escape")
            page.choose("#pod", "late")
            page.click("#find button")
            page.until("document.querySelector('#pod-area').innerText.includes('waits')")
            page.choose("#pod", "nobody-of-that-name")
            page.click("#find button")
            page.until("document.querySelector('#pod-area').innerText.includes('No pod has')")
            assert_well(page)


def test_above_some_hundreds_of_nodes_a_canvas_is_drawn_and_keys_work_in_it(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps(many_nodes(1000)))
    with served("view", str(file)) as address, browser.page(address) as page:
        page.until(f"{DRAWN} && !!document.querySelector('#node-area canvas')")
        page.eval("document.querySelector('#node-area canvas').focus()")
        page.key("ArrowRight")
        page.key("ArrowRight")
        said = page.until("document.querySelector('#node-said').innerText")
        name = str(said).partition(":")[0]
        page.key("Enter")
        page.until("document.querySelector('#details').open")
        assert page.text("#details-title") == f"Node {name}"
        page.key("Escape")
        page.choose("#filter", name)
        page.until(f"!!document.querySelector('[data-node=\"{name}\"]')")
        assert_well(page)


def test_the_keyboard_alone_reaches_and_opens_a_node(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.until(DRAWN)
        for _ in range(40):
            page.key("Tab")
            if page.eval("document.activeElement?.dataset?.node ?? ''"):
                break
        name: Any = page.eval("document.activeElement.dataset.node")
        page.key("Enter")
        page.until("document.querySelector('#details').open")
        assert page.text("#details-title") == f"Node {name}"


def test_every_one_of_thousands_of_nodes_can_be_reached_in_the_canvas(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps(many_nodes(5000)))
    look = "?sort=name"
    with served("view", str(file)) as address, browser.page(f"{address}{look}") as page:
        page.until(f"{DRAWN} && !!document.querySelector('#node-area canvas')")
        page.eval("document.querySelector('#node-area canvas').focus()")
        page.key("End")
        page.until("document.querySelector('#node-said').innerText.startsWith('node-04999')")
        seen = (
            "(() => { const cell = canvasState.cells[canvasState.chosen];"
            " const box = document.querySelector('.many');"
            " return cell.y >= box.scrollTop && cell.y <= box.scrollTop + box.clientHeight; })()"
        )
        assert page.eval(seen)
        page.key("Enter")
        page.until("document.querySelector('#details').open")
        assert page.text("#details-title") == "Node node-04999"
        page.key("Escape")
        assert_well(page)


def test_a_page_whose_server_goes_says_so_and_comes_back_with_it(
    browser: Browser, result: Path
) -> None:
    two = "document.querySelectorAll('[data-node]').length === 2"
    with ExitStack() as first, closing(Ports()) as ports:
        at = ("--http", f"127.0.0.1:{ports.take()}")
        address = first.enter_context(served("view", str(result), *at))
        with browser.page(f"{address}?filter=general") as page:
            page.until(f"document.documentElement.dataset.connection === 'live' && {two}")
            first.close()
            page.until("document.documentElement.dataset.connection === 'broken'")
            assert page.eval(two)
            with served("view", str(result), *at):
                page.until(f"document.documentElement.dataset.connection === 'live' && {two}")
                page.errors[:] = [each for each in page.errors if "net::ERR" not in each]
                assert_well(page)
