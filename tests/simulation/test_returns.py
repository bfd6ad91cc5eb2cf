"""Nodes exactly full of reusable holds, rivals always waiting: owners end whenever they like.

They finish, fail or are deleted without grace, several at a time, also while others are on their
way in through either door. Not one rival may get in, and what was returned is held in the end.
"""

from __future__ import annotations

from random import Random

import pytest

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.runtime.operator import Operator
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Json, dig
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.simulation.scenario import SLOW
from tests.simulation.seeds import seeds
from tests.stories.things import hold, pod

NODES, ROOM, RETURNS = 3, 6, 30
PACES = (0.0, 0.005, 0.02, 0.05, 0.3, 1.5)
POLICIES: tuple[Json, ...] = ({}, {"allocatePolicy": "Aligned"}, {"allocatePolicy": "Restricted"})
WAIT = {"headroom.dev/wait": "true"}


class Story:
    """One seed: a world without a bit of free room, and what happens there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.world = SimWorld(seed=seed, settings=SLOW if seed % 2 else Settings())
        self.rivals_in: list[str] = []
        self.owners = 0
        self.world.store.listen("Pod", self._watch)

    def _watch(self, change: ObjectChange) -> None:
        name = str(dig(change.obj, "metadata", "name"))
        if name.startswith("rival") and dig(change.obj, "spec", "nodeName"):
            self.rivals_in.append(f"{name} at {self.world.elapsed:.3f}")

    def set_stage(self) -> None:
        for number in range(NODES):
            room = {"cpu": str(ROOM), "memory": "8Gi", "pods": "110"}
            status = {"capacity": room, "allocatable": room}
            meta = {"name": f"node-{number}"}
            self.world.apply(
                {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}
            )
        self.start_operator()
        for number, cpu in enumerate((6, 4, 3, 3, 2)):  # In this order they fill the nodes.
            policy = self.random.choice(POLICIES)
            self.world.apply(hold(f"h-{number}", cpu=cpu, allocateOnce=False, **policy))
            self.world.run_for(2)
        assert self.held() == NODES * ROOM
        for _ in range(8):
            self.add_owner()
        self.world.run_for(3)
        for number in range(6):
            self.world.apply(pod(f"rival-{number}", cpu=self.random.choice((1, 1, 2, 3))))
        self.world.run_for(3)

    def start_operator(self) -> None:
        self.world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))

    def add_owner(self) -> None:
        door = self.random.choice(("gated", "ours"))
        cpu = self.random.choice((1, 1, 2, 3))
        self.world.apply(
            pod(f"owner-{self.owners}", cpu=cpu, app="web", annotations=WAIT, **{door: True})
        )
        self.owners += 1

    def end_some(self) -> int:
        """One owner ends, or a few at once."""
        running = [item for item in self.world.list("Pod") if _runs(item)]
        several = self.random.choice((1, 1, 1, 2, 3))
        going = self.random.sample(running, min(several, len(running)))
        for item in going:
            name = str(dig(item, "metadata", "name"))
            way = self.random.choice(("Succeeded", "Failed", "deleted"))
            if way == "deleted":
                self.world.delete("Pod", "default", name)
            else:
                self.world.finish("default", name, way)
        return len(going)

    def held(self) -> int:
        """What guardians and owners have together."""
        return sum(_cpu(item) for item in self.world.list("Pod") if _counts(item))


def _cpu(item: Json) -> int:
    return int(str(dig(item, "spec", "containers", 0, "resources", "requests", "cpu") or "0"))


def _counts(item: Json) -> bool:
    ended = dig(item, "status", "phase") in ("Succeeded", "Failed")
    return bool(dig(item, "spec", "nodeName")) and not ended


def _runs(item: Json) -> bool:
    owner = str(dig(item, "metadata", "name")).startswith("owner")
    return owner and dig(item, "status", "phase") == "Running"


@pytest.mark.parametrize("seed", seeds(6, quick=1))
def test_no_rival_gets_what_owners_return(seed: int) -> None:
    story = Story(seed)
    with story.world as world:
        story.set_stage()
        returned = 0
        while returned < RETURNS:
            returned += story.end_some()
            if story.random.random() < 0.7:
                story.add_owner()
            world.run_for(story.random.choice(PACES))
        assert world.run_until(lambda: story.held() == NODES * ROOM), story.held()
        world.run_for(30)
        assert story.rivals_in == []
        before = len(world.writes)
        world.run_for(60)
        late = [write for _, write, _ in world.writes[before:] if write.resource.kind == "Pod"]
        assert late == [], "it goes on writing"
