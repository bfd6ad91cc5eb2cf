"""The same burst with and without headroom, where machines have to be ordered and take time.

Karpenter with its KWOK provider orders fake machines that take so long to boot. Without headroom
the burst finds no node at all; with it, a Preemptible Headroom of the same size has asked for them
before. Each side has a control plane of its own. `again` is how long until every slot stands anew.

    python -m bench.boot [--pods 8] [--boot 5]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.field import known_kinds
from bench.lab import NAMESPACE, Json, Lab, install, lab, operator, percentile, pod
from headroom.core.names import ROLE_LABEL
from headroom.wire.kinds import HEADROOMS, PODS
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter

CPU = "950m"
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Side:
    """The results of one side, in seconds."""

    name: str
    machines: int
    bound: list[float]
    running: list[float]
    again: float


def wish(slots: int) -> Json:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": "ahead", "namespace": NAMESPACE},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": CPU}}}},
            "size": {"replicas": slots},
            "mode": "Preemptible",
        },
    }


async def burst(here: Lab, karpenter: Karpenter, pods: int, ahead: bool) -> Side:
    """Hold room or not, create the pods, and record when they were served."""

    def held() -> bool:
        ours = [each for each in here.pods.values() if each.node and ROLE_LABEL in each.labels]
        return len(ours) == pods

    if ahead:
        await here.create(HEADROOMS.path(NAMESPACE), wish(pods))
        if not await here.until("every slot held", held, PATIENCE_S):
            raise RuntimeError("no machines came for the slots")
    machines = len(karpenter.nodes())
    names = [f"burst-{number}" for number in range(pods)]
    began = time.perf_counter()
    await here.create_all(PODS.path(NAMESPACE), (pod(name, CPU) for name in names))
    await here.until("all run", lambda: all(n in here.running_at for n in names), PATIENCE_S)
    if ahead:
        await here.until("every slot held again", held, PATIENCE_S)
    return Side(
        "with headroom" if ahead else "without",
        machines,
        [here.bound_at[name] - here.sent_at[name] for name in names if name in here.bound_at],
        [here.running_at[name] - here.sent_at[name] for name in names if name in here.running_at],
        time.perf_counter() - began if ahead else float("nan"),
    )


async def side(plane: ControlPlane, pods: int, boot: int, ahead: bool) -> Side:
    karpenter = Karpenter.start(plane, Fleet(boot_delay_s=boot))
    async with lab(plane) as here:
        return await burst(here, karpenter, pods, ahead)


def table(sides: list[Side], pods: int) -> str:
    lines = [
        f"{'':<15}{'nodes before':>13}{'pods':>6}{'lost':>6}{'bound p50 s':>13}{'p99':>7}"
        f"{'running p50 s':>15}{'p99':>7}{'again s':>9}"
    ]
    for each in sides:
        bound, running = each.bound, each.running
        lines.append(
            f"{each.name:<15}{each.machines:>13}{pods:>6}{pods - len(running):>6}"
            f"{percentile(bound, 0.5):>13.2f}{percentile(bound, 0.99):>7.2f}"
            f"{percentile(running, 0.5):>15.2f}{percentile(running, 0.99):>7.2f}{each.again:>9.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=8)
    parser.add_argument("--boot", type=int, default=5, help="seconds from order to node")
    options = parser.parse_args()
    sides = []
    for ahead in (False, True):
        print("with headroom …" if ahead else "without …", file=sys.stderr)
        with ControlPlane.start(kwok=True) as plane, tempfile.TemporaryDirectory() as logs:
            install(plane, known_kinds())
            with operator(plane, Path(logs) / "operator.log"):
                sides.append(asyncio.run(side(plane, options.pods, options.boot, ahead)))
    print(table(sides, options.pods))
    print(f"(boot delay {options.boot} s, load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
