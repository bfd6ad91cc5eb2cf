"""Holds and Reservations by the hundred: how soon they are held, and their owners bound.

For each size, on fake nodes of 32 CPU: N plain pods through kube-scheduler, then N Holds and N
Reservations (500m, 512Mi) made in a burst, and one owner for each, all at once or paced. Owners are
named by their hold, or share one label with all of them ("shared"). Times are from just before an
object's creation is sent until the watch shows its pod, or its guardian, on a node. With `--idle`
so many Reservations stand beside them that nobody claims, for each number in turn.

    python -m bench.reservations [--sizes 200,1000] [--nodes 100] [--pace 50] [--ways burst,paced]
                                 [--idle 0,2000]

koord-scheduler 1.8.0 on two cores, beside plain pods of kube-scheduler: owners at 0.40 to 0.53
times the rate, paced p50 6.9 times, reservations 0.4 to 0.56 times; 1.8 times the CPU for each
owner where a thousand share one label.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from bench import rows as handed_in
from bench.lab import (
    NAMESPACE,
    Json,
    Lab,
    cluster,
    component_pids,
    cpu_seconds,
    cpu_table,
    install,
    lab,
    operator,
    percentile,
    pod,
)
from headroom.core.names import ROLE_LABEL, SCHEDULER_NAME
from headroom.dialects.koordinator import KOORDINATOR
from headroom.dialects.koordinator.names import RESERVATIONS
from headroom.dialects.koordinator.names import SCHEDULER_NAME as KOORD
from headroom.wire.kinds import HOLDS, PODS, Resource
from testbed.controlplane import ControlPlane

ARMS = ("plain", "hold", "reservation", "reservation shared")
REQUESTS = {"cpu": "500m", "memory": "512Mi"}
IDLE = "idle"
SETTLE_S = 2.0
WRITTEN_A_SECOND = 50  # statuses of idle holds, which are told after they stand
LONGEST_S = 600.0


@dataclass(frozen=True)
class Row:
    """The result of one arm; `held` is the time until every hold had its room."""

    arm: str
    way: str
    count: int
    idle: int
    lost: int
    held: float
    p50: float
    p99: float
    rate: float
    cpu: dict[str, float]  # CPU milliseconds for each owner, by component

    @property
    def title(self) -> str:
        return f"{self.arm:<20}{self.way:<7}{self.count:>6}{self.idle:>6}"


@dataclass(frozen=True)
class Setting:
    count: int
    idle: int
    pace: float
    pids: dict[str, int]


async def arm(here: Lab, setting: Setting, name: str, way: str) -> Row:
    """Create what this arm needs, create the owners, measure and clean up."""
    prefix = f"{name.replace(' ', '-')}-{way}-{setting.count}-{setting.idle}"
    names = [f"{prefix}-{number}" for number in range(setting.count)]
    held = await make_holds(here, setting, name, names) if name != "plain" else 0.0
    path, bodies = PODS.path(NAMESPACE), [owner(name, who) for who in names]
    before = cpu_seconds(setting.pids)
    if way == "paced":
        await here.create_paced(path, bodies, setting.pace)
    else:
        await here.create_all(path, bodies, at_once=32)
    await here.until("all bound", lambda: here.bound(names) == len(names), LONGEST_S)
    await asyncio.sleep(SETTLE_S)
    row = measured(here, setting, (name, way), names, (held, spent(setting, before)))
    await clean(here)
    return row


async def make_holds(here: Lab, setting: Setting, name: str, names: list[str]) -> float:
    """Create one hold for each owner, all at once; return the time until all had their room."""
    kind = HOLDS if name == "hold" else RESERVATIONS
    began = time.perf_counter()
    bodies = [wish(kind, who, shared="shared" in name) for who in names]
    await here.create_all(kind.path(NAMESPACE if kind.namespaced else ""), bodies, at_once=32)
    await until_standing(here, setting.count + setting.idle)
    took = time.perf_counter() - began
    await asyncio.sleep(SETTLE_S)
    return took


async def until_standing(here: Lab, count: int) -> None:
    def all_held() -> bool:
        standing = (bool(each.node) and ROLE_LABEL in each.labels for each in here.pods.values())
        return sum(standing) >= count

    await here.until("every room held", all_held, LONGEST_S)


async def make_idle(here: Lab, before: int, count: int) -> None:
    """Create this many Reservations for pods that never arrive."""
    bodies = [
        wish(RESERVATIONS, f"{IDLE}-{number}", shared=False) for number in range(before, count)
    ]
    await here.create_all(RESERVATIONS.path(), bodies, at_once=32)
    await until_standing(here, count)
    await asyncio.sleep(len(bodies) / WRITTEN_A_SECOND)


def wish(kind: Resource, name: str, shared: bool) -> Json:
    """One hold for the pod of its own name, or for all with the label."""
    rule: Json = {"object": {"name": name, "namespace": NAMESPACE}}
    if shared:
        rule = {"labelSelector": {"matchLabels": {"app": "owner"}}}
    metadata = {"name": name, **({"namespace": NAMESPACE} if kind.namespaced else {})}
    container = {"name": "main", "image": "app", "resources": {"requests": REQUESTS}}
    shape: Json = {"containers": [container]}
    if not kind.namespaced:
        shape["schedulerName"] = KOORD
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "spec": {"template": {"spec": shape}, "owners": [rule]},
    }


def owner(arm_name: str, name: str) -> Json:
    made = pod(name, "500m", labels={"app": "owner"})
    made["spec"]["containers"][0]["resources"]["requests"] = REQUESTS
    if arm_name != "plain":
        made["spec"]["schedulerName"] = SCHEDULER_NAME if arm_name == "hold" else KOORD
    return made


def spent(setting: Setting, before: dict[str, float]) -> dict[str, float]:
    """CPU milliseconds for each owner, by component."""
    after = cpu_seconds(setting.pids)
    return {name: (after[name] - before[name]) * 1000 / setting.count for name in before}


def measured(
    here: Lab,
    setting: Setting,
    arm_and_way: tuple[str, str],
    names: list[str],
    cost: tuple[float, dict[str, float]],
) -> Row:
    waits = [here.bound_at[who] - here.sent_at[who] for who in names if who in here.bound_at]
    first = min(here.sent_at[who] for who in names)
    last = max((here.bound_at[who] for who in names if who in here.bound_at), default=first)
    claimed = sum("headroom.dev/claimed" in each.annotations for each in here.pods.values())
    wanted = 0 if arm_and_way[0] == "plain" else len(names)
    held, cpu = cost
    return Row(
        *arm_and_way,
        count=len(names),
        idle=setting.idle,
        lost=len(names) - len(waits) + max(0, wanted - claimed),
        held=held,
        p50=percentile(waits, 0.5),
        p99=percentile(waits, 0.99),
        rate=len(waits) / max(last - first, 1e-9),
        cpu=cpu,
    )


async def clean(here: Lab) -> None:
    """Delete everything except the idle holds: holds first, so that nothing is held again."""
    for kind in (HOLDS, RESERVATIONS):
        await here.delete_holds(kind, besides=IDLE)
    for _ in range(2):
        await here.delete_pods(
            lambda each: each.key.namespace == NAMESPACE and not each.key.name.startswith(IDLE)
        )
        await asyncio.sleep(1)


def table(rows: list[Row]) -> str:
    base = {(row.way, row.count, row.idle): row for row in rows if row.arm == "plain"}
    lines = [
        f"{'arm':<20}{'way':<7}{'N':>6}{'idle':>6}{'lost':>6}{'held s':>8}{'held/s':>8}"
        f"{'p50 ms':>10}{'p99 ms':>10}{'owners/s':>10}{'p50 ×':>8}{'p99 ×':>8}{'rate ×':>8}"
    ]
    for row in rows:
        plain = base[row.way, row.count, row.idle]
        held = f"{row.held:>8.1f}{row.count / row.held:>8.0f}" if row.held else f"{'-':>8}{'-':>8}"
        lines.append(
            f"{row.title}{row.lost:>6}{held}{row.p50 * 1000:>10.1f}"
            f"{row.p99 * 1000:>10.1f}{row.rate:>10.1f}{row.p50 / plain.p50:>8.2f}"
            f"{row.p99 / plain.p99:>8.2f}{row.rate / plain.rate:>8.2f}"
        )
    return "\n".join(lines)


def page_rows(found: list[Row], nodes: int) -> Iterator[handed_in.Row]:
    """At which rate owners that come together are bound, beside plain pods; and who was lost."""
    burst = [row for row in found if row.way == "burst"]
    base = {(row.count, row.idle): row for row in burst if row.arm == "plain"}
    for row in burst:
        if row.arm != "plain":
            scale = f"owners that come together, {nodes:,} nodes"
            plain, name = base[row.count, row.idle], f"{row.count:,} owners of a {row.arm}"
            aim = handed_in.Aim(0.55, handed_in.NO_LESS, handed_in.RATIO)
            yield handed_in.Row(name, row.rate, "/s", "plain pods", plain.rate, aim, scale)
            yield handed_in.Row(f"{name}, lost", row.lost, "", aim=handed_in.Aim(0), scale=scale)


async def run(plane: ControlPlane, options: argparse.Namespace, pids: dict[str, int]) -> list[Row]:
    rows, idle = [], 0
    arms = ("plain", *(each for each in ARMS[1:] if each in options.arms))
    async with lab(plane) as here:
        for more in sorted(map(int, options.idle.split(","))):
            await make_idle(here, idle, more)
            idle = more
            for count, way, name in product(map(int, options.sizes.split(",")), options.ways, arms):
                setting = Setting(count, idle, options.pace, pids)
                rows.append(await arm(here, setting, name, way))
                print(table(rows).splitlines()[-1], file=sys.stderr)
                print(cpu_table({rows[-1].title: rows[-1].cpu}), file=sys.stderr)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="200,1000")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pace", type=float, default=50.0)
    parser.add_argument("--ways", default="burst,paced")
    parser.add_argument("--idle", default="0")
    parser.add_argument("--arms", default=",".join(ARMS[1:]))
    handed_in.add_option(parser)
    options = parser.parse_args()
    options.arms, options.ways = options.arms.split(","), options.ways.split(",")
    flags = ("--dialect", "koordinator")
    with cluster(options.nodes, 32) as plane, tempfile.TemporaryDirectory() as logs:
        install(plane, KOORDINATOR.definitions())
        with operator(plane, Path(logs) / "operator.log", flags=flags) as process:
            rows = asyncio.run(run(plane, options, component_pids(plane, process)))
    print(table(rows))
    print(cpu_table({row.title: row.cpu for row in rows}))
    handed_in.write(options.rows, page_rows(rows, options.nodes))


if __name__ == "__main__":
    main()
