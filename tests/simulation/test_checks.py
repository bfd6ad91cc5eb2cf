"""The checks themselves: a world that is wrong is found to be wrong, and a right one is not."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.runtime.operator import Operator
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.simulation.checks import breaches
from tests.simulation.noisy import BadLine
from tests.stories.things import hold, pod

ROOM = {"cpu": "2", "memory": "8Gi", "pods": "110"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"capacity": ROOM, "allocatable": ROOM},
}


@pytest.fixture
def world() -> Iterator[SimWorld]:
    slow = Settings(watch_delay=(0.001, 0.001), write_delay=(0.1, 0.1), cycle=(0.001, 0.001))
    with SimWorld(settings=slow) as made:
        made.apply(NODE)
        yield made


def start(world: SimWorld) -> None:
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, Engine(Policy())))


def ours(name: str, role: str, **more: Any) -> dict[str, Any]:
    made = pod(name, **more)
    made["metadata"]["labels"]["headroom.dev/role"] = role
    return made


def test_a_good_world_has_no_breaches(world: SimWorld) -> None:
    start(world)
    world.apply(hold("h", cpu=1))
    world.apply(pod("p", cpu=1, app="web", gated=True))
    world.run_for(60)
    assert breaches(world) == []


def test_a_hold_that_nobody_keeps_is_a_breach(world: SimWorld) -> None:
    world.apply(hold("h", cpu=1))
    world.run_for(60)
    assert breaches(world) == ["Hold/default/h (): strange phase ''"]


def test_a_gate_that_nobody_opens_is_a_breach(world: SimWorld) -> None:
    world.apply(pod("p", cpu=1, gated=True))
    assert "default/p: our gate is left" in breaches(world)


def test_a_latch_and_a_guardian_of_nobody_are_breaches(world: SimWorld) -> None:
    world.apply(ours("g", "guardian"))
    world.apply(ours("l", "latch"))
    assert breaches(world) == [
        "default/g: a guardian of nobody, None",
        "default/l: a latch is left on ",
    ]


def test_a_guardian_that_went_unnoticed_is_a_breach(world: SimWorld) -> None:
    start(world)
    world.apply(hold("h", cpu=1))
    world.run_for(10)
    world.kill_operator()
    guardian = world.list("Pod")[0]["metadata"]["name"]
    world.delete("Pod", "default", guardian)
    world.run_for(6)  # A guardian has a few seconds of grace.
    assert breaches(world) == [
        "Hold/default/h (Available): holds Resources() instead of Resources(cpu=1000)"
    ]


def test_a_bad_line_fails_the_share_of_writes_that_it_is_told(world: SimWorld) -> None:
    line = BadLine(Random(0))
    world.faults.decide = line
    line.share = 1.0
    start(world)
    world.apply(hold("h", cpu=1))
    world.run_for(5)
    assert world.writes
    assert not any(type(outcome).__name__ == "Done" for _, _, outcome in world.writes)


def test_a_pod_made_anew_under_its_name_is_not_lost_to_the_scheduler(world: SimWorld) -> None:
    """The bind of the old one failed, and the new one was never tried (seed 280)."""
    world.apply(pod("p", cpu=1))
    world.run_for(0.05)
    world.delete("Pod", "default", "p")
    world.apply(pod("p", cpu=1))
    world.run_for(5)
    assert (world.get("Pod", "default", "p") or {})["spec"].get("nodeName") == "a"
