"""Owners of one reservation give way to each other by priority; outsiders gain nothing by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stories.reservations import (
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import Json, pod, priority_class
from tests.stories.world import World

ALLOCATED = f"{PREFIX}/reservation-allocated"
BUDGET = "PodDisruptionBudget"
CRITICAL = {"priorityClassName": "critical"}
POLICIES = pytest.mark.parametrize("policy", ["", "Aligned", "Restricted"])


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    yield here
    here.close()


def shared(cpu: int, policy: str = "", **spec: Any) -> Json:
    if policy:
        spec["allocatePolicy"] = policy
    return reservation("r", cpu=cpu, allocateOnce=False, **spec)


def allocation(world: World, name: str) -> str:
    """The name of the Reservation that a pod says it got."""
    found = world.get("Pod", name) or {}
    text = found["metadata"].get("annotations", {}).get(ALLOCATED)
    return str(json.loads(text)["name"]) if text else ""


def owners_told(world: World) -> list[str]:
    return sorted(
        each["name"] for each in world.status("r", "Reservation").get("currentOwners", ())
    )


def set_stage(world: World, policy: str, cpu: int = 4, **low: Any) -> None:
    """A node that is full of a reservation, and that of an owner of no importance."""
    world.add_node("a", cpu=cpu)
    world.start_operator()
    world.apply(priority_class("critical", 100_000), shared(4, policy))
    world.until(
        "it is available", lambda: world.status("r", "Reservation").get("phase") == "Available"
    )
    world.apply(owner("low", cpu=4, **low))
    world.until_runs("low", on="a")
    world.until("the owner is told", lambda: owners_told(world) == ["low"])
    world.until_nothing_is_left()


def budget(name: str, labels: dict[str, str]) -> Json:
    """At least one of these pods is to be there."""
    return {
        "apiVersion": "policy/v1",
        "kind": BUDGET,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    }


@POLICIES
def test_a_critical_outsider_waits_and_no_owner_is_ended(world: World, policy: str) -> None:
    set_stage(world, policy)
    world.apply(owner("outsider", cpu=4, app="other", placing=CRITICAL))
    world.pass_time(12)
    assert world.node_of("outsider") == ""
    assert world.running("low")
    conditions = (world.get("Pod", "outsider") or {})["status"]["conditions"]
    assert ("PodScheduled", "False") in [(each["type"], each["status"]) for each in conditions]


@POLICIES
def test_a_critical_owner_takes_the_place_of_one_that_is_not(world: World, policy: str) -> None:
    set_stage(world, policy)
    world.apply(owner("high", cpu=4, placing=CRITICAL))
    world.until_runs("high", on="a")
    assert world.get("Pod", "low") is None
    assert allocation(world, "high") == "r"
    world.until("its new owner is told", lambda: owners_told(world) == ["high"])
    world.until("the victim is told of", lambda: bool(world.events("Preempted", "low")))
    world.until_nothing_is_left()


def test_with_room_beside_a_restricted_owner_still_takes_the_place_inside(world: World) -> None:
    """It must be in the reservation, whose limit is reached: free room of the node is no help."""
    set_stage(world, "Restricted", cpu=16)
    world.apply(owner("high", cpu=4, affinity={}, placing=CRITICAL))
    world.until_runs("high", on="a")
    assert allocation(world, "high") == "r"
    assert world.get("Pod", "low") is None


def test_a_stranger_that_waits_for_the_room_of_a_victim_does_not_get_it(world: World) -> None:
    set_stage(world, "", terminationGracePeriodSeconds=3)
    world.apply(*(pod(f"stranger-{number}", cpu=4) for number in range(3)))
    world.apply(owner("rest", cpu=1))  # An owner as well, but of no more importance than the first.
    world.pass_time(2)
    world.apply(owner("high", cpu=3, placing=CRITICAL))
    world.until_runs("high", on="a")
    assert allocation(world, "high") == "r"
    world.until_runs("rest", on="a")
    assert not any(world.node_of(f"stranger-{number}") for number in range(3))
    world.until("both owners are told", lambda: owners_told(world) == ["high", "rest"])


def test_equals_the_spared_and_the_meek_do_not_preempt(world: World) -> None:
    """As important is not more important; `disable-preemptible` spares; Never is obeyed."""
    world.add_node("a", cpu=4)
    world.start_operator()
    meek = {**priority_class("meek", 100_001), "preemptionPolicy": "Never"}
    world.apply(priority_class("critical", 100_000), meek, shared(4))
    spared = owner("spared", cpu=2)
    spared["metadata"]["labels"][f"{PREFIX}/disable-preemptible"] = "true"
    world.apply(spared, owner("equal", cpu=2, placing=CRITICAL))
    world.until_runs("spared", on="a")
    world.until_runs("equal", on="a")
    world.apply(owner("high", cpu=2, placing=CRITICAL))
    world.apply(owner("meek", cpu=2, placing={"priorityClassName": "meek"}))
    world.pass_time(12)
    assert (world.node_of("high"), world.node_of("meek")) == ("", "")
    assert world.running("spared")
    assert world.running("equal")


def test_no_more_owners_go_than_must(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(priority_class("critical", 100_000), priority_class("some", 10), shared(4))
    for name, more in (("one", {}), ("two", {}), ("dear", {"priorityClassName": "some"})):
        world.apply(owner(name, cpu=1, placing=more))
        world.until_runs(name, on="a")
    world.apply(owner("high", cpu=2, placing=CRITICAL))
    world.until_runs("high", on="a")
    left = [name for name in ("one", "two", "dear") if world.get("Pod", name) is not None]
    assert len(left) == 2
    assert "dear" in left


def test_who_has_a_disruption_budget_is_spared_as_long_as_others_can_go(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(priority_class("critical", 100_000), priority_class("some", 10), shared(4))
    world.until(
        "it is available", lambda: world.status("r", "Reservation").get("phase") == "Available"
    )
    protected = owner("protected", cpu=2)
    protected["metadata"]["labels"]["tier"] = "db"
    world.apply(protected)
    world.until_runs("protected", on="a")
    world.apply(owner("other", cpu=2, placing={"priorityClassName": "some"}))
    world.until_runs("other", on="a")
    world.apply(budget("db", {"tier": "db"}))
    world.until("the budget is known", lambda: "disruptionsAllowed" in world.status("db", BUDGET))
    world.until_nothing_is_left()
    world.apply(owner("high", cpu=2, placing=CRITICAL))
    world.until_runs("high", on="a")
    assert world.get("Pod", "other") is None  # The more important one, but without a budget.
    assert world.running("protected")
    world.apply(owner("higher", cpu=2, placing={"priorityClassName": "some"}))
    world.until_runs("higher", on="a")
    assert world.get("Pod", "protected") is None  # Nobody else is left: budgets forbid nothing.
    assert world.running("high")
