"""Owners of every importance come and give way by chance, operators die: no rival ever gets in."""

from __future__ import annotations

from random import Random

import pytest

from tests.simulation.seeds import seeds
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import NODE, cpu_on_node
from tests.stories.things import hold, pod, priority_class
from tests.stories.world import World

SIZE = 6
HELD = 4
RIVALS = [f"rival-{number}" for number in range(4)]


def set_stage(world: World, chance: Random) -> None:
    """A node that is full: a pod of no concern, and a hold whose owners have all of it."""
    world.add_node(NODE, cpu=SIZE)
    world.start_operator()
    world.apply(priority_class("some", 10), priority_class("critical", 1000))
    policy = chance.choice(["Aligned", "Restricted"])
    world.apply(hold("h", cpu=HELD, allocateOnce=False, allocatePolicy=policy))
    world.until_held("h")
    world.apply(pod("beside", cpu=SIZE - HELD, priorityClassName="critical"))
    world.until_runs("beside")
    low = [f"low-{number}" for number in range(HELD)]
    for name in low:
        grace = chance.choice([0, 0, 1, 5])
        world.apply(pod(name, app="web", ours=True, terminationGracePeriodSeconds=grace))
    world.until("owners have all of it", lambda: all(map(world.running, low)))
    world.apply(*(pod(name) for name in RIVALS))
    world.pass_time(2 * chance.random())


@pytest.mark.parametrize("seed", seeds(8, quick=2))
def test_the_important_get_in_and_no_rival_does(seed: int) -> None:
    chance, world = Random(seed), EmbeddedWorld(seed)
    set_stage(world, chance)
    high = [f"high-{number}" for number in range(chance.choice([1, 2]))]
    for name in high:
        importance = chance.choice(["some", "critical"])
        cpu = chance.choice([1, 2])
        world.apply(pod(name, cpu=cpu, app="web", ours=True, priorityClassName=importance))
    world.pass_time(3 * chance.random())
    world.apply(*(pod(f"again-{number}", app="web", ours=True) for number in range(2)))
    if chance.random() < 0.7:
        world.pass_time(2 * chance.random())
        world.kill_operator()
        world.pass_time(4 * chance.random())
        world.start_operator()
    world.until("the important are in", lambda: all(world.claim_of(name) for name in high), 60)
    world.pass_time(5)
    world.until_nothing_is_left()
    assert not any(map(world.node_of, RIVALS)), world.picture()
    assert cpu_on_node(world) <= SIZE
    world.close()
