"""How the cost of the embedded cluster grows: CPU for each pod with more pods, nodes and days.

    python -m bench.scale [--pods N] [--full | --quick] [--rows FILE]

Each row has a reference of the same run, the smallest case of its kind, so a slow machine changes
neither ratio nor verdict. Linear in pods means that a pod costs the same however many there are;
sublinear in nodes, that it costs less than in proportion. The last column is the time for the aim
at this rate. `--full` also runs the targets as they are: 20,000 nodes with 50,000 pods, a day of
1,000 nodes with 100,000 pods of 20 to 60 minutes each, and a month of 670,000 such pods (10 to 30
minutes in all).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench import rows
from bench.day import LONG, Minutes
from bench.simulator import bare_pods, node
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld

Days = tuple[tuple[int, int], tuple[int, int]]
DAYS: Days = ((100, 1_200), (300, 4_800))  # nodes and pods
QUICK_DAYS: Days = ((40, 400), (100, 1_600))
DAY_NAMES = ("a day", "a larger day")
PLACED = (20_000, 50_000)
WHOLE_NODES, WHOLE_MINUTES = 1_000, (20, 60)
ARRIVALS = (  # the row of the page, the case of a full run, pods, days, target in seconds
    ("a day of 100,000 pods", "a whole day", 100_000, 1, 60.0),
    ("a month of 670,000 arrivals", "a whole month", 670_000, 30, 900.0),
)
LINEAR = 1.25
"""How much more a pod may cost than in the reference: runs of one minute differ by as much."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case: the cost of a pod, and the allowed ratio to the reference."""

    name: str
    nodes: int
    pods: int
    cpu: float
    yardstick: float = 0.0
    allowed: float = 0.0
    aim: str = ""

    @property
    def each(self) -> float:
        return self.cpu / self.pods

    def line(self) -> str:
        ratio = self.each / self.yardstick if self.yardstick else 1.0
        verdict = "yardstick"
        if self.yardstick:
            verdict = f"{'yes' if ratio <= self.allowed else 'NO'} (≤ {self.allowed:.2f} ×)"
        case = f"{self.name:<14}{self.nodes:>8}{self.pods:>8}{self.cpu:>8.1f} s"
        return f"{case}{self.each * 1e3:>9.2f} ms{ratio:>7.2f} ×  {verdict:<18}{self.aim}\n"


def plain(nodes: int, pods: int) -> float:
    """CPU seconds to place and start plain pods; the nodes exist before."""
    with SimWorld(settings=Settings(scheduler_qps=0, controller_qps=0)) as world:
        for index in range(nodes):
            world.apply(node(index))
        world.run_until_idle()
        began = time.process_time()
        bare_pods(world, pods)
        world.run_until_idle()
        return time.process_time() - began


def day(nodes: int, pods: int, minutes: Minutes = LONG, days: int = 1) -> float:
    """CPU seconds of one simulated day or more, in their own process."""
    command = [sys.executable, "-m", "bench.day", "--nodes", str(nodes), "--pods", str(pods)]
    command += ["--minutes", *map(str, minutes), "--days", str(days)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"([0-9.]+) s of CPU", told)
    if found is None:
        raise RuntimeError(f"bench.day says no time: {told}")
    return float(found.group(1))


def cases(pods: int, full: bool, days: Days = DAYS) -> Iterator[Row]:
    """Measure, the yardstick of each kind first."""
    plain(100, 200)  # Everything is imported and warm.
    first = Row("plain pods", 1_000, pods, plain(1_000, pods))
    yield first
    for more in (2 * pods, 4 * pods):
        yield Row("more pods", 1_000, more, plain(1_000, more), first.each, LINEAR)
    few = Row("few nodes", 500, pods, plain(500, pods))
    yield few
    for nodes in (2_000, 8_000):
        cost = plain(nodes, pods)
        aim = _told(cost / pods * 50_000, 60, "20,000 nodes, 50,000 pods") if nodes > 2_000 else ""
        yield Row("more nodes", nodes, pods, cost, few.each, (nodes / few.nodes) ** 0.5, aim)
    if full:
        cost = plain(20_000, 50_000)
        aim = _told(cost, 60, "20,000 nodes, 50,000 pods")
        yield Row("all of them", 20_000, 50_000, cost, few.each, 40**0.5, aim)
    short, long = (Row(name, *size, day(*size)) for name, size in zip(DAY_NAMES, days, strict=True))
    yield short
    yield replace(long, yardstick=short.each, allowed=LINEAR)
    for _, name, size, days_long, most in ARRIVALS if full else ():
        cost = day(WHOLE_NODES, size, WHOLE_MINUTES, days_long)
        told = _told(cost, most, "as it is")
        yield Row(name, WHOLE_NODES, size, cost, short.each, LINEAR, told)


def more(found: Sequence[Row]) -> float:
    """What a pod more costs in a day, without what it takes to start."""
    whole = [row for row in found if row.name == ARRIVALS[0][1]]
    if whole:
        return whole[0].each
    short, long = (row for row in found if row.name in DAY_NAMES)
    return (long.cpu - short.cpu) / (long.pods - short.pods)


def page_rows(found: Sequence[Row]) -> Iterator[rows.Row]:
    """The aims, measured or worked out from what was, beside the smallest case in proportion."""
    days = [row for row in found if row.name in (*DAY_NAMES, *(each[1] for each in ARRIVALS))]
    short, largest = days[0], days[-1]
    for name, _, size, _, most in ARRIVALS:
        whole = next((row for row in days if row.pods == size), None)
        cost = more(found) * size if whole is None else whole.cpu
        worked_out = f"worked out from days of up to {largest.pods:,} pods"
        scale = f"{worked_out if whole is None else 'as it is'}, CPU of one process"
        beside = ("small day", short.each * size)
        yield rows.Row(name, cost, "s", *beside, rows.Aim(most), scale)
    first, placed = found[0], [row for row in found if row not in days]
    last = max(placed, key=lambda row: row.nodes)
    told = "" if (last.nodes, last.pods) == PLACED else "worked out from "
    scale = f"{told}{last.nodes:,} nodes and {last.pods:,} pods, CPU of one process"
    beside = (f"{first.nodes:,} nodes", first.each * PLACED[1])
    name = f"{PLACED[0]:,} nodes, {PLACED[1]:,} pods placed"
    yield rows.Row(name, last.each * PLACED[1], "s", *beside, rows.Aim(60.0), scale)


def _told(seconds: float, aim: float, what: str) -> str:
    return f"{what}: {seconds:.0f} s, aim {aim:.0f} s, {'met' if seconds <= aim else 'NOT met'}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=2_000)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--quick", action="store_true", help="shorter days")
    rows.add_option(parser)
    options = parser.parse_args()
    heading = f"{'CASE':<14}{'NODES':>8}{'PODS':>8}{'CPU':>10}{'PER POD':>12}{'RATIO':>9}  "
    sys.stdout.write(f"{heading}{'KEPT':<18}AT THIS RATE\n")
    found = []
    for row in cases(options.pods, options.full, QUICK_DAYS if options.quick else DAYS):
        found.append(row)
        sys.stdout.write(row.line())
        sys.stdout.flush()
    for name, _, size, _, aim in ARRIVALS:
        each = more(found)
        sys.stdout.write(f"at {each * 1e3:.2f} ms a pod more: {_told(each * size, aim, name)}\n")
    rows.write(options.rows, page_rows(found))


if __name__ == "__main__":
    main()
