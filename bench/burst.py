"""A burst onto held room: how long its pods wait, for each way to get the room.

Fake nodes are exactly full of held room, or empty ("free room"). The burst is created as fast as
the API server accepts it. In "preemption" and "node-sized" only kube-scheduler acts: the operator
has created the placeholders and was stopped. Rounds are interleaved, and their pods counted
together.

    python -m bench.burst [--pods 100] [--nodes 10] [--rounds 3] [--arms "free room,bulk"]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench import rows as handed_in
from bench.field import CpuMeter, known_kinds
from bench.lab import NAMESPACE, Json, Lab, cluster, install, lab, operator, percentile, pod
from headroom.core.names import CLAIM_GATE, ROLE_LABEL, SCHEDULER_NAME
from headroom.wire.kinds import HEADROOMS, PODS
from testbed.controlplane import ControlPlane

POD_PATH = PODS.path(NAMESPACE)
OWNER = {"app": "owner"}
FREE = "free room"
PREEMPTIBLE = {"mode": "Preemptible"}
LOCKED = {"owners": [{"labelSelector": {"matchLabels": OWNER}}]}
SETTLE_S = 2.0
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Arm:
    """One way: what is held, how the pods request it, and whether the operator runs."""

    name: str
    held: Json | None = None
    chunk: str = "Pod"
    door: Json = field(default_factory=dict)
    left_alone: bool = False


ARMS = (
    Arm(FREE),
    Arm("preemption", PREEMPTIBLE, left_alone=True),
    Arm("node-sized", PREEMPTIBLE, chunk="Node", left_alone=True),
    Arm("bulk", PREEMPTIBLE),
    Arm("bulk node-sized", PREEMPTIBLE, chunk="Node"),
    Arm("door 1", LOCKED, door={"schedulingGates": [{"name": CLAIM_GATE}]}),
    Arm("door 2", LOCKED, door={"schedulerName": SCHEDULER_NAME}),
    Arm("door 2 node-sized", LOCKED, chunk="Node", door={"schedulerName": SCHEDULER_NAME}),
)


@dataclass
class Row:
    """The result of an arm, over all rounds."""

    name: str
    sent: int = 0
    bound: list[float] = field(default_factory=list)
    running: list[float] = field(default_factory=list)
    strangers: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    pods: int
    nodes: int
    rounds: int
    arms: tuple[Arm, ...]

    @property
    def per_node(self) -> int:
        return self.pods // self.nodes


def headroom(name: str, arm: Arm, slots: int) -> Json:
    template = {"resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "slot": {"template": template, "chunk": arm.chunk},
            "size": {"replicas": slots},
            **(arm.held or {}),
        },
    }


async def one_round(plane: ControlPlane, here: Lab, setting: Setting, row: Row, arm: Arm) -> None:
    """Hold room, create the burst, record the times and clean up."""
    prefix = f"{arm.name.replace(' ', '-')}-{row.sent}"
    names = [f"{prefix}-{number}" for number in range(setting.pods)]
    with tempfile.TemporaryDirectory() as logs, contextlib.ExitStack() as running:
        process = running.enter_context(operator(plane, Path(logs) / "operator.log"))
        if arm.held is not None:
            await hold(here, setting, prefix, arm)
        found = {name: plane.pid(name) for name in plane.component_names}
        pids = {name: pid for name, pid in found.items() if pid}
        if arm.left_alone:
            running.close()
        else:
            pids["operator"] = process.pid
        meter = CpuMeter(pids)
        await here.create_all(POD_PATH, (pod(n, "1", labels=OWNER, **arm.door) for n in names))
        await here.until(f"{arm.name}: all run", _all(here.running_at, names), PATIENCE_S)
        row.strangers.append(meter.spent().others_cores)
        row.sent += len(names)
        row.bound += [here.bound_at[n] - here.sent_at[n] for n in names if n in here.bound_at]
        row.running += [here.running_at[n] - here.sent_at[n] for n in names if n in here.running_at]
        await clean(here)


async def hold(here: Lab, setting: Setting, prefix: str, arm: Arm) -> None:
    """Fill the nodes, and wait until nothing changes."""
    slots = setting.nodes * setting.per_node
    await here.create(HEADROOMS.path(NAMESPACE), headroom(prefix, arm, slots))

    def held() -> bool:
        ours = [each for each in here.pods.values() if each.node and ROLE_LABEL in each.labels]
        return sum(each.requests["cpu"] for each in ours) == 1000 * slots

    if not await here.until(f"{arm.name}: every slot held", held, 300):
        raise RuntimeError(f"{arm.name}: the nodes were not full")
    await asyncio.sleep(SETTLE_S)


async def clean(here: Lab) -> None:
    """Delete everything: holds and headrooms first, so that nothing is held again."""
    await here.delete_holds(HEADROOMS)
    await here.delete_pods(lambda each: each.key.namespace == NAMESPACE)
    await asyncio.sleep(1)
    await here.delete_pods(lambda each: each.key.namespace == NAMESPACE)


def _all(times: dict[str, float], names: list[str]) -> Callable[[], bool]:
    return lambda: all(name in times for name in names)


def table(rows: list[Row]) -> str:
    """The figures, compared with free room if that was measured."""
    base = next((row for row in rows if row.name == FREE), None)
    lines = [
        f"{'arm':<19}{'pods':>6}{'lost':>6}{'bound p50':>11}{'p99 ms':>9}{'p99 ×':>8}"
        f"{'running p50':>13}{'p99 ms':>9}{'p99 ×':>8}{'strangers':>11}"
    ]
    for row in rows:
        cells = [row.name.ljust(19), f"{row.sent:>6}{row.sent - len(row.bound):>6}"]
        for times, plain, width in (
            (row.bound, base.bound if base else [], 11),
            (row.running, base.running if base else [], 13),
        ):
            last = percentile(times, 0.99)
            cells.append(f"{percentile(times, 0.5) * 1000:>{width}.0f}{last * 1000:>9.0f}")
            cells.append(f"{last / percentile(plain, 0.99):>8.2f}")
        cells.append(f"{max(row.strangers, default=0.0):>11.2f}")
        lines.append("".join(cells))
    return "\n".join(lines)


def page_rows(found: list[Row], setting: Setting) -> Iterator[handed_in.Row]:
    """How long the last of a burst waits for each way, beside free room."""
    base = next(row for row in found if row.name == FREE)
    for row in found:
        if row is not base:
            scale = f"{setting.pods} pods, {setting.nodes} full nodes, {setting.rounds} rounds"
            last, free = (1000 * percentile(each.bound, 0.99) for each in (row, base))
            aim = handed_in.Aim(1.7, of=handed_in.RATIO)
            name = f"p99 of a burst, {row.name}"
            yield handed_in.Row(name, last, "ms", FREE, free, aim, scale)


async def run(plane: ControlPlane, setting: Setting) -> list[Row]:
    rows = {arm.name: Row(arm.name) for arm in setting.arms}
    async with lab(plane) as here:
        for number in range(setting.rounds):
            for arm in setting.arms:
                print(f"round {number + 1}: {arm.name} …", file=sys.stderr)
                await one_round(plane, here, setting, rows[arm.name], arm)
    return list(rows.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--arms", default=",".join(arm.name for arm in ARMS))
    handed_in.add_option(parser)
    options = parser.parse_args()
    wanted = options.arms.split(",")
    arms = tuple(arm for arm in ARMS if arm.name in wanted)
    setting = Setting(options.pods, options.nodes, options.rounds, arms)
    began = time.perf_counter()
    with cluster(setting.nodes, setting.per_node) as plane:
        install(plane, known_kinds())
        rows = asyncio.run(run(plane, setting))
    print(table(rows))
    handed_in.write(options.rows, page_rows(rows, setting))
    print(
        f"({time.perf_counter() - began:.0f} s in all, load {os.getloadavg()[0]:.1f}; × compares "
        "with free room; strangers: cores used by others, at most)"
    )


if __name__ == "__main__":
    main()
