"""More of what Koordinator's end-to-end tests tell: sizes that do not add up, places, ends."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.stories.reservations import (
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import Json, pod
from tests.stories.world import World

HOSTNAME = "kubernetes.io/hostname"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=10, labels={HOSTNAME: "a"})
    here.start_operator()
    yield here
    here.close()


def allocation(world: World, name: str) -> str:
    """The name of the Reservation that a pod says it got."""
    found = world.get("Pod", name) or {}
    text = found["metadata"].get("annotations", {}).get(f"{PREFIX}/reservation-allocated")
    return str(json.loads(text)["name"]) if text else ""


def until_phase(world: World, wanted: str, *names: str, seconds: float = 30) -> None:
    world.until(
        f"{', '.join(names)} {wanted}",
        lambda: all(world.status(name, "Reservation").get("phase") == wanted for name in names),
        seconds,
    )


def test_aligned_owners_all_get_in_and_all_is_counted(world: World) -> None:
    """The same four as for Restricted, of whom that lets in three."""
    world.apply(
        reservation("r", 4, memory="8Gi", allocateOnce=False, allocatePolicy="Aligned"),
    )
    until_phase(world, "Available", "r")
    for name, cpu, memory in (("p", 2, "2Gi"), ("q", 2, "2Gi"), ("s", 0, "3Gi"), ("t", 0, "2Gi")):
        world.apply(owner(name, cpu, memory=memory))
        world.until_runs(name, on="a")
        assert allocation(world, name) == "r"
    world.until("all is told", lambda: len(world.status("r", "Reservation")["currentOwners"]) == 4)
    assert world.status("r", "Reservation")["allocated"] == {"cpu": "4", "memory": "9Gi"}


def test_of_five_reservations_that_fill_a_node_none_serves_an_owner_larger_than_itself(
    world: World,
) -> None:
    names = [f"r{number}" for number in range(5)]
    world.apply(*(reservation(name, 2, allocatePolicy="Aligned") for name in names))
    until_phase(world, "Available", *names)
    world.apply(owner("p", 3))
    world.pass_time(5)
    assert world.node_of("p") == ""
    world.apply(owner("q", 2))
    world.until_runs("q", on="a")
    assert allocation(world, "q") in names


def test_a_reservation_that_nobody_came_for_ends_with_its_ttl(world: World) -> None:
    world.apply(reservation("r", 4, ttl="10s"))
    until_phase(world, "Available", "r")
    until_phase(world, "Failed", "r", seconds=20)
    told = world.status("r", "Reservation")
    assert [(each["type"], each["status"], each["reason"]) for each in told["conditions"]] == [
        ("Scheduled", "True", "Scheduled"),
        ("Ready", "False", "Expired"),
    ]
    world.until("its room is free", lambda: not world.ours("guardian"))


def test_a_reservation_goes_where_its_template_says_and_its_owner_with_it(world: World) -> None:
    world.add_node("b", cpu=10, labels={HOSTNAME: "b"})
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    there = {"affinity": {"nodeAffinity": required}}
    world.apply(reservation("r", 2, template=there))
    until_phase(world, "Available", "r")
    assert world.status("r", "Reservation")["nodeName"] == "b"
    world.apply(owner("p", 1, placing=there))
    world.until_runs("p", on="b")
    assert allocation(world, "p") == "r"


def test_a_pod_that_the_reservation_is_not_for_runs_beside_it_and_owns_nothing(
    world: World,
) -> None:
    world.apply(reservation("r", 4, allocateOnce=False))
    until_phase(world, "Available", "r")
    world.apply(owner("p", 2, app="other", placing={"nodeSelector": {HOSTNAME: "a"}}))
    world.until_runs("p", on="a")
    world.pass_time(2)
    told = world.status("r", "Reservation")
    assert (allocation(world, "p"), told.get("currentOwners"), told.get("allocated")) == (
        "",
        None,
        None,
    )
    assert told["phase"] == "Available"


MARK = "pod.koordinator.sh/is-pre-allocatable"
PRIORITY = "pod.koordinator.sh/pre-allocatable-priority"


def marked(name: str, cpu: int, priority: int) -> Json:
    """A pod of nobody's in particular that says that its room may be promised."""
    made = pod(name, cpu, app="batch", annotations={PRIORITY: str(priority)})
    made["metadata"]["labels"][MARK] = "true"
    return made


def succeeding(cpu: int, **policy: bool) -> Json:
    return reservation(
        "r",
        cpu,
        allocateOnce=False,
        allocatePolicy="Restricted",
        preAllocation=True,
        preAllocationPolicy={"mode": "Cluster", **policy},
    )


def message(world: World) -> str:
    conditions = world.status("r", "Reservation").get("conditions", ())
    return " ".join(each.get("message", "") for each in conditions)


def test_marked_pods_are_not_waited_for_where_the_operator_does_not_allow_it(world: World) -> None:
    world.apply(marked("low", 6, 1))
    world.until_runs("low", on="a")
    world.apply(succeeding(8))
    world.until("it is told", lambda: "--allow-cluster-preallocation" in message(world))
    assert (world.ours("guardian"), world.ours("latch")) == ([], [])


def test_the_room_of_marked_pods_is_held_when_they_end_and_no_rival_gets_it(world: World) -> None:
    world.kill_operator()
    world.start_operator(cluster_preallocation=True)
    for name, priority in (("low", 1), ("high", 9), ("middle", 5)):
        world.apply(marked(name, 3, priority))
        world.until_runs(name, on="a")
    world.apply(succeeding(7, enableMultiple=True))
    until_phase(world, "Waiting", "r")
    assert "for the end of default/high, default/middle" in message(world)
    world.apply(pod("rival", cpu=3))
    world.delete("Pod", "high")
    world.pass_time(3)
    assert (world.node_of("rival"), world.status("r", "Reservation")["phase"]) == ("", "Waiting")
    world.delete("Pod", "middle")
    until_phase(world, "Available", "r")
    world.pass_time(2)
    assert (world.node_of("rival"), world.running("low")) == ("", True)
    world.apply(owner("heir", 7))
    world.until_runs("heir", on="a")
    assert allocation(world, "heir") == "r"
