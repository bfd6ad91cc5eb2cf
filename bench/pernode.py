"""A slot on every node, compared with the DaemonSet controller and pods of the same shape.

For each number of nodes, one after the other in one run and each on a fresh control plane:
kube-controller-manager rolls out a DaemonSet, then our operator holds a slot on every node. The
benchmark counts distinct covered nodes (with a bound pod), the writes of the controller for that,
and CPU time. Wall times of a noisy machine vary; writes and CPU hardly do. `strangers` are cores
that other processes of the machine used until the last node was covered, and `core s` is the time
multiplied by the remaining cores: compare this if strangers is high.

    python -m bench.pernode [--nodes 200,1000,5000] [--rounds 1] [--profile FILE] [--no-audit]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import audit
from bench.coverage import Coverage, is_guardian
from bench.field import CpuMeter, Field, daemonset, field, headroom, idle_cores, until_quiet
from bench.lab import NAMESPACE, Json
from headroom.core.objects import Pod
from headroom.wire.kinds import HEADROOMS

NAME = "everywhere"
DAEMONSET_PATH = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
PATIENCE_S = 600.0
IDLE_S = 3.0
AFTER_S = 3.0  # What a controller does within this time after the last node still counts.


@dataclass(frozen=True)
class Arm:
    """One way to get a pod onto every node."""

    name: str
    path: str
    body: Json
    client: str  # whose writes count

    @property
    def is_ours(self) -> bool:
        return self.client == audit.OPERATOR

    def counts(self, pod: Pod) -> bool:
        return is_guardian(pod) if self.is_ours else pod.labels.get("app") == NAME


ARMS = (
    Arm("daemonset", DAEMONSET_PATH, daemonset(NAME), audit.DAEMONSETS),
    Arm("headroom", HEADROOMS.path(NAMESPACE), headroom(NAME), audit.OPERATOR),
)


@dataclass(frozen=True)
class Row:
    """The result of one arm at one number of nodes."""

    arm: str
    nodes: int
    covered: int
    pods: int
    first_s: float  # until the first pod was seen
    created_s: float  # until the last one was
    covered_s: float  # until every node had one bound
    writes: Counter[str]  # of the controller in question
    all_writes: int  # of everybody: scheduler, kubelets, controllers
    cpu: dict[str, float]  # CPU milliseconds for each node, by component, beyond idling
    others: float  # cores that strangers used until all were covered

    @property
    def writes_per_hold(self) -> float:
        return sum(self.writes.values()) / max(1, self.covered)

    @property
    def core_s(self) -> float:
        """The time until all were covered, multiplied by the cores that other processes left."""
        return self.covered_s * max(0.0, (os.cpu_count() or 1) - self.others)

    @property
    def ms_per_node(self) -> float:
        return self.covered_s * 1000 / self.nodes


@contextlib.contextmanager
def actors(here: Field, arm: Arm, profile: Path | None) -> Iterator[dict[str, int]]:
    """The processes of this arm, by pid: our operator only in ours."""
    if not arm.is_ours:
        yield here.pids()
        return
    with here.operator(profile) as process:
        yield here.pids() | {"operator": process.pid}


async def measure(here: Field, arm: Arm, pids: dict[str, int]) -> Row:
    """Create the object, wait until every node is covered and all is idle again, count."""
    coverage = Coverage(counts=arm.counts)
    nodes = len(here.nodes)
    async with here.watched(coverage) as lab:
        await asyncio.to_thread(until_quiet, pids)
        idle = await idle_cores(pids, IDLE_S)
        here.writes.new()
        meter, began = CpuMeter(pids), time.perf_counter()
        await lab.create(arm.path, arm.body)
        if not await coverage.until_covered(nodes, PATIENCE_S):
            print(f"  only {coverage.covered} of {nodes} nodes covered", file=sys.stderr)
        strangers = meter.spent().others_cores
        await asyncio.sleep(AFTER_S)
        spent = meter.spent()
        await asyncio.to_thread(until_quiet, pids)
        written = here.writes.new()
    return Row(
        arm=arm.name,
        nodes=nodes,
        covered=coverage.covered,
        pods=len(coverage.born),
        first_s=min(coverage.born.values(), default=began) - began,
        created_s=max(coverage.born.values(), default=began) - began,
        covered_s=max(coverage.bound_at.values(), default=began) - began,
        writes=audit.kinds_of_writes(written, arm.client),
        all_writes=sum(not write.is_lease for write in written),
        cpu={what: used * 1000 / nodes for what, used in spent.beyond(idle).items()},
        others=strangers,
    )


def run(nodes: int, arm: Arm, audited: bool, profile: Path | None) -> Row:
    """One arm on a fresh control plane."""
    print(f"{arm.name}, {nodes} nodes …", file=sys.stderr)
    with field(nodes, audited=audited) as here, actors(here, arm, profile) as pids:
        return asyncio.run(measure(here, arm, pids))


def table(rows: list[Row]) -> str:
    lines = [
        f"{'nodes':>6} {'arm':<11}{'covered':>8}{'pods':>7}{'first s':>9}{'created s':>11}"
        f"{'covered s':>11}{'ms/node':>9}{'writes/hold':>13}{'all writes/node':>17}"
        f"{'strangers':>11}{'core s':>8}"
    ]
    lines += [
        f"{row.nodes:>6} {row.arm:<11}{row.covered:>8}{row.pods:>7}{row.first_s:>9.2f}"
        f"{row.created_s:>11.2f}{row.covered_s:>11.2f}{row.ms_per_node:>9.2f}"
        f"{row.writes_per_hold:>13.3f}{row.all_writes / row.nodes:>17.2f}"
        f"{row.others:>11.2f}{row.core_s:>8.1f}"
        for row in rows
    ]
    return "\n".join(lines)


def ratios(rows: list[Row]) -> str:
    """Our value divided by the DaemonSet controller's, pair by pair in the order of the runs."""
    theirs = [row for row in rows if row.arm == "daemonset"]
    ours = [row for row in rows if row.arm == "headroom"]
    lines = ["headroom / daemonset: below 1 is less"]
    for them, us in zip(theirs, ours, strict=False):
        # In our arm kube-controller-manager hears of the pods too, as it does of any pod.
        rollout = them.cpu["kube-controller-manager"] - us.cpu["kube-controller-manager"]
        controllers = us.cpu["operator"] / max(rollout, 1e-9)
        everything = sum(us.cpu.values()) / max(sum(them.cpu.values()), 1e-9)
        lines.append(
            f"{us.nodes:>6} time {us.covered_s / max(them.covered_s, 1e-9):.2f}"
            f"  core s {us.core_s / max(them.core_s, 1e-9):.2f}"
            f"  created {us.created_s / max(them.created_s, 1e-9):.2f}"
            f"  writes {us.writes_per_hold / max(them.writes_per_hold, 1e-9):.2f}"
            f"  cpu of the controller {controllers:.2f}  cpu of all {everything:.2f}"
        )
    return "\n".join(lines)


