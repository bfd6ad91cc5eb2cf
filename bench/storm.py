"""Half of the nodes flap for a minute: the operator's writes, and whether all are held after.

Each flapping node becomes unavailable and available repeatedly, cordoned or not ready, for one to
eight seconds at a time. The same seed gives the same storm. If a slot is deleted and created again
at each flap, the number of guardians per flap is near one.

    python -m bench.storm [--nodes 300] [--seconds 60] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench import audit
from bench.coverage import Coverage
from bench.field import Field, field, headroom, memory_mb, until_quiet
from bench.lab import NAMESPACE, cpu_seconds
from bench.unrest import Flap, Sent, flaps, storm
from headroom.wire.kinds import HEADROOMS

PATIENCE_S = 600.0
CALM_S = 120.0  # Longer than any grace period or back-off after which a slot is made again.
FLUSH_S = 1.0


@dataclass(frozen=True)
class Result:
    """The result of a storm."""

    nodes: int
    planned: tuple[Flap, ...]
    seconds: float
    sent: Sent
    lowest: int  # the fewest nodes held at any moment
    made: Counter[str]  # guardians made, by node
    held: int
    calm_s: float  # from the end of the storm until every node was held
    during: Counter[str]
    after: Counter[str]
    cores: float
    memory: dict[str, float]


async def measure(here: Field, pids: dict[str, int], planned: list[Flap], seconds: float) -> Result:
    """Hold every node, let the storm pass, wait until every node is held again, count."""
    coverage, nodes = Coverage(), len(here.nodes)
    async with here.watched(coverage) as lab:
        await lab.create(HEADROOMS.path(NAMESPACE), headroom("everywhere"))
        if not await coverage.until_covered(nodes, PATIENCE_S):
            print(f"  only {coverage.covered} of {nodes} nodes held", file=sys.stderr)
        await asyncio.to_thread(until_quiet, pids)
        coverage.begin_anew()
        here.writes.new()
        before, began = cpu_seconds(pids), time.perf_counter()
        sent = await storm(lab.client, planned, seconds)
        ended, after = time.perf_counter(), cpu_seconds(pids)
        await asyncio.sleep(FLUSH_S)
        during = here.writes.new()
        if not await coverage.until_covered(nodes, CALM_S):
            print(f"  only {coverage.covered} of {nodes} held again", file=sys.stderr)
        calm = time.perf_counter() - ended
        await asyncio.to_thread(until_quiet, pids)
        await asyncio.sleep(FLUSH_S)
        later = here.writes.new()
    return Result(
        nodes=nodes,
        planned=tuple(planned),
        seconds=ended - began,
        sent=sent,
        lowest=coverage.lowest,
        made=Counter(coverage.homes.values()),
        held=coverage.covered,
        calm_s=calm,
        during=audit.kinds_of_writes(during, audit.OPERATOR),
        after=audit.kinds_of_writes(later, audit.OPERATOR),
        cores=(after["operator"] - before["operator"]) / (ended - began),
        memory=memory_mb(pids["operator"]),
    )


def report(result: Result) -> str:
    flapping = len({flap.node for flap in result.planned})
    kinds = Counter(flap.kind for flap in result.planned)
    writes = sum(result.during.values())
    made = sum(result.made.values())
    busiest = max(result.made.values(), default=0)
    flaps_in_all = max(1, len(result.planned))
    return "\n".join(
        (
            f"{result.nodes} nodes, {flapping} flapping for {result.seconds:.0f} s: "
            f"{kinds['cordon']} cordons, {kinds['not ready']} times not ready "
            f"({result.sent.refused} patches refused, at most {result.sent.latest_s:.1f} s late)",
            f"operator's writes a minute      {writes * 60 / result.seconds:10.0f}",
            f"  for each flap                 {writes / flaps_in_all:10.2f}",
            f"  for each flapping node        {writes / max(1, flapping):10.2f}",
            f"  what: {_list(result.during)}",
            f"  after the storm: {_list(result.after)}",
            f"guardians made                  {made:10}   at most {busiest} on one node",
            f"fewest nodes held at a moment   {result.lowest:10}",
            f"nodes held at the end           {result.held:10}   "
            f"{result.calm_s:.1f} s after the storm",
            f"operator                        {result.cores * 100:9.1f}% of a core, "
            f"{result.memory['peak']:.0f} MB at most",
        )
    )


def _list(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in kinds.most_common()) or "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", type=Path, help="run the operator under cProfile (slower)")
    options = parser.parse_args()
    with field(options.nodes) as here, here.operator(options.profile) as operator:
        planned = flaps(here.nodes[::2], options.seconds, options.seed)
        pids = here.pids() | {"operator": operator.pid}
        result = asyncio.run(measure(here, pids, planned, options.seconds))
    print(report(result))


if __name__ == "__main__":
    main()
