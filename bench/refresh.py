"""Slots renewed at each start of an overlapping schedule: no gap, once a start, few writes.

A Headroom with one slot a node, `refill: Always` and a window that starts every minute and lasts
longer than one: at each start all slots exist, and are renewed. The watch shows the minimum number
of distinct held nodes, and how many guardians each start created.

    python -m bench.refresh [--nodes 300] [--ticks 3] [--full] [--watch-for 50]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import audit
from bench.coverage import Coverage
from bench.field import Field, field, headroom, until_quiet
from bench.lab import NAMESPACE, Json
from headroom.wire.kinds import HEADROOMS

PATIENCE_S = 600.0
TICK_S = 60.0
WATCH_FOR_S = 50.0  # Nearly until the next start: a second rotation would not be missed.
SPARE_S = 15.0  # So much of a minute must be left to begin in it.


@dataclass(frozen=True)
class Tick:
    """The result of one start of the schedule."""

    nodes: int
    lowest: int
    held: int
    made: int
    nodes_renewed: int
    most_on_one: int
    last_made_s: float
    writes: Counter[str]


def schedule() -> Json:
    """A window that starts every minute and lasts until after the next start."""
    return {"start": "* * * * *", "duration": "150s"}


async def measure(
    here: Field, pids: dict[str, int], ticks: int, watch_for: float = WATCH_FOR_S
) -> list[Tick]:
    """Hold every node, then observe some starts of the schedule one after the other."""
    coverage, nodes, found = Coverage(), len(here.nodes), []
    async with here.watched(coverage) as lab:
        await _early_in_a_minute()
        body = headroom("renewed", refill="Always", schedule=[schedule()])
        await lab.create(HEADROOMS.path(NAMESPACE), body)
        if not await coverage.until_covered(nodes, PATIENCE_S):
            print(f"  only {coverage.covered} of {nodes} nodes held", file=sys.stderr)
        await asyncio.to_thread(until_quiet, pids, 30.0)
        for number in range(ticks):
            here.writes.new()
            coverage.begin_anew()
            start = _seconds_left()
            began = time.perf_counter() + start
            await asyncio.sleep(start + watch_for)
            found.append(_tick(coverage, began, nodes, here.writes.new()))
            print(f"  start {number + 1} of {ticks}", file=sys.stderr)
    return found


def _tick(coverage: Coverage, began: float, nodes: int, written: list[audit.Written]) -> Tick:
    return Tick(
        nodes=nodes,
        lowest=coverage.lowest,
        held=coverage.covered,
        made=len(coverage.born),
        nodes_renewed=len(set(coverage.homes.values())),
        most_on_one=coverage.most_on_one,
        last_made_s=max(coverage.born.values(), default=began) - began,
        writes=audit.kinds_of_writes(written, audit.OPERATOR),
    )


def _seconds_left() -> float:
    """The time until the next minute, by the clock of the schedule."""
    now = datetime.now(UTC)
    return TICK_S - now.second - now.microsecond / 1e6


async def _early_in_a_minute() -> None:
    if _seconds_left() < SPARE_S:
        await asyncio.sleep(_seconds_left())


def report(ticks: list[Tick]) -> str:
    lines = [
        f"{'start':>5}{'nodes':>7}{'fewest held':>13}{'held after':>12}{'renewed':>9}"
        f"{'rotations':>11}{'most on one':>13}{'last made s':>13}{'writes/node':>13}"
    ]
    for number, tick in enumerate(ticks, 1):
        lines.append(
            f"{number:>5}{tick.nodes:>7}{tick.lowest:>13}{tick.held:>12}{tick.nodes_renewed:>9}"
            f"{tick.made / tick.nodes:>11.2f}{tick.most_on_one:>13}{tick.last_made_s:>13.2f}"
            f"{sum(tick.writes.values()) / tick.nodes:>13.2f}"
        )
    for number, tick in enumerate(ticks, 1):
        kinds = ", ".join(f"{count} {what}" for what, count in tick.writes.most_common())
        lines.append(f"start {number} wrote: {kinds or 'nothing'}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--ticks", type=int, default=3)
    parser.add_argument("--watch-for", type=float, default=WATCH_FOR_S, help="seconds a start")
    parser.add_argument("--full", action="store_true", help="nodes with room for one slot only")
    parser.add_argument("--profile", type=Path, help="run the operator under cProfile (slower)")
    options = parser.parse_args()
    cpu = "900m" if options.full else "16"
    with (
        field(options.nodes, cpu=cpu) as here,
        here.operator(options.profile) as operator,
    ):
        pids = here.pids() | {"operator": operator.pid}
        ticks = asyncio.run(measure(here, pids, options.ticks, options.watch_for))
    print(report(ticks))


if __name__ == "__main__":
    main()
