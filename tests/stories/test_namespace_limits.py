"""What a namespace may hold: an administrator's limits, told of every kind that holds room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations, reservation
from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

SHOP = "limited"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=16)
    if here.get("Namespace", SHOP) is None:
        here.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SHOP}})
    yield here
    limit(here, None)
    here.close()


def limit(world: World, text: str | None) -> None:
    world.patch("Namespace", SHOP, {"metadata": {"annotations": {"headroom.dev/limits": text}}})


def condition(world: World, kind: str, name: str, namespace: str = SHOP) -> Json:
    found = world.get(kind, name, namespace) or {}
    conditions = found.get("status", {}).get("conditions", ())
    return next((each for each in conditions if each["type"] == "Ready"), {})


def until_refused(world: World, kind: str, name: str, *words: str) -> None:
    def so() -> bool:
        told = condition(world, kind, name)
        said = f"{told.get('reason')} {told.get('message')}"
        return "LimitReached" in said and all(word in said for word in words)

    world.until(f"{kind} {name} is beyond a limit, and told so: {words}", so)


def guardians(world: World) -> list[Json]:
    return [
        each
        for each in world.ours("guardian")
        if each["metadata"]["namespace"] == SHOP and "deletionTimestamp" not in each["metadata"]
    ]


def here(thing: Json) -> Json:
    return {**thing, "metadata": {**thing["metadata"], "namespace": SHOP}}


def until_held(world: World, *names: str) -> None:
    def so() -> bool:
        return all(world.phase_of_hold(name, SHOP) == "Available" for name in names)

    world.until(f"{names} are held", so)


def test_a_hold_that_its_owner_has_taken_counts_no_more(world: World) -> None:
    limit(world, "slots=1")
    world.start_operator()
    world.apply(here(hold("one", app="first")))
    until_held(world, "one")
    world.apply(here(hold("two", app="second")))
    until_refused(world, "Hold", "two", "slots=1")
    world.apply(here(pod("owner", app="first", ours=True)))
    world.until("the owner has it", lambda: world.phase_of_hold("one", SHOP) == "Succeeded")
    until_held(world, "two")


def test_beyond_the_number_of_slots_nothing_is_held_until_one_goes(world: World) -> None:
    limit(world, "slots=2")
    world.start_operator()
    world.apply(here(hold("one")), here(hold("two")))
    until_held(world, "one", "two")
    world.apply(here(hold("three")))
    until_refused(world, "Hold", "three", "slots=2", f"namespace {SHOP}", "headroom.dev/limits")
    world.delete("Hold", "one", SHOP)
    until_held(world, "three")
    assert len(guardians(world)) == 2


def test_a_headroom_has_as_many_slots_as_the_limit_allows_and_says_so(world: World) -> None:
    limit(world, "slots=3, cpu=2")
    world.start_operator()
    world.apply(here(headroom("pool", replicas=8)))
    until_refused(world, "Headroom", "pool", "2 of 8 slots held", "cpu=2")
    assert len(guardians(world)) == 2
    limit(world, "slots=3")
    until_refused(world, "Headroom", "pool", "3 of 8 slots held", "slots=3")
    limit(world, None)
    world.until("the limit is lifted", lambda: len(world.held("pool", SHOP)) == 8)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("locked=no", {}),
        ("priority=1000", {}),
        ("preAllocation=no", {"preAllocation": True}),
        ("memory=1Gi", {"memory": "2Gi"}),
        ("slots=many", {}),
    ],
)
def test_each_limit_is_named_where_it_says_no(
    world: World, text: str, more: dict[str, Any]
) -> None:
    limit(world, text)
    world.start_operator()
    world.apply(here(hold("one", **more)))
    until_refused(world, "Hold", "one", text.partition("=")[0])
    assert not guardians(world)


def test_no_node_is_kept_for_a_hold_that_may_not_wait(world: World) -> None:
    limit(world, "preAllocation=no")
    world.apply(here(pod("running", cpu=10, app="web")))
    world.until("it runs", lambda: world.node_of("running", SHOP) == "a")
    world.start_operator()
    world.apply(here(hold("heir", cpu=10, preAllocation=True, allocateOnce=False)))
    until_refused(world, "Hold", "heir", "preAllocation=no")
    world.pass_time(2)
    assert not guardians(world)
    assert not world.ours("latch")


def test_a_reservation_counts_where_its_guardian_lives(world: World) -> None:
    limit(world, "slots=1")
    world.start_operator()
    world.apply(here(hold("one")))
    until_held(world, "one")
    thing = reservation("far")
    thing["spec"]["template"]["metadata"] = {"namespace": SHOP}
    world.apply(thing)
    world.until(
        "the reservation is refused",
        lambda: "slots=1" in str((world.get("Reservation", "far") or {}).get("status", {})),
    )
    assert len(guardians(world)) == 1


def test_a_hold_that_is_made_larger_stays_within_the_limit(world: World) -> None:
    limit(world, "cpu=3")
    world.start_operator()
    world.apply(here(hold("one", 1)))
    until_held(world, "one")
    larger = here(hold("one", 4))["spec"]
    world.patch("Hold", "one", {"spec": {"template": larger["template"]}}, SHOP)
    world.until(
        "it says why it does not grow",
        lambda: "cpu=3" in str(condition(world, "Hold", "one").get("message")),
    )
    (guardian,) = guardians(world)
    assert guardian["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"


def test_an_operator_that_starts_anew_counts_what_stands(world: World) -> None:
    world.start_operator()
    world.apply(here(headroom("pool", replicas=2)), here(hold("one")))
    until_held(world, "one")
    world.until("all stand", lambda: len(guardians(world)) == 3)
    world.kill_operator()
    limit(world, "slots=3")
    world.apply(here(hold("another")))
    world.start_operator()
    until_refused(world, "Hold", "another", "slots=3", "3 are in use")
    assert len(guardians(world)) == 3