def cpu_table(rows: list[Row]) -> str:
    names = sorted({name for row in rows for name in row.cpu})
    short = [name.removeprefix("kube-")[:14] for name in names]
    head = "".join(f"{name:>16}" for name in (*short, "all"))
    lines = ["CPU ms per node, beyond idling", f"{'nodes':>6} {'arm':<11}{head}"]
    for row in rows:
        figures = [row.cpu.get(name, 0.0) for name in names]
        cells = "".join(f"{value:>16.2f}" for value in (*figures, sum(figures)))
        lines.append(f"{row.nodes:>6} {row.arm:<11}{cells}")
    return "\n".join(lines)


def writes_table(rows: list[Row]) -> str:
    lines = ["what the controller wrote"]
    for row in rows:
        kinds = ", ".join(f"{count} {what}" for what, count in row.writes.most_common())
        lines.append(f"{row.nodes:>6} {row.arm:<11}{kinds or '(not counted)'}")
    return "\n".join(lines)


def report(rows: list[Row]) -> str:
    return "\n\n".join((table(rows), ratios(rows), cpu_table(rows), writes_table(rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="200,1000,5000")
    parser.add_argument("--arms", default="daemonset,headroom")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-audit", action="store_true", help="see what counting costs")
    parser.add_argument("--profile", type=Path, help="run the operator under cProfile (slower)")
    options = parser.parse_args()
    chosen = [arm for arm in ARMS if arm.name in options.arms.split(",")]
    began, rows = time.perf_counter(), []
    turns = [
        (count, arm)
        for count in map(int, options.nodes.split(","))
        for number in range(options.rounds)
        # Every other round begins with the other arm, should what ran before matter.
        for arm in (chosen if number % 2 == 0 else chosen[::-1])
    ]
    try:
        for count, arm in turns:
            rows.append(run(count, arm, not options.no_audit, options.profile))
            print(table(rows[-1:]).splitlines()[-1], file=sys.stderr)
    finally:  # What was measured before an arm failed took minutes: it is told.
        print(report(rows))
        print(f"({time.perf_counter() - began:.0f} s in all)")


if __name__ == "__main__":
    main()
