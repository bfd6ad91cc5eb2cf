"""Nodes that can attach no more volumes of a driver (CSINode): nobody is given room there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import owner, reservation
from tests.stories.things import hold, pod
from tests.stories.volumes import DRIVER, bind, mounting, until_bound, until_told, worlds
from tests.stories.world import World

HOSTNAME = "kubernetes.io/hostname"
TOO_MANY = "exceed max volume count"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    yield from worlds(request)


def limit(world: World, node: str, count: int) -> None:
    """Say how many volumes a node can attach, in the words of its driver."""
    driver = {"name": DRIVER, "nodeID": node, "topologyKeys": [], "allocatable": {"count": count}}
    if world.get("CSINode", node):  # Its kubelet has made one.
        world.patch("CSINode", node, {"spec": {"drivers": [driver]}})
        return
    body = {"metadata": {"name": node}, "spec": {"drivers": [driver]}}
    world.apply({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", **body})


def attach(world: World) -> None:
    """Node a can attach one volume, and a stranger has it."""
    limit(world, "a", 1)
    for name in ("theirs", "data"):
        bind(world, name)
    world.apply(pod("stranger", nodeSelector={HOSTNAME: "a"}, **mounting("theirs")))
    until_bound(world, "stranger", "a")


def test_pods_of_either_scheduler_go_where_a_volume_can_be_attached(world: World) -> None:
    attach(world)
    bind(world, "more")
    world.apply(pod("plain", **mounting("data")), pod("ours", ours=True, **mounting("more")))
    until_bound(world, "plain", "b")
    until_bound(world, "ours", "b")
    world.apply(pod("same", ours=True, nodeSelector={HOSTNAME: "a"}, **mounting("theirs")))
    until_bound(world, "same", "a")  # The same volume is attached once.


def test_an_owner_waits_until_its_volume_can_be_attached(world: World) -> None:
    attach(world)
    world.apply(reservation("r", template={"nodeSelector": {HOSTNAME: "a"}}))
    world.until(
        "it is held",
        lambda: (world.get("Reservation", "r") or {}).get("status", {}).get("phase") == "Available",
    )
    near = {"nodeSelector": {HOSTNAME: "a"}, **mounting("data")}
    world.apply(owner("one", placing=near))
    until_told(world, "one", TOO_MANY)
    assert world.node_of("one") == ""
    world.delete("Pod", "stranger")
    until_bound(world, "one", "a")
    assert world.claim_of("one") == "Reservation//r"


def test_an_owner_at_the_gate_is_not_given_room_where_its_volume_cannot_be_attached(
    world: World,
) -> None:
    attach(world)
    world.apply(hold("h", template={"nodeSelector": {HOSTNAME: "a"}}))
    world.until_held("h")
    world.apply(pod("one", app="web", gated=True, **mounting("data")))
    until_bound(world, "one", "b")
    assert world.phase_of_hold("h") == "Available"
