"""Nodes that are full by number of pods: a place for a pod is kept like CPU, and handed over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.sim.scenarios.invariants import Invariants
from tests.stories.embedded import EmbeddedWorld
from tests.stories.reservations import (
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])
OWNERS = 8
PLACES = OWNERS + 2
RIVALS = 5


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def koord(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    yield here
    here.close()


def fill(world: World, *rooms: Json, places: int = PLACES) -> None:
    """Hold rooms on a node, give every other place away, and have rivals wait for one."""
    world.add_node("a", cpu=40, pods=places)
    world.start_operator()
    world.apply(*rooms)
    world.until("all is held", lambda: len(placed(world, "guardian")) == OWNERS)
    left = places - len([item for item in world.all("Pod") if item["spec"].get("nodeName")])
    world.apply(*(pod(f"stranger-{number}", cpu="100m") for number in range(left)))
    for number in range(left):
        world.until_runs(f"stranger-{number}", on="a")
    world.apply(*(pod(f"rival-{number}", cpu="100m") for number in range(RIVALS)))
    world.pass_time(1)


def placed(world: World, role: str) -> list[Json]:
    return [item for item in world.ours(role) if item["spec"].get("nodeName")]


def check(world: World, watch: Invariants | None) -> None:
    """Every owner runs, and no rival ever had a node."""
    for number in range(OWNERS):
        world.until_runs(f"owner-{number}", on="a")
    world.pass_time(2)
    assert [f"rival-{number}" for number in range(RIVALS) if world.node_of(f"rival-{number}")] == []
    assert watch is None or watch.violations == []
    world.until_nothing_is_left()


def watching(world: World) -> Invariants | None:
    """Whoever sees what must never be, where the cluster can be looked at all the time."""
    sim = world.sim if isinstance(world, EmbeddedWorld) else None
    return Invariants(sim.store, sim.clock) if sim is not None else None


@DOORS
def test_owners_of_holds_that_come_together_get_their_places(world: World, door: str) -> None:
    watch = watching(world)
    fill(world, *(hold(f"h-{number}", cpu=1) for number in range(OWNERS)))
    world.apply(*(pod(f"owner-{number}", app="web", **{door: True}) for number in range(OWNERS)))
    check(world, watch)
    assert {world.phase_of_hold(f"h-{number}") for number in range(OWNERS)} == {"Succeeded"}


def test_owners_of_reservations_that_come_together_get_their_places(koord: World) -> None:
    watch = watching(koord)
    fill(koord, *(reservation(f"r-{number}") for number in range(OWNERS)))
    koord.apply(*(owner(f"owner-{number}") for number in range(OWNERS)))
    check(koord, watch)


@DOORS
def test_owners_of_slots_that_come_together_get_their_places(world: World, door: str) -> None:
    watch = watching(world)
    fill(world, headroom("burst", replicas=OWNERS))
    world.apply(*(pod(f"owner-{number}", app="web", **{door: True}) for number in range(OWNERS)))
    check(world, watch)


@DOORS
def test_owners_smaller_than_their_slots_get_their_places(world: World, door: str) -> None:
    """Nobody has a place for the guardian of the rest; the slots come back when owners end."""
    watch = watching(world)
    fill(world, headroom("burst", cpu=2, size={"perNode": {"slots": OWNERS}}))
    world.apply(*(pod(f"owner-{number}", app="web", **{door: True}) for number in range(OWNERS)))
    for number in range(OWNERS):
        world.until_runs(f"owner-{number}", on="a")
    world.pass_time(2)
    for number in range(OWNERS):
        world.delete("Pod", f"owner-{number}")
    world.until("all is held again", lambda: len(placed(world, "guardian")) == OWNERS)
    world.until_nothing_is_left()
    assert [f"rival-{number}" for number in range(RIVALS) if world.node_of(f"rival-{number}")] == []
    assert watch is None or watch.violations == []
