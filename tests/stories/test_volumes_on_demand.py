"""Claims that wait for their first pod: bound for the node that our scheduler chose, then used.

As kube-scheduler does it: the node is written on the claim, or a free volume is promised to it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import owner, reservation
from tests.stories.things import Json, pod
from tests.stories.volumes import (
    ZONE,
    chosen,
    claim,
    is_bound,
    mounting,
    provision,
    storage_class,
    until_bound,
    until_told,
    volume,
    worlds,
)
from tests.stories.world import World

LATE: Json = {"storageClassName": "late"}


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    yield from worlds(request)


def until_available(world: World, name: str) -> None:
    def so() -> bool:
        found = world.get("Reservation", name) or {}
        return bool(found.get("status", {}).get("phase") == "Available")

    world.until(f"{name} available", so)


def on_node(name: str) -> Json:
    return {"template": {"nodeSelector": {"kubernetes.io/hostname": name}}}


def test_a_volume_is_made_where_the_pod_will_be(world: World) -> None:
    world.apply(storage_class(), claim(**LATE))
    world.apply(pod("p", ours=True, nodeSelector={ZONE: "y"}, **mounting("data")))
    provision(world, "data", "y")
    until_bound(world, "p", "b")
    assert chosen(world, "data") == "b"
    assert is_bound(world, "data")


def test_an_owner_keeps_its_reservation_while_its_volume_is_made(world: World) -> None:
    world.apply(storage_class(), claim(**LATE), reservation("r", 2, **on_node("b")))
    until_available(world, "r")
    world.apply(owner("first", 2, placing=mounting("data")))
    world.until("a node is chosen", lambda: chosen(world, "data") == "b")
    world.apply(owner("second", 2, affinity={}))
    provision(world, "data", "y")
    until_bound(world, "first", "b")
    assert world.claim_of("first") == "Reservation//r"
    assert world.node_of("second") == ""


def test_a_class_makes_volumes_only_where_its_topologies_allow(world: World) -> None:
    there = [{"matchLabelExpressions": [{"key": ZONE, "values": ["y"]}]}]
    world.apply(storage_class(allowedTopologies=there), claim(**LATE))
    world.apply(pod("astray", ours=True, nodeSelector={ZONE: "x"}, **mounting("data")))
    until_told(world, "astray", "didn't find available persistent volumes to bind")
    world.apply(pod("p", ours=True, **mounting("data")))
    provision(world, "data", "y")
    until_bound(world, "p", "b")


def test_a_free_volume_on_its_node_is_given_to_a_claim(world: World) -> None:
    world.apply(storage_class(provisioner="kubernetes.io/no-provisioner"))
    world.apply(volume("disk-y", "y", **LATE), claim(**LATE))
    world.apply(pod("p", ours=True, **mounting("data")))
    until_bound(world, "p", "b")
    found = world.get("PersistentVolumeClaim", "data") or {}
    assert found["spec"]["volumeName"] == "disk-y"


def test_an_ephemeral_volume_gets_a_claim_of_the_pods_own(world: World) -> None:
    spec = claim(**LATE)["spec"]
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}
    world.apply(storage_class())
    world.apply(pod("p", ours=True, nodeSelector={ZONE: "x"}, volumes=[scratch]))
    provision(world, "p-scratch", "x")
    until_bound(world, "p", "a")
    assert is_bound(world, "p-scratch")


def test_an_operator_that_takes_over_goes_on_with_a_volume_half_made(world: World) -> None:
    world.apply(storage_class(), claim(**LATE), reservation("r", 2, **on_node("b")))
    until_available(world, "r")
    world.apply(owner("p", 2, placing=mounting("data")))
    world.until("a node is chosen", lambda: chosen(world, "data") == "b")
    world.kill_operator()
    world.start_operator()
    provision(world, "data", "y")
    until_bound(world, "p", "b")
    assert world.claim_of("p") == "Reservation//r"
