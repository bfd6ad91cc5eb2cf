"""Bursts come and go on nodes full of ordinary pods, and more of those wait: every slot comes back.

Real kubelets. Each node has a slot of half its CPU; ordinary pods have the other half, some more of
them wait, and one is replaced in every round. A burst takes all of the slot, or a part, and ends
without a warning. Whatever an ordinary pod has beyond its half it can only have got from the slot.
`ROUNDS=300` plays so many rounds in all; few are the rule.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from headroom.wire.kinds import HEADROOMS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import Lookout, Sight
from tests.e2e.processes import OperatorProcess
from tests.stories.things import NAMESPACE, headroom, pod

pytestmark = pytest.mark.e2e
NODES = 5
ROUNDS = int(os.environ.get("ROUNDS", "20"))
UP_S = float(os.environ.get("UP", "1.0"))
SLOT, PART, SMALL = "500m", "200m", "250m"
BESIDE = 2  # ordinary pods that fit beside the slot
WAITING = 3  # of each node's that wait
NOW = {"gracePeriodSeconds": 0}
DOORS = ("gated", "ours")


@dataclass
class Churn:
    plane: ControlPlane
    lookout: Lookout
    tally: Counter[str] = field(default_factory=Counter)
    tales: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def create(self, body: Json) -> None:
        self.plane.api.create(PODS.path(NAMESPACE), body)

    def delete(self, name: str) -> None:
        self.plane.api.delete(PODS.path(NAMESPACE, name), NOW)

    def ordinary(self, node: str) -> None:
        there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
        self.create(pod(f"ordinary-{node}-{next(self.numbers)}", SMALL, **there))


@pytest.fixture
def churn(binaries: Path, tmp_path: Path) -> Iterator[Churn]:
    with ControlPlane.start(tmp_path / "plane", hollow_nodes=NODES) as plane:
        install(plane, our_objects())
        with OperatorProcess(plane.kubeconfig, tmp_path / "operator.log"):
            lookout = Lookout(plane.api)
            yield Churn(plane, lookout)
            lookout.close()


def test_ordinary_pods_never_get_a_slot(churn: Churn) -> None:
    nodes = [f"hollow-{number}" for number in range(NODES)]
    slots = headroom("room", SLOT, app="burst", size={"perNode": {"slots": 1}})
    churn.plane.api.create(HEADROOMS.path(NAMESPACE), slots)
    churn.lookout.until("every slot is held", lambda now: all(held(now, node) for node in nodes))
    rounds = -(-ROUNDS // NODES)
    with ThreadPoolExecutor(NODES) as pool:
        list(pool.map(lambda node: play(churn, node, rounds), nodes))
    print(f"\nrounds under churn: {dict(sorted(churn.tally.items()))}")
    assert dict(churn.tally) == {"slots back": rounds * NODES}, "\n".join(churn.tales)


def play(churn: Churn, node: str, rounds: int) -> None:
    for _ in range(BESIDE + WAITING):
        churn.ordinary(node)
    churn.lookout.until(f"{node} is full", lambda now: len(strangers(now, node)) == BESIDE)
    for number in range(rounds):
        name, size = f"burst-{node}-{number}", PART if number % 3 == 2 else SLOT
        there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
        churn.create(pod(name, size, app="burst", **there, **{DOORS[number % 2]: True}))
        churn.lookout.until(f"{name} runs", partial(runs, name))
        time.sleep(UP_S)
        churn.delete(name)
        churn.delete(strangers(churn.lookout.seen, node)[0])
        churn.ordinary(node)
        now = churn.lookout.until(
            f"the slot of {node} is back, or lost",
            lambda now: held(now, node) or len(strangers(now, node)) > BESIDE,
        )
        if len(strangers(now, node)) > BESIDE:
            churn.tally["slots lost"] += 1
            churn.tales.append(f"{name}: {strangers(now, node)}")
            return
        churn.tally["slots back"] += 1
        churn.lookout.until(
            f"{node} is full again", lambda now: len(strangers(now, node)) == BESIDE
        )
    churn.plane.api.close()


def runs(name: str, now: Sight) -> bool:
    return now.phase(name) == "Running"


def strangers(now: Sight, node: str) -> list[str]:
    """Ordinary pods on a node."""
    return sorted(
        name for name in now.pods if name.startswith("ordinary") and now.node(name) == node
    )


def held(now: Sight, node: str) -> bool:
    """Whether a whole slot is held on a node."""
    return any(
        now.node(name) == node and cpu_of(now.pods[name]) == SLOT for name in now.ours("guardian")
    )


def cpu_of(item: Json) -> str:
    return str(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])
