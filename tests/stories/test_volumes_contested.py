"""Owners that mount volumes where room has to be made first: others give way, or one ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import owner, reservation
from tests.stories.things import Json, hold, pod, priority_class
from tests.stories.volumes import (
    bind,
    chosen,
    claim,
    is_bound,
    mounting,
    provision,
    storage_class,
    until_bound,
    waits_for,
    worlds,
)
from tests.stories.world import World

CRITICAL: Json = {"priorityClassName": "critical"}
LATE: Json = {"storageClassName": "late"}
NAMES = {"a": "near", "b": "far"}


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    yield from worlds(request)


def on_node(name: str) -> Json:
    return {"template": {"nodeSelector": {"kubernetes.io/hostname": name}}}


def used_up(world: World) -> None:
    """A shared reservation on each node, each used up by an owner of no importance."""
    world.apply(priority_class("critical", 100_000))
    for node, name in NAMES.items():
        world.apply(reservation(name, 4, name, allocateOnce=False, **on_node(node)))
    world.until(
        "both are available",
        lambda: all(
            world.status(name, "Reservation").get("phase") == "Available" for name in NAMES.values()
        ),
    )
    for node, name in NAMES.items():
        world.apply(owner(f"low-{name}", 4, name))
        world.until_runs(f"low-{name}", on=node)
    world.until_nothing_is_left()


def test_a_critical_owner_takes_a_place_that_its_volume_reaches(world: World) -> None:
    bind(world, zone="y")
    used_up(world)
    world.apply(owner("high", 4, "far", placing={**CRITICAL, **mounting("data")}))
    until_bound(world, "high", "b")
    assert world.claim_of("high") == "Reservation//far"
    assert world.get("Pod", "low-far") is None
    assert world.running("low-near")


def test_nobody_gives_way_to_an_owner_whose_volume_is_elsewhere(world: World) -> None:
    bind(world, zone="x")
    used_up(world)
    world.apply(owner("high", 4, "far", placing={**CRITICAL, **mounting("data")}))
    world.until("it is told to wait", lambda: waits_for(world, "high").get("status") == "False")
    world.pass_time(5)
    assert world.running("low-far")
    assert world.running("low-near")
    assert world.node_of("high") == ""


def test_a_volume_is_made_after_a_place_for_its_owner_was_made(world: World) -> None:
    used_up(world)
    world.apply(storage_class(), claim(**LATE))
    world.apply(owner("high", 4, "far", placing={**CRITICAL, **mounting("data")}))
    provision(world, "data", "y")
    until_bound(world, "high", "b")
    assert chosen(world, "data") == "b"
    assert is_bound(world, "data")
    assert world.claim_of("high") == "Reservation//far"
    assert world.get("Pod", "low-far") is None


@pytest.mark.parametrize("door", ["gated", "ours"])
def test_an_heir_with_a_volume_gets_the_room_of_the_pod_that_ended(world: World, door: str) -> None:
    bind(world, zone="y")
    there: Json = {"nodeSelector": {"kubernetes.io/hostname": "b"}}
    world.apply(pod("running", 3, "web", **there, **mounting("data")))
    until_bound(world, "running", "b")
    world.apply(hold("h", 3, preAllocation=True, allocateOnce=False, template=there))
    world.until("it waits", lambda: world.phase_of_hold("h") == "Waiting")
    world.apply(pod("rival", 3, **there))
    world.pass_time(2)
    world.delete("Pod", "running")
    world.until_held("h")
    heir: Json = {door: True, **mounting("data")}
    world.apply(pod("heir", 3, "web", **heir))
    until_bound(world, "heir", "b")
    assert world.claim_of("heir") == "Hold/default/h"
    world.pass_time(3)
    assert world.node_of("rival") == ""
