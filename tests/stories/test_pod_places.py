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
from tests.stories.world import World, keeps_claim

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


def held_cpu(world: World) -> list[str]:
    found = (item["spec"]["containers"][0] for item in placed(world, "guardian"))
    return sorted(each["resources"]["requests"].get("cpu", "0") for each in found)


def intruders(world: World) -> list[str]:
    return [f"rival-{number}" for number in range(RIVALS) if world.node_of(f"rival-{number}")]


@pytest.mark.slow
@DOORS
def test_an_owner_of_a_reusable_hold_gets_the_place_and_the_rest_stays_held(
    world: World, door: str
) -> None:
    """The guardian of the rest has no place: a latch keeps it, and has the next place."""
    watch = watching(world)
    rooms = [hold(f"h-{number}", cpu=2, allocateOnce=False) for number in range(OWNERS)]
    fill(world, *rooms, places=OWNERS + 4)
    world.apply(*(pod(f"owner-{number}", app="web", **{door: True}) for number in range(OWNERS)))
    for number in range(OWNERS):
        world.until_runs(f"owner-{number}", on="a")
    world.until(
        "latches keep what they leave",
        lambda: sum(map(keeps_claim, world.ours("latch"))) == OWNERS,
    )
    world.until("it is told", lambda: "no place" in world.condition_of("h-0").get("message", ""))
    for number in range(2):
        world.delete("Pod", f"stranger-{number}")
    world.until("two rests are held", lambda: held_cpu(world) == ["1", "1"])
    assert intruders(world) == []
    for number in range(OWNERS):
        world.delete("Pod", f"owner-{number}")
    world.until("all is held again", lambda: held_cpu(world) == ["2"] * OWNERS)
    world.until_nothing_is_left()
    assert len(intruders(world)) <= 2  # Two strangers have left, and nobody owns their places.
    assert watch is None or watch.violations == []


def test_the_rest_of_a_reservation_that_is_not_once_only_stays_held(koord: World) -> None:
    watch = watching(koord)
    rooms = [reservation(f"r-{number}", cpu=2, allocateOnce=False) for number in range(OWNERS)]
    fill(koord, *rooms)
    koord.apply(*(owner(f"owner-{number}") for number in range(OWNERS)))
    for number in range(OWNERS):
        koord.until_runs(f"owner-{number}", on="a")
    koord.until(
        "latches keep what they leave",
        lambda: sum(map(keeps_claim, koord.ours("latch"))) == OWNERS,
    )
    koord.delete("Pod", "stranger-0")
    koord.until("a rest is held", lambda: held_cpu(koord) == ["1"])
    for number in range(OWNERS):
        koord.delete("Pod", f"owner-{number}")
    koord.until("all is held again", lambda: held_cpu(koord) == ["2"] * OWNERS)
    assert len(intruders(koord)) <= 1
    assert watch is None or watch.violations == []
