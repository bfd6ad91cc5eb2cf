"""Bursts come and go on nodes full of ordinary pods, and more of those wait: every slot comes back.

The same as `tests/e2e/test_slots_under_churn.py` has with real kubelets, on the embedded cluster.
Each node has a slot of half its CPU; ordinary pods have the other half, some more of them wait, and
one is replaced in every round. A burst takes all of the slot, or a part, through either door, and
ends in one of three ways. Whatever ordinary pods have beyond their half they can only have got from
the slot: that is looked at whenever a pod changes. `ROUNDS=300` plays so many rounds in all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import count

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import Json, headroom, pod

NODES = 5
ROUNDS = int(os.environ.get("ROUNDS", "10"))
SEED = int(os.environ.get("SEED", "1"))
SLOT, SMALL = 2, 1
BESIDE = 2  # ordinary pods that fit beside the slot
WAITING = 3  # of each node's that wait
DOORS = ("gated", "ours")
ENDS = ("Succeeded", "Failed", "deleted")


class Churn:
    """A cluster, and what ordinary pods got that was not theirs."""

    def __init__(self, world: EmbeddedWorld, chance: random.Random) -> None:
        self.world = world
        self.chance = chance
        self.nodes = [f"node-{number}" for number in range(NODES)]
        self.numbers: Iterator[int] = count()
        self.lost: dict[str, str] = {}  # by node: what was seen

    def ordinary(self, node: str) -> None:
        name = f"ordinary-{node}-{next(self.numbers)}"
        self.world.apply(pod(name, SMALL, **there(node)))

    def strangers(self, node: str) -> list[str]:
        """Ordinary pods on a node."""
        return sorted(
            item["metadata"]["name"]
            for item in self.world.all("Pod")
            if item["metadata"]["name"].startswith("ordinary")
            and item["spec"].get("nodeName") == node
        )

    def look(self) -> None:
        for node in self.nodes:
            if len(self.strangers(node)) > BESIDE:
                self.lost.setdefault(node, f"{node}: {self.strangers(node)}")

    def held(self, node: str) -> bool:
        return any(
            item["spec"].get("nodeName") == node and cpu_of(item) == str(SLOT)
            for item in self.world.ours("guardian")
        )

    def full(self) -> bool:
        return all(len(self.strangers(node)) == BESIDE for node in self.nodes)

    def play(self, number: int) -> None:
        """One round on every node, each node a little later than the one before."""
        bursts = {node: f"burst-{node}-{number}" for node in self.nodes}
        for place, (node, name) in enumerate(bursts.items()):
            size = SMALL if (number + place) % 3 == 2 else SLOT
            door = DOORS[(number + place) % 2]
            self.world.apply(pod(name, size, app="burst", **there(node), **{door: True}))
            self.world.pass_time(self.chance.uniform(0, 0.3))
        for name in bursts.values():
            self.world.until_runs(name)
        self.world.pass_time(self.chance.uniform(0.5, 2))
        for node, name in bursts.items():
            self.end(name)
            self.world.delete("Pod", self.chance.choice(self.strangers(node)))
            self.ordinary(node)
            self.world.pass_time(self.chance.uniform(0, 0.2))
        self.world.until(
            "slots are back", lambda: all(map(self.held, self.nodes)) or self.is_lost()
        )
        self.world.until("nodes are full", lambda: self.full() or self.is_lost())

    def end(self, name: str) -> None:
        way = self.chance.choice(ENDS)
        if way == "deleted":
            self.world.delete("Pod", name)
        else:
            self.world.finish(name, way)

    def is_lost(self) -> bool:
        return bool(self.lost)


def there(node: str) -> Json:
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def cpu_of(item: Json) -> str:
    return str(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])


@pytest.fixture
def churn() -> Iterator[Churn]:
    world = EmbeddedWorld(SEED)
    yield Churn(world, random.Random(SEED))
    world.close()


def test_ordinary_pods_never_get_a_slot(churn: Churn) -> None:
    world = churn.world
    for node in churn.nodes:
        world.add_node(node, cpu=BESIDE * SMALL + SLOT, labels={"kubernetes.io/hostname": node})
    world.start_operator()
    world.apply(headroom("room", SLOT, app="burst", size={"perNode": {"slots": 1}}))
    world.until("every slot is held", lambda: all(map(churn.held, churn.nodes)))
    for node in churn.nodes:
        for _ in range(BESIDE + WAITING):
            churn.ordinary(node)
    world.until("the nodes are full", churn.full)
    world.on_look(churn.look)
    for number in range(-(-ROUNDS // NODES)):
        churn.play(number)
        assert churn.lost == {}, f"round {number}"
