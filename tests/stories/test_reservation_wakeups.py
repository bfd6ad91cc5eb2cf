"""Whoever waits is woken by every release and by every new reservation, each time; and what all
other schedulers see of a reservation, which Koordinator keeps to itself.
"""

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
from tests.stories.things import Json, pod, workload
from tests.stories.world import World

ROUNDS = 20
AT_ONCE_S = 2
ALLOCATED = f"{PREFIX}/reservation-allocated"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a", cpu=4, labels={"kubernetes.io/hostname": "a"})
    here.start_operator()
    yield here
    here.close()


def phase(world: World, name: str) -> str:
    found = world.get("Reservation", name) or {}
    return str(found.get("status", {}).get("phase", ""))


def until_phase(world: World, name: str, wanted: str, seconds: float = 30) -> None:
    world.until(f"{name} is {wanted}", lambda: phase(world, name) == wanted, seconds)


def until_bound(world: World, name: str) -> None:
    world.until(f"{name} has its node", lambda: world.node_of(name) == "a", AT_ONCE_S)


def until_refused(world: World, *names: str) -> None:
    world.until(f"{names} are refused", lambda: all(refused(world, name) for name in names))


def refused(world: World, name: str) -> bool:
    """Whether a scheduler has said that the pod fits nowhere."""
    found = world.get("Pod", name) or {}
    conditions = found.get("status", {}).get("conditions", ())
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in conditions)


def test_an_owner_that_waits_is_bound_as_soon_as_its_reservation_is_there(world: World) -> None:
    for number in range(ROUNDS):
        name = f"r-{number}"
        world.apply(owner(f"p-{number}", cpu=1, app=name, affinity={}))
        until_refused(world, f"p-{number}")
        world.apply(reservation(name, cpu=1, app=name))
        until_bound(world, f"p-{number}")
        world.delete("Pod", f"p-{number}")
        world.delete("Reservation", name, "")


@pytest.mark.parametrize("way", ["deleted", "used up", "over"])
def test_a_stranger_that_waits_is_bound_as_soon_as_room_is_released(world: World, way: str) -> None:
    for number in range(ROUNDS // 4):
        name, who = f"r-{number}", f"stranger-{number}"
        more = {"ttl": "4s"} if way == "over" else {}
        world.apply(reservation(name, cpu=4, app=name, **more))
        until_phase(world, name, "Available")
        world.apply(owner(who, cpu=3, app="other"))
        until_refused(world, who)
        if way == "deleted":
            world.delete("Reservation", name, "")
        elif way == "used up":
            world.apply(owner(f"p-{number}", cpu=1, app=name))
            until_phase(world, name, "Succeeded")
        else:
            until_phase(world, name, "Failed")
        until_bound(world, who)
        for each in (who, *((f"p-{number}",) if way == "used up" else ())):
            world.delete("Pod", each)
        world.until("the node is empty", lambda: not any(map(_bound, world.all("Pod"))))


def test_a_second_reservation_that_waits_is_held_as_soon_as_the_first_goes(world: World) -> None:
    world.apply(reservation("first", cpu=4))
    until_phase(world, "first", "Available")
    world.apply(reservation("second", cpu=3, app="other"))
    world.pass_time(5)
    assert phase(world, "second") == "Pending"
    world.delete("Reservation", "first", "")
    until_phase(world, "second", "Available", seconds=5)


def test_every_other_scheduler_sees_the_room_as_used(world: World) -> None:
    """Of a reservation that lives in a scheduler's memory none of these would know."""
    world.apply(reservation("r", cpu=3))
    until_phase(world, "r", "Available")
    world.apply(pod("plain", cpu=2), workload("DaemonSet", "agents", cpu=2))
    world.until("the agent is made", lambda: bool(_agents(world)))
    until_refused(world, "plain", *_agents(world))
    world.pass_time(3)
    assert world.node_of("plain") == ""
    assert [world.node_of(name) for name in _agents(world)] == [""]
    world.apply(owner("p", cpu=3))
    world.until_runs("p", on="a")


def test_a_forged_annotation_makes_nobody_an_owner(world: World) -> None:
    world.apply(reservation("r", cpu=2, allocateOnce=False))
    until_phase(world, "r", "Available")
    uid = (world.get("Reservation", "r") or {})["metadata"]["uid"]
    forged = {
        ALLOCATED: json.dumps({"name": "r", "uid": uid}),
        "headroom.dev/claimed": "Reservation//r",
        "headroom.dev/claimed-uid": uid,
    }
    world.apply(pod("liar", cpu=1, app="other", annotations=forged))
    world.until_runs("liar", on="a")
    world.pass_time(2)
    told = (world.get("Reservation", "r") or {})["status"]
    assert (told["phase"], told.get("currentOwners")) == ("Available", None)
    (guardian,) = world.ours("guardian")
    assert guardian["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "2"


def test_owners_are_spread_with_the_reservation_among_them(world: World) -> None:
    world.add_node("b", cpu=4, labels={"kubernetes.io/hostname": "b"})
    even = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    }
    world.apply(reservation("r", cpu=1, template=even, labels={"app": "web"}))
    until_phase(world, "r", "Available")
    for number in range(4):
        world.apply(owner(f"p-{number}", cpu=1, placing=even))
        world.until_runs(f"p-{number}")
    where = sorted(world.node_of(f"p-{number}") for number in range(4))
    assert where == ["a", "a", "b", "b"]
    claims = [ALLOCATED in _annotations(world, f"p-{number}") for number in range(4)]
    assert claims.count(True) == 1


def _agents(world: World) -> list[str]:
    return [
        str(each["metadata"]["name"])
        for each in world.all("Pod")
        if each["metadata"]["name"].startswith("agents-")
    ]


def _annotations(world: World, name: str) -> Json:
    return dict((world.get("Pod", name) or {})["metadata"].get("annotations", {}))


def _bound(thing: Json) -> bool:
    return bool(thing["spec"].get("nodeName"))
