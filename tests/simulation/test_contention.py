"""Nodes exactly full of holds, rivals always waiting, no faults: every owner gets its own room.

What the handover is for. Owners come through both doors, alone and in bursts, on networks quick and
slow; not one rival may get in, and not one claim may be taken back.
"""

from __future__ import annotations

from random import Random

import pytest

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.runtime.operator import Operator
from headroom.sim.api.values import dig
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.simulation.scenario import SLOW
from tests.simulation.seeds import seeds
from tests.stories.things import hold, pod

NODES, ROOM, RIVALS = 4, 4, 6
PACES = (0.0, 0.002, 0.01, 0.05, 0.3)


def full_of_holds(seed: int, settings: Settings) -> SimWorld:
    """A world in which every bit of room is held, and rivals wait for any of it."""
    world = SimWorld(seed=seed, settings=settings)
    for number in range(NODES):
        room = {"cpu": str(ROOM), "memory": "8Gi", "pods": "110"}
        status = {"capacity": room, "allocatable": room}
        meta = {"name": f"node-{number}"}
        world.apply({"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status})
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))
    for number in range(NODES * ROOM):
        world.apply(hold(f"h-{number}", cpu=1))
    assert world.run_until(lambda: _phases(world) == {"Available"})
    for number in range(RIVALS):
        world.apply(pod(f"rival-{number}", cpu=1))
    world.run_for(3)
    return world


def _phases(world: SimWorld) -> set[str]:
    return {str(dig(item, "status", "phase")) for item in world.list("Hold")}


@pytest.mark.parametrize("seed", seeds(8, quick=2))
def test_no_rival_gets_in_and_no_owner_goes_without(seed: int) -> None:
    random = Random(seed)
    with full_of_holds(seed, SLOW if seed % 2 else Settings()) as world:
        before = len(world.writes)
        for number in range(NODES * ROOM):
            door = random.choice(("gated", "ours"))
            world.apply(pod(f"owner-{number}", cpu=1, app="web", **{door: True}))
            world.run_for(random.choice(PACES))
        assert world.run_until(lambda: _phases(world) == {"Succeeded"}, limit=120), _phases(world)
        world.run_for(10)
        placed = {str(item["metadata"]["name"]) for item in world.list("Pod") if _node(item)}
        assert placed == {f"owner-{number}" for number in range(NODES * ROOM)}
        taken_back = [write for _, write, _ in world.writes[before:] if _takes_back(write.body)]
        assert taken_back == []


def _node(item: object) -> str:
    return str(dig(item, "spec", "nodeName") or "")


def _takes_back(body: object) -> bool:
    """Whether a write takes a claim off a pod."""
    annotations = dig(body, "metadata", "annotations")
    return isinstance(annotations, dict) and annotations.get("headroom.dev/claimed", "") is None
