"""The cost of the dashboard: time to the first picture, CPU of page and operator, handovers.

The first part has an operator's ledger of 5,000 nodes and 50,000 pods with churn, without an API
server: no page, one page and three pages in a real browser, and an explanation. The second part
runs on a real control plane: the handovers of `bench.handover` without and with three open pages,
in pairs, one right after the other and each pair in the other order, so that other load on the
machine affects both. The ratio of each pair is printed as median, minimum and maximum. First the
pages are received and not drawn, as by browsers on other machines; then a browser on this machine
draws them.

    python -m bench.dashboard [--nodes 5000] [--pods 50000] [--owners 500] [--pairs 4]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import rows
from bench.handover import Row, Setting, arm
from bench.lab import cluster, component_pids, lab, operator
from bench.reader import readers
from testbed.browser import Browser, Page, running_browser
from testbed.controlplane import ControlPlane
from testbed.ports import Ports

MARK = (
    "new MutationObserver((_, self) => { if (document.documentElement?.dataset.drawn) {"
    " globalThis.firstPicture = performance.now(); self.disconnect(); } })"
    ".observe(document, {attributes: true, subtree: true, childList: true});"
)
PAGES = (0, 1, 3)
WITH = 3


class Server:
    """The measured process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._line()

    def _line(self) -> str:
        line = self._process.stdout.readline().strip() if self._process.stdout else ""
        if not line:
            raise RuntimeError("the measured process has ended")
        return line

    def numbers(self) -> dict[str, float]:
        """What it used since the last call."""
        if self._process.stdin is not None:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        found: dict[str, float] = json.loads(self._line())
        return found


@contextmanager
def measured(nodes: int, pods: int) -> Iterator[Server]:
    size = ("--nodes", str(nodes), "--pods", str(pods))
    command = (sys.executable, "-m", "bench.dashboard_one", *size)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Server(process)
        finally:
            process.terminate()


def page_numbers(page: Page, seconds: float) -> dict[str, float]:
    """What the browser used for a page during some seconds."""

    def metrics() -> dict[str, float]:
        found = page.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in found}

    page.send("Performance.enable")
    before = metrics()
    time.sleep(seconds)
    after = metrics()
    busy = after["TaskDuration"] - before["TaskDuration"]
    return {
        "first_picture_ms": page.eval("globalThis.firstPicture"),
        "cpu_percent": 100 * busy / seconds,
        "heap_mib": after["JSHeapUsedSize"] / 2**20,
    }


def look(browser: Browser, server: Server, count: int, seconds: float) -> dict[str, Any]:
    """Open this many pages, let them run for a while, and return the cost."""
    with ExitStack() as open_pages:
        pages = []
        for _ in range(count):
            pages.append(open_pages.enter_context(browser.page(server.address, early=MARK)))
            pages[-1].until("globalThis.firstPicture > 0", 300)
        server.numbers()
        found: dict[str, Any] = {"page": page_numbers(pages[0], seconds)} if pages else {}
        if not pages:
            time.sleep(seconds)
        found["operator"] = server.numbers()
        if count == 1:
            began = time.perf_counter()
            page = pages[0]
            page.eval("ask('explain?object=Headroom/team-0/h-0').then((answer) => answer.json())")
            found["explain_s"] = time.perf_counter() - began
            found["while_explaining"] = server.numbers()
    return found


def told(count: int, found: dict[str, Any]) -> list[str]:
    at_work, page = found["operator"], found.get("page")
    lines = [
        f"{count} pages   operator: CPU {at_work['cpu_percent']:.0f} %, "
        f"peak {at_work['peak_mib']:.0f} MiB, {lateness(at_work)}; "
        f"{at_work['messages_per_second']:.2f} messages a second in all, "
        f"{at_work['pictures_per_second']:.2f} pictures"
    ]
    if page:
        lines.append(
            f"          page: first picture after {page['first_picture_ms']:.0f} ms, "
            f"CPU {page['cpu_percent']:.0f} %, heap {page['heap_mib']:.0f} MiB"
        )
    if "explain_s" in found:
        busy = found["while_explaining"]
        lines.append(f"          explain: {found['explain_s']:.2f} s; meanwhile {lateness(busy)}")
    return lines


def lateness(numbers: dict[str, float]) -> str:
    """The delay of the loop: how long a handover would have waited."""
    return (
        f"loop late p50 {numbers['late_p50_ms']:.2f} ms, p99 {numbers['late_p99_ms']:.1f} ms, "
        f"worst {numbers['late_max_ms']:.0f} ms"
    )


