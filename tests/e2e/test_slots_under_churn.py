"""Bursts come and go on nodes full of ordinary pods, and more of those wait: every slot comes back.

Real kubelets. Each node has a slot of half its CPU; ordinary pods of several sizes have the other
half, more of them wait, and some come and go in every round: in the moment in which the burst ends
and, where `ROUNDS` asks for more than the rule, also while it comes and runs.
A burst takes all of the slot, or a part, and ends without a warning.
Whatever ordinary pods have beyond their half they can only have got from the slot.
`ROUNDS=300 PAUSE=2` plays so many rounds through each door, two seconds up and two seconds down;
few and short ones are the rule.
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

NODES = 5
ROUNDS = int(os.environ.get("ROUNDS", "10"))
CHURN = "ROUNDS" in os.environ  # What is rare needs many rounds: known-flaws.md says how many.
PAUSE_S = float(os.environ.get("PAUSE", "1.0"))
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600 + 20 * ROUNDS)]
SLOT, PART = "500m", "200m"
BESIDE = 500  # thousandths of a CPU beside the slot
SIZES = ("250m", "100m", "500m", "200m", "300m")
CROWD = 6  # ordinary pods of each node, most of which wait
NOW = {"gracePeriodSeconds": 0}
DOORS = ("gated", "ours")


@dataclass
class Churn:
    plane: ControlPlane
    lookout: Lookout
    tally: Counter[str] = field(default_factory=Counter)
    tales: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
    gone: set[str] = field(default_factory=set)
    most: Counter[str] = field(default_factory=Counter)  # by node: what ordinary pods had together

    def create(self, body: Json) -> None:
        self.plane.api.create(PODS.path(NAMESPACE), body)

    def delete(self, name: str) -> None:
        self.plane.api.delete(PODS.path(NAMESPACE, name), NOW)

    def ordinary(self, node: str) -> None:
        there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
        number = next(self.numbers)
        name = f"ordinary-{node}-{number:05}"
        self.create(pod(name, SIZES[number % len(SIZES)], **there))

    def look(self, node: str) -> None:
        now = self.lookout.seen
        placed = [name for name in ordinary_of(now, node) if now.node(name) == node]
        self.most[node] = max(self.most[node], sum(milli(now.pods[name]) for name in placed))

    def replace(self, node: str) -> None:
        """One that runs goes, and the one that waits longest; others come for them."""
        self.look(node)
        now = self.lookout.seen
        left = [name for name in ordinary_of(now, node) if name not in self.gone]
        placed = [name for name in left if now.node(name) == node]
        waits = [name for name in left if not now.node(name)]
        for name in (*placed[:1], *waits[:1]):
            self.gone.add(name)  # what was seen last may be from before
            last = self.plane.api.delete(PODS.path(NAMESPACE, name), NOW)
            if name in waits and last["spec"].get("nodeName"):
                self.tally["placed in the moment of deletion"] += 1
            self.ordinary(node)


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
    rounds = -(-2 * ROUNDS // NODES)
    with ThreadPoolExecutor(NODES) as pool:
        list(pool.map(lambda node: play(churn, node, rounds), nodes))
    print(f"\nrounds under churn: {dict(sorted(churn.tally.items()))}, most {dict(churn.most)}")
    assert churn.tally["slots back"] == rounds * NODES, "\n".join(churn.tales)
    assert not churn.tally["slots lost"], "\n".join(churn.tales)
    assert min(churn.most.values()) > 0


def play(churn: Churn, node: str, rounds: int) -> None:
    for _ in range(CROWD):
        churn.ordinary(node)
    churn.lookout.until(f"{node} has ordinary pods", lambda now: bool(strangers(now, node)))
    for number in range(rounds):
        name, size = f"burst-{node}-{number}", PART if number % 3 == 2 else SLOT
        there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
        churn.create(pod(name, size, app="burst", **there, **{DOORS[number % 2]: True}))
        if CHURN:
            churn.replace(node)
        churn.lookout.until(f"{name} runs", partial(runs, name))
        time.sleep(PAUSE_S / 2)
        if CHURN:
            churn.replace(node)
        time.sleep(PAUSE_S / 2)
        churn.delete(name)
        churn.replace(node)
        churn.lookout.until(f"the slot of {node} is back, or lost", partial(back, churn, node))
        time.sleep(PAUSE_S / 2)
        churn.replace(node)
        time.sleep(PAUSE_S / 2)
        churn.look(node)
        if churn.most[node] > BESIDE:
            churn.tally["slots lost"] += 1
            churn.tales.append(f"{name}\n{told(churn.lookout.seen, node)}")
            churn.plane.api.close()
            return
        churn.tally["slots back"] += 1
    churn.plane.api.close()


def back(churn: Churn, node: str, now: Sight) -> bool:
    churn.look(node)
    return held(now, node) or churn.most[node] > BESIDE


def runs(name: str, now: Sight) -> bool:
    return now.phase(name) == "Running"


def ordinary_of(now: Sight, node: str) -> list[str]:
    """Ordinary pods that are for a node, the oldest first."""
    return sorted(name for name in now.pods if name.startswith(f"ordinary-{node}-"))


def strangers(now: Sight, node: str) -> list[str]:
    """Ordinary pods on a node."""
    return [name for name in ordinary_of(now, node) if now.node(name) == node]


def told(now: Sight, node: str) -> str:
    """Every pod on a node, or nominated to it, with when it was made and placed."""
    lines = []
    for name, item in sorted(now.pods.items()):
        status = item["status"]
        if node in (now.node(name), status.get("nominatedNodeName")):
            placed = [
                each.get("lastTransitionTime")
                for each in status.get("conditions", ())
                if each["type"] == "PodScheduled"
            ]
            made = item["metadata"]["creationTimestamp"]
            lines.append(f"{name} {cpu_of(item)} {status.get('phase')} made {made} placed {placed}")
    return "\n".join(lines)


def held(now: Sight, node: str) -> bool:
    """Whether a whole slot is held on a node."""
    return any(
        now.node(name) == node and cpu_of(now.pods[name]) == SLOT for name in now.ours("guardian")
    )


def cpu_of(item: Json) -> str:
    return str(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def milli(item: Json) -> int:
    """What a pod asks for, in thousandths of a CPU."""
    return int(cpu_of(item).removesuffix("m"))
