"""Bursts onto Preemptible slots: all at once, sooner than by one preemption after another."""

from __future__ import annotations

from datetime import datetime

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import Json, headroom, pod
from tests.stories.world import World

BURST = 20


def held(world: World, nodes: int = 5, **settings: int) -> None:
    """Nodes whose room is all kept by slots that make way."""
    for number in range(nodes):
        world.add_node(f"n{number}", cpu=4)
    world.start_operator(**settings)
    world.apply(headroom("room", cpu=1, replicas=4 * nodes, mode="Preemptible"))
    world.until("all is held", lambda: len(world.held("room")) == 4 * nodes, seconds=60)


def burst(count: int = BURST) -> list[Json]:
    return [pod(f"burst-{number:02}", cpu=1) for number in range(count)]


def bound(world: World) -> int:
    return sum(bool(world.node_of(f"burst-{number:02}")) for number in range(BURST))


def seconds_to_bind(world: EmbeddedWorld) -> float:
    begun: datetime = world.sim.clock.now()
    world.apply(*burst())
    world.until("all are bound", lambda: bound(world) == BURST, seconds=60)
    return (world.sim.clock.now() - begun).total_seconds()


def test_a_burst_is_bound_and_the_room_is_asked_for_again(world: World) -> None:
    held(world, nodes=3)
    world.apply(*burst(8))
    world.until("all are bound", lambda: bound(world) == 8)
    world.until("the rest is held, what is missing waits", lambda: len(world.slots("room")) == 12)
    world.pass_time(1)
    assert len(world.held("room")) == 4  # Not one more was given up than was needed.
    assert bound(world) == 8


def test_twenty_pods_are_bound_sooner_than_by_preemption() -> None:
    taken = {}
    for name, settings in (("together", {}), ("one by one", {"burst_at": 1000})):
        world = EmbeddedWorld()
        held(world, **settings)
        taken[name] = seconds_to_bind(world)
        world.close()
    assert taken["together"] < taken["one by one"], taken


def test_an_operator_that_dies_in_a_burst_costs_nobody_a_place(embedded: EmbeddedWorld) -> None:
    held(embedded)
    embedded.cut_operator_after(7)
    embedded.apply(*burst())
    embedded.until("all are bound", lambda: bound(embedded) == BURST, seconds=60)
    embedded.kill_operator()
    embedded.start_operator()
    embedded.add_node("more", cpu=64)
    embedded.until("all is held again", lambda: len(embedded.held("room")) == 20, seconds=60)