def page_rows(found: dict[int, dict[str, Any]], scale: str) -> Iterator[rows.Row]:
    """What the page costs the operator, beside no page; how soon there is a picture."""
    without, with_pages = (found[count]["operator"] for count in (0, WITH))
    cpu = (with_pages["cpu_percent"], "%", "no page", without["cpu_percent"])
    yield rows.Row(f"dashboard, operator CPU, {WITH} pages", *cpu, scale=scale)
    late = (with_pages["late_p99_ms"], "ms", "no page", without["late_p99_ms"])
    yield rows.Row(f"dashboard, loop late p99, {WITH} pages", *late, scale=scale)
    picture = found[1]["page"]["first_picture_ms"] / 1000
    yield rows.Row("dashboard, first picture", picture, "s", scale=scale)
    each = with_pages["messages_per_second"] / WITH
    yield rows.Row("dashboard, messages a page", each, "/s", aim=rows.Aim(1.05), scale=scale)


async def handovers(plane: ControlPlane, setting: Setting, pids: dict[str, int], name: str) -> Row:
    async with lab(plane) as here:
        return await arm(here, setting, pids, name, "paced")


def side_by_side(browser: Browser | None, owners: int, pairs: int) -> Iterator[str]:
    """The same handovers without and with three open pages, alternately, on one operator.

    Without a browser the pages are only received.
    """
    setting = Setting(owners, 50, 0, 25.0)
    turned: dict[int, list[Row]] = {0: [], WITH: []}
    ports = Ports()
    port = ports.take()
    with (
        cluster(setting.nodes, setting.slots_per_node) as plane,
        tempfile.TemporaryDirectory() as logs,
        operator(
            plane, Path(logs) / "operator.log", flags=("--http", f"127.0.0.1:{port}")
        ) as process,
    ):
        pids = component_pids(plane, process)
        for turn, count in enumerate(turns(pairs)):
            with ExitStack() as open_pages:
                open_all(open_pages, browser, f"http://127.0.0.1:{port}/", count)
                row = asyncio.run(handovers(plane, setting, pids, "door 1 alone"))
            turned[count].append(row)
            yield (
                f"turn {turn + 1}, {count} pages: {row.owners} owners, {row.lost} lost, "
                f"p50 {row.p50 * 1000:.1f} ms, p99 {row.p99 * 1000:.1f} ms, "
                f"operator {row.cpu['operator']:.2f} CPU ms an owner"
            )
    ports.close()
    yield from compared(turned[0], turned[WITH])


def open_all(pages: ExitStack, browser: Browser | None, address: str, count: int) -> None:
    """Open this many pages, and wait until each has its first picture."""
    if browser is None:
        if count:
            pages.enter_context(readers(address, count))
        return
    for _ in range(count):
        page = pages.enter_context(browser.page(address, early=MARK))
        page.until("globalThis.firstPicture > 0", 300)


def turns(pairs: int) -> list[int]:
    """How many pages are open in each round: without and with, then with and without."""
    both = ((0, WITH), (WITH, 0))
    return [count for pair in range(pairs) for count in both[pair % 2]]


def compared(without: list[Row], with_pages: list[Row]) -> list[str]:
    """Three pages compared with none, pair by pair."""
    measures: dict[str, Callable[[Row], float]] = {
        "p50": lambda row: row.p50,
        "p99": lambda row: row.p99,
        "operator's CPU": lambda row: row.cpu["operator"],
    }
    lines = []
    for name, of in measures.items():
        ratios = [of(b) / of(a) for a, b in zip(without, with_pages, strict=True) if of(a)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "nothing measured"
        middle = f"{statistics.median(ratios):.2f}" if ratios else "?"
        lines.append(f"with {WITH} pages, {name}: {middle} x without ({spread})")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--owners", type=int, default=500, help="0: no control plane is started")
    parser.add_argument("--pairs", type=int, default=4, help="turns without and with pages")
    rows.add_option(parser)
    options = parser.parse_args()
    with running_browser() as browser:
        with measured(options.nodes, options.pods) as server:
            print(f"{options.nodes} nodes, {options.pods} pods, 100 changes a second")
            found = {}
            for count in PAGES:
                found[count] = look(browser, server, count, options.seconds)
                print("\n".join(told(count, found[count])))
                sys.stdout.flush()
        scale = f"{options.nodes:,} nodes, {options.pods:,} pods, 100 changes a second"
        rows.write(options.rows, page_rows(found, scale))
        for drawn in (None, browser) if options.owners else ():
            how = "drawn on this machine" if drawn else "read, and drawn elsewhere"
            print(f"handovers through the gate on a real control plane; pages are {how}")
            for line in side_by_side(drawn, options.owners, options.pairs):
                print(line, flush=True)


if __name__ == "__main__":
    main()
