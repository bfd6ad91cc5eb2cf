"""Whoever waits for something that passes goes on when it has passed, not when a timer rings.

The operator's patience is set far beyond what these stories wait: who is not woken fails them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations, owner, reservation
from tests.stories.things import pod
from tests.stories.world import World

PATIENCE_S = 120
SOON_S = 40.0  # far less than the patience, far more than a loaded machine needs
TWO_LATCHES_S = 1.3  # in virtual time: that of the first lingers, that of the second has to stand


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.start_operator(patience=timedelta(seconds=PATIENCE_S))
    yield here
    here.close()


def until_bound(world: World, name: str, seconds: float) -> None:
    soon = seconds if isinstance(world, EmbeddedReservations) else SOON_S
    world.until(f"{name} has its node", lambda: world.node_of(name) == "a", soon)


def reserve(world: World, cpu: int, **spec: Any) -> None:
    world.apply(reservation("r", cpu=cpu, allocateOnce=False, **spec))

    def available() -> bool:
        found = world.get("Reservation", "r") or {}
        return bool(found.get("status", {}).get("phase") == "Available")

    world.until("the reservation is held", available)
    world.pass_time(2)


def test_an_owner_larger_than_the_rest_goes_when_the_latch_of_another_is_gone(
    world: World,
) -> None:
    world.add_node("a", cpu=4)
    reserve(world, cpu=3, allocatePolicy="Aligned")
    world.apply(owner("small", cpu=1))
    world.until("small has its node", lambda: world.node_of("small") == "a")
    world.apply(owner("large", cpu=3))
    until_bound(world, "large", TWO_LATCHES_S)
    assert world.claim_of("large") == "Reservation//r"


def test_an_owner_goes_when_a_place_for_a_pod_is_free(world: World) -> None:
    world.add_node("a", cpu=4, pods=2)
    world.apply(pod("stranger", cpu=1))
    world.until_runs("stranger")
    reserve(world, cpu=3)
    world.apply(owner("first", cpu=1))
    world.until_runs("first", on="a")
    world.apply(owner("second", cpu=1))
    world.pass_time(2)
    assert world.node_of("second") == ""
    world.delete("Pod", "stranger")
    until_bound(world, "second", TWO_LATCHES_S)
    assert world.claim_of("second") == "Reservation//r"
