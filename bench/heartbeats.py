"""The cost of status-only updates of thousands of held nodes in the operator.

Every node is held, then each node's status is patched every ten seconds for a minute, as idle
kubelets do. A second process only receives the same events (our watch and decoder), so that the
cost of deciding can be separated from the cost of receiving. The other clients (kube-scheduler,
kube-controller-manager, kwok) are stopped for that minute: they have nothing to do, and 500 patches
a second are enough work for a small machine. If the machine cannot reach the rate, the figures for
the full rate are calculated from the cost of one event.

    python -m bench.heartbeats [--nodes 5000] [--seconds 60] [--every 10] [--profile FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import audit
from bench.coverage import Coverage
from bench.field import CpuMeter, Field, field, headroom, idle_cores, memory_mb, until_quiet
from bench.lab import NAMESPACE
from bench.unrest import Sent, heartbeats
from headroom.wire.kinds import HEADROOMS

PATIENCE_S = 600.0
FLUSH_S = 1.0
SHOWN = ("operator", "receiver")
BYSTANDERS = ("kube-scheduler", "kube-controller-manager", "kwok")


@dataclass(frozen=True)
class Result:
    """The cost of a minute of heartbeats."""

    nodes: int
    held: int
    pace: float  # patches a second asked for
    seconds: float
    sent: Sent
    idle: dict[str, float]  # cores used before, by process
    busy: dict[str, float]  # cores used during it
    memory: dict[str, dict[str, float]]
    writes: Counter[str]
    leases: int


@contextlib.contextmanager
def receiver(here: Field) -> Iterator[subprocess.Popen[str]]:
    """The process that only receives, after it has the whole list."""
    command = (sys.executable, "-m", "bench.receiver", str(here.plane.kubeconfig))
    root = Path(__file__).resolve().parents[1]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    try:
        if not process.stdout or process.stdout.readline().strip() != "ready":
            raise RuntimeError("the receiver did not get ready")
        yield process
    finally:
        process.terminate()
        process.wait(20)


async def measure(here: Field, pids: dict[str, int], seconds: float, every: float) -> Result:
    """Hold every node, wait until all is idle, then send the heartbeats and count."""
    coverage, nodes = Coverage(), len(here.nodes)
    async with here.watched(coverage) as lab:
        await lab.create(HEADROOMS.path(NAMESPACE), headroom("everywhere"))
        if not await coverage.until_covered(nodes, PATIENCE_S):
            print(f"  only {coverage.covered} of {nodes} nodes held", file=sys.stderr)
        await asyncio.to_thread(until_quiet, pids)
        for name in BYSTANDERS:
            here.plane.stop_component(name)
            del pids[name]
        idle = await idle_cores(pids, min(seconds, 10.0))
        here.writes.new()
        meter = CpuMeter(pids)
        sent = await heartbeats(lab.client, here.nodes, every, seconds)
        spent = meter.spent()
        await asyncio.sleep(FLUSH_S)
        written = here.writes.new()
    return Result(
        nodes=nodes,
        held=coverage.covered,
        pace=nodes / every,
        seconds=spent.seconds,
        sent=sent,
        idle=idle,
        busy=spent.cores,
        memory={name: memory_mb(pids[name]) for name in SHOWN},
        writes=audit.kinds_of_writes(written, audit.OPERATOR),
        leases=sum(write.client == audit.OPERATOR and write.is_lease for write in written),
    )


def report(result: Result) -> str:
    sent = result.sent
    rate = max(sent.done, 1) / result.seconds
    each = {name: (result.busy[name] - result.idle[name]) / rate for name in result.busy}
    lines = [
        f"{result.nodes} nodes, {result.held} held; {sent.done} patches in {result.seconds:.0f} s: "
        f"{rate:.0f} a second of {result.pace:.0f} ({sent.refused} refused)",
        f"{'process':<16}{'idle %':>8}{'during %':>10}{'µs/event':>10}{'% at pace':>11}"
        f"{'memory MB':>11}{'at most':>9}",
    ]
    for name in sorted(result.busy, key=lambda name: (name not in SHOWN, name)):
        memory = result.memory.get(name)
        size = f"{memory['now']:>11.0f}{memory['peak']:>9.0f}" if memory else ""
        lines.append(
            f"{name:<16}{result.idle[name] * 100:>8.1f}{result.busy[name] * 100:>10.1f}"
            f"{each[name] * 1e6:>10.0f}{each[name] * result.pace * 100:>11.1f}{size}"
        )
    beyond = each["operator"] - each["receiver"]
    kinds = ", ".join(f"{count} {what}" for what, count in result.writes.most_common())
    lines += [
        f"operator beyond receiving, at that pace: {beyond * result.pace * 100:.1f} % of a core "
        f"({each['operator'] / max(each['receiver'], 1e-9):.2f} times the cost of receiving)",
        f"operator's writes meanwhile: {sum(result.writes.values())}"
        + (f" ({kinds})" if kinds else "")
        + f", and {result.leases} renewals of its Lease",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--profile", type=Path, help="run the operator under cProfile (slower)")
    options = parser.parse_args()
    with (
        field(options.nodes) as here,
        here.operator(options.profile) as operator,
        receiver(here) as listening,
    ):
        pids = here.pids() | {"operator": operator.pid, "receiver": listening.pid}
        result = asyncio.run(measure(here, pids, options.seconds, options.every))
    print(report(result))


if __name__ == "__main__":
    main()
