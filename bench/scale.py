"""How the embedded cluster grows: CPU for each pod with more pods, more nodes and a longer day.

    python -m bench.scale [--pods N] [--full]

Each row has a yardstick of the same run, the smallest case of its kind, so a slow machine changes
neither ratio nor verdict: linear in pods means that a pod costs the same however many there are;
sublinear in nodes, that it costs less than in proportion. The last column is what the aim would
take at this rate; `--full` runs 20,000 nodes and 50,000 pods as well (minutes).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.simulator import bare_pods, node
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld

LINEAR = 1.25
"""So much dearer may a pod be than that of the yardstick: runs of one minute differ by as much."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case: what a pod costs, and how often as much it may cost as that of the yardstick."""

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
    """CPU seconds to place and start plain pods; the nodes are there before."""
    with SimWorld(settings=Settings(scheduler_qps=0, controller_qps=0)) as world:
        for index in range(nodes):
            world.apply(node(index))
        world.run_until_idle()
        began = time.process_time()
        bare_pods(world, pods)
        world.run_until_idle()
        return time.process_time() - began


def day(nodes: int, pods: int) -> float:
    """CPU seconds of a simulated day, in a process of its own."""
    command = [sys.executable, "-m", "bench.day", "--nodes", str(nodes), "--pods", str(pods)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"([0-9.]+) s of CPU", told)
    if found is None:
        raise RuntimeError(f"bench.day says no time: {told}")
    return float(found.group(1))


def rows(pods: int, full: bool) -> Iterator[Row]:
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
    short = Row("a day", 100, 1_200, day(100, 1_200))
    yield short
    cost = day(300, 4_800)
    yield Row("a larger day", 300, 4_800, cost, short.each, LINEAR)
    each = (cost - short.cpu) / (4_800 - 1_200)  # Without what it takes to start.
    for size, most, what in ((100_000, 60, "100,000 pods"), (670_000, 900, "670,000 arrivals")):
        sys.stdout.write(f"at {each * 1e3:.2f} ms a pod more: {_told(each * size, most, what)}\n")


def _told(seconds: float, aim: float, what: str) -> str:
    return f"{what}: {seconds:.0f} s, aim {aim:.0f} s, {'met' if seconds <= aim else 'NOT met'}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=2_000)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    heading = f"{'CASE':<14}{'NODES':>8}{'PODS':>8}{'CPU':>10}{'PER POD':>12}{'RATIO':>9}  "
    sys.stdout.write(f"{heading}{'KEPT':<18}AT THIS RATE\n")
    for row in rows(options.pods, options.full):
        sys.stdout.write(row.line())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
