"""Handovers under contention: owners lost, other pods that got the room, and waiting times.

On fake nodes exactly full of holds, owners come paced and in a burst through each door, with rivals
of equal priority always pending or with none ("alone"). Beside them, in the same run, the same pods
(a) through plain kube-scheduler onto free room and (b) by native preemption of low-priority
placeholders. The writes of the operator are counted in the API server's audit log, until it writes
no more: statuses and events follow a handover. For owners that come paced, the log also says where
their time goes (`breakdown`).

    python -m bench.handover [--owners 2000] [--nodes 200] [--rivals 20] [--pace 50]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench import audit, breakdown
from bench import rows as handed_in
from bench.lab import (
    NAMESPACE,
    Json,
    Lab,
    cluster,
    component_pids,
    cpu_seconds,
    cpu_table,
    hold,
    lab,
    operator,
    percentile,
    pod,
)
from headroom.core.names import CLAIM_GATE, ROLE_LABEL, SCHEDULER_NAME
from headroom.wire.kinds import HOLDS, PODS
from testbed.controlplane import ControlPlane

POD_PATH = PODS.path(NAMESPACE)
HOLD_PATH = HOLDS.path(NAMESPACE)
OWNER = {"app": "owner"}
CONTESTED = ("door 1", "door 2")
ARMS = "free room,door 1,door 2,door 1 alone,door 2 alone,preemption"
SETTLE_S = 3.0
QUIET_S = 60.0


@dataclass(frozen=True)
class Row:
    """The result of one arm."""

    arm: str
    way: str
    owners: int
    lost: int
    rivals_in: int
    leftovers: int
    p50: float
    p99: float
    rate: float
    cpu: dict[str, float]  # CPU milliseconds for each owner, by component
    writes: Counter[str] = field(default_factory=Counter)  # of the operator, by verb and resource
    steps: list[breakdown.Step] = field(
        default_factory=list
    )  # of owners that come one after the other


@dataclass(frozen=True)
class Setting:
    owners: int
    nodes: int
    rivals: int
    pace: float
    ways: tuple[str, ...] = ("paced", "burst")
    log: audit.AuditLog | None = None

    @property
    def slots_per_node(self) -> int:
        return self.owners // self.nodes


async def arm(here: Lab, setting: Setting, pids: dict[str, int], name: str, way: str) -> Row:
    """Fill the nodes for this arm, create the owners, count and clean up."""
    print(f"{name} {way} …", file=sys.stderr)
    prefix = f"{name.replace(' ', '')}-{way}"
    await fill(here, setting, name, prefix)
    rivals = [f"{prefix}-rival-{number}" for number in range(setting.rivals)]
    if name in CONTESTED:  # Of equal priority, they would preempt placeholders themselves.
        await here.create_all(POD_PATH, (pod(rival, "1") for rival in rivals))
        await asyncio.sleep(SETTLE_S)
    owners = [f"{prefix}-{number}" for number in range(setting.owners)]
    await quiet(setting.log)
    before = cpu_seconds(pids)
    await come(here, setting, way, (owner(name, who) for who in owners))
    await here.until("owners bound", lambda: here.bound(owners) == len(owners), 120)
    await asyncio.sleep(SETTLE_S)
    after = cpu_seconds(pids)
    cpu = {what: (after[what] - before[what]) * 1000 / len(owners) for what in pids}
    written = await quiet(setting.log)
    row = replace(
        measure(here, (name, way), owners, rivals, cpu),
        writes=audit.kinds_of_writes(written, audit.OPERATOR),
        steps=breakdown.steps_of(name, owners, written) if way == "paced" else [],
    )
    await clean(here)
    return row


async def quiet(log: audit.AuditLog | None) -> list[audit.Written]:
    """Wait until the operator writes no more; return all writes since the last time."""
    written: list[audit.Written] = []
    deadline = time.perf_counter() + QUIET_S
    while log is not None and time.perf_counter() < deadline:
        new = log.new()
        written += new
        if not audit.kinds_of_writes(new, audit.OPERATOR):
            break
        await asyncio.sleep(SETTLE_S)
    return written


async def fill(here: Lab, setting: Setting, name: str, prefix: str) -> None:
    count = setting.nodes * setting.slots_per_node
    if name.startswith("door"):
        holds = (hold(f"{prefix}-{number}", "1", OWNER) for number in range(count))
        await here.create_all(HOLD_PATH, holds)

        def held() -> bool:
            return (
                sum(bool(pod.node) and ROLE_LABEL in pod.labels for pod in here.pods.values())
                == count
            )

        await here.until("every slot held", held, 300)
        await asyncio.sleep(SETTLE_S)
    elif name == "preemption":
        low = {"priority": -10, "priorityClassName": "headroom-preemptible"}
        names = [f"{prefix}-low-{number}" for number in range(count)]
        await here.create_all(POD_PATH, (pod(low_name, "1", **low) for low_name in names))
        await here.until("placeholders placed", lambda: here.bound(names) == count, 300)


async def come(here: Lab, setting: Setting, way: str, bodies: Iterable[Json]) -> None:
    if way == "paced":
        await here.create_paced(POD_PATH, bodies, setting.pace)
    else:
        await here.create_all(POD_PATH, bodies)


def owner(arm_name: str, name: str) -> Json:
    if arm_name.startswith("door 1"):
        return pod(name, "1", labels=OWNER, schedulingGates=[{"name": CLAIM_GATE}])
    if arm_name.startswith("door 2"):
        return pod(name, "1", labels=OWNER, schedulerName=SCHEDULER_NAME)
    return pod(name, "1", labels=OWNER)


def measure(
    here: Lab,
    arm_and_way: tuple[str, str],
    owners: list[str],
    rivals: list[str],
    cpu: dict[str, float],
) -> Row:
    name, way = arm_and_way
    waits = [here.bound_at[who] - here.sent_at[who] for who in owners if who in here.bound_at]
    first = min(here.sent_at[who] for who in owners)
    last = max((here.bound_at[who] for who in owners if who in here.bound_at), default=first)
    failed = sum(
        pod.phase == "Failed" and pod.key.name in set(owners) for pod in here.pods.values()
    )
    leftovers = sum(ROLE_LABEL in pod.labels for pod in here.pods.values())
    return Row(
        name,
        way,
        len(owners),
        len(owners) - len(waits) + failed,
        here.bound(rivals),
        leftovers,
        percentile(waits, 0.5),
        percentile(waits, 0.99),
        len(waits) / max(last - first, 1e-9),
        cpu,
    )


async def clean(here: Lab) -> None:
    """Delete everything: holds first, so that nothing is held again."""
    await here.delete_holds()
    await here.delete_pods(lambda pod: pod.key.namespace == NAMESPACE)
    await asyncio.sleep(1)
    await here.delete_pods(lambda pod: pod.key.namespace == NAMESPACE)


def table(rows: list[Row]) -> str:
    base = {row.way: row for row in rows if row.arm == "free room"}
    lines = [
        f"{'arm':<13}{'way':<7}{'owners':>7}{'lost':>6}{'rivals in':>11}{'left over':>11}"
        f"{'p50 ms':>9}{'p99 ms':>9}{'owners/s':>10}{'p50 ×':>8}{'p99 ×':>8}"
        f"{'rate ×':>8}{'writes':>8}"
    ]
    for row in rows:
        plain = base[row.way]
        lines.append(
            f"{row.arm:<13}{row.way:<7}{row.owners:>7}{row.lost:>6}{row.rivals_in:>11}"
            f"{row.leftovers:>11}{row.p50 * 1000:>9.1f}{row.p99 * 1000:>9.1f}{row.rate:>10.1f}"
            f"{row.p50 / plain.p50:>8.2f}{row.p99 / plain.p99:>8.2f}{row.rate / plain.rate:>8.2f}"
            f"{row.writes.total() / row.owners:>8.2f}"
        )
    return "\n".join(lines)


def writes_table(rows: list[Row]) -> str:
    """What the operator wrote for each owner, by verb and resource."""
    lines = ["writes per owner"]
    for row in rows:
        if row.writes:
            kinds = (f"{count / row.owners:.2f} {what}" for what, count in row.writes.most_common())
            lines.append(f"{row.arm:<13}{row.way:<7}{', '.join(kinds)}")
    return "\n".join(lines)


async def run(
    plane: ControlPlane, setting: Setting, pids: dict[str, int], arms: list[str]
) -> list[Row]:
    rows = []
    async with lab(plane, audit.BENCH_USER) as here:
        for way in setting.ways:
            for name in arms:
                rows.append(await arm(here, setting, pids, name, way))
                print(table(rows).splitlines()[-1], file=sys.stderr)
    return rows


def page_rows(found: list[Row]) -> Iterator[handed_in.Row]:
    """Each arm of owners beside plain pods that came the same way."""
    plain = {row.way: row for row in found if row.arm == "free room"}
    for row in found:
        if row.arm == "free room":
            continue
        name, paced = f"{row.arm}, {row.way}", row.way == "paced"
        scale = f"{row.owners} owners, {row.lost} lost"
        base, cpu = plain[row.way], row.cpu["operator"]
        if paced:
            times = (row.p50 * 1000, "ms", "plain pod", base.p50 * 1000)
            yield handed_in.Row(
                f"p50, {name}", *times, handed_in.Aim(2.0, of=handed_in.RATIO), scale
            )
        else:
            rate, aim = (
                (row.rate, "/s", "plain pods", base.rate),
                handed_in.Aim(0.55, handed_in.NO_LESS, handed_in.RATIO),
            )
            yield handed_in.Row(f"rate, {name}", *rate, aim, scale)
        most = handed_in.Aim(4.0 if paced else 2.5)
        writes = row.writes.total() / row.owners
        yield handed_in.Row(f"writes an owner, {name}", writes, "", aim=most, scale=scale)
        everybody = ("plain pod, all", sum(base.cpu.values()))
        yield handed_in.Row(
            f"operator CPU, {name}", cpu, "ms", *everybody, handed_in.Aim(3.0), scale
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owners", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--rivals", type=int, default=20)
    parser.add_argument("--pace", type=float, default=50.0)
    parser.add_argument("--arms", default=ARMS)
    parser.add_argument("--ways", default="paced,burst")
    handed_in.add_option(parser)
    options = parser.parse_args()
    ways = tuple(options.ways.split(","))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as logs:
        log, flags = audit.start(Path(logs))
        setting = Setting(options.owners, options.nodes, options.rivals, options.pace, ways, log)
        rows = measured(setting, flags, Path(logs), options.arms.split(","))
    print(table(rows))
    print(cpu_table({f"{row.arm:<13}{row.way:<7}": row.cpu for row in rows}))
    print(writes_table(rows))
    print(breakdown.table({row.arm: row.steps for row in rows if row.way == "paced"}))
    handed_in.write(options.rows, page_rows(rows))
    print(f"({time.perf_counter() - began:.0f} s in all; × compares with free room, same way)")


def measured(setting: Setting, flags: tuple[str, ...], folder: Path, arms: list[str]) -> list[Row]:
    """All arms on a control plane of their own."""
    with (
        cluster(setting.nodes, setting.slots_per_node, flags) as plane,
        operator(plane, folder / "operator.log") as process,
    ):
        return asyncio.run(run(plane, setting, component_pids(plane, process), arms))


if __name__ == "__main__":
    main()
