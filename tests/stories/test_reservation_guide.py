"""Koordinator's own guide, followed with manifests of the same values: what it shows is shown.

Where the guide and Koordinator itself differ, Koordinator's behaviour counts: a default reservation
is Succeeded once its owner is bound, though the guide prints Available.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.stories.reservations import (
    KOORD,
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import Json, requests, workload
from tests.stories.world import World


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    for name in ("node-0", "node-1"):
        here.add_node(name, cpu=16, memory="64Gi")
    here.start_operator()
    yield here
    here.close()


def status(world: World, name: str) -> Json:
    return dict((world.get("Reservation", name) or {}).get("status", {}))


def columns(world: World) -> list[list[str]]:
    """What `kubectl get reservation -o wide` prints; only a real cluster has kubectl."""
    if not isinstance(world, RealReservations):
        return []
    text = world.plane.kubectl("get", "reservation", "-o", "wide")
    return [line.split() for line in text.splitlines()]


def small() -> Json:
    made = reservation("reservation-demo", owners=[OBJECT], ttl="1h")
    made["spec"]["template"] = {
        "metadata": {"namespace": "default"},
        "spec": {
            "schedulerName": KOORD,
            "containers": [
                {
                    **requests("500m", "800Mi"),
                    "args": ["-c", "1"],
                    "command": ["stress"],
                    "image": "polinux/stress",
                    "imagePullPolicy": "Always",
                }
            ],
        },
    }
    return made


OBJECT = {"object": {"name": "pod-demo-0", "namespace": "default"}}


def test_a_reservation_for_one_pod_is_used_by_it(world: World) -> None:
    world.apply(small())
    world.until("it is held", lambda: status(world, "reservation-demo").get("phase") == "Available")
    told = status(world, "reservation-demo")
    where = told["nodeName"]
    assert told["allocatable"] == {"cpu": "500m", "memory": "800Mi"}
    assert [(each["type"], each["status"], each["reason"]) for each in told["conditions"]] == [
        ("Scheduled", "True", "Scheduled"),
        ("Ready", "True", "Available"),
    ]
    shown = columns(world)
    assert not shown or shown[0] == ["NAME", "PHASE", "AGE", "NODE", "TTL", "EXPIRES"]
    assert not shown or shown[1][:2] == ["reservation-demo", "Available"]
    assert not shown or shown[1][3:] == [where, "1h"]
    world.apply(owner("pod-demo-0", "200m", app="", memory="400Mi"))
    world.until_runs("pod-demo-0", on=where)
    world.until(
        "it is used up", lambda: status(world, "reservation-demo").get("phase") == "Succeeded"
    )
    told = status(world, "reservation-demo")
    assert told["allocated"] == {"cpu": "200m", "memory": "400Mi"}
    (user,) = told["currentOwners"]
    found = world.get("Pod", "pod-demo-0") or {}
    assert user == {
        "namespace": "default",
        "name": "pod-demo-0",
        "uid": found["metadata"]["uid"],
    }
    claim = json.loads(found["metadata"]["annotations"][f"{PREFIX}/reservation-allocated"])
    kept = world.get("Reservation", "reservation-demo") or {}
    assert claim == {"name": "reservation-demo", "uid": kept["metadata"]["uid"]}


def test_two_pods_of_a_deployment_share_a_reservation_and_outlive_it(world: World) -> None:
    world.apply(
        reservation(
            "reservation-demo-big",
            cpu=6,
            memory="20Gi",
            allocateOnce=False,
            template={"nodeName": "node-1"},
            owners=[
                {"object": {"name": "pod-demo-1", "namespace": "default"}},
                {"labelSelector": {"matchLabels": {"app": "app-demo"}}},
            ],
            ttl="1h",
        )
    )
    big = "reservation-demo-big"
    world.until("it is held", lambda: status(world, big).get("phase") == "Available")
    assert status(world, big)["nodeName"] == "node-1"
    pods = {"memory": "10Gi", "schedulerName": KOORD}
    world.apply(workload("Deployment", "app-demo", cpu=2, replicas=2, pods=pods))
    world.until("both use it", lambda: len(status(world, big).get("currentOwners", ())) == 2)
    told = status(world, big)
    assert (told["phase"], told["nodeName"]) == ("Available", "node-1")
    assert told["allocatable"] == {"cpu": "6", "memory": "20Gi"}
    assert told["allocated"] == {"cpu": "4", "memory": "20Gi"}
    names = [each["name"] for each in told["currentOwners"]]
    assert [world.node_of(name) for name in names] == ["node-1", "node-1"]
    world.delete("Reservation", big, "")
    world.until("nothing is held", lambda: not world.ours("guardian"))
    for name in names:
        world.until_runs(name, on="node-1")
