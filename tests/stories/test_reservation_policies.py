"""Reservations without an allocate policy and those with one do not share a node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations, owner, reservation
from tests.stories.things import Json, hold
from tests.stories.world import World

CONFLICT = "node(s) reservation allocate policy conflict"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    yield here
    here.close()


def with_policy(name: str, policy: str, **spec: object) -> Json:
    made = reservation(name, cpu=1, app=name)
    made["spec"].update(spec)
    if policy:
        made["spec"]["allocatePolicy"] = policy
    return made


def until_available(world: World, name: str, on: str = "") -> None:
    def so() -> bool:
        told = world.status(name, "Reservation")
        return told.get("phase") == "Available" and on in ("", told["nodeName"])

    world.until(f"{name} is available on {on or 'any node'}", so)


def refusal(world: World, name: str) -> str:
    told = world.condition_of(name, "Scheduled", "Reservation")
    return str(told.get("message", "")) if told.get("status") == "False" else ""


@pytest.mark.parametrize(
    ("first", "second"), [("", "Aligned"), ("", "Restricted"), ("Aligned", ""), ("Restricted", "")]
)
def test_the_other_kind_waits_until_the_node_is_free_of_it(
    world: World, first: str, second: str
) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(with_policy("first", first))
    until_available(world, "first", on="a")
    world.apply(with_policy("second", second))
    world.until("it says why it waits", lambda: CONFLICT in refusal(world, "second"))
    world.apply(hold("ours", cpu=1, allocatePolicy="Restricted"))
    world.until_held("ours")  # Holds are on neither side.
    world.delete("Reservation", "first", "")
    until_available(world, "second", on="a")


def test_the_other_kind_goes_to_another_node(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(with_policy("first", ""))
    until_available(world, "first", on="a")
    world.add_node("b", cpu=8)
    world.apply(with_policy("second", "Aligned"))
    until_available(world, "second", on="b")


def test_aligned_and_restricted_share_a_node(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    for name, policy in (
        ("aligned", "Aligned"),
        ("restricted", "Restricted"),
        ("third", "Aligned"),
    ):
        world.apply(with_policy(name, policy))
        until_available(world, name, on="a")


def test_what_an_owner_leaves_of_a_reservation_still_keeps_the_other_kind_away(
    world: World,
) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    first = reservation("first", cpu=4, app="web", allocateOnce=False)
    world.apply(first)
    until_available(world, "first", on="a")
    world.apply(owner("p", cpu=1, app="web"))
    world.until_runs("p", on="a")
    world.until_nothing_is_left()
    world.apply(with_policy("second", "Restricted"))
    world.until("it says why it waits", lambda: CONFLICT in refusal(world, "second"))
