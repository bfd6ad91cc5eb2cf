"""Pods of our own scheduler that mount volumes: they go where these are, into a hold or without.

Before, none of them ever ran.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import owner, reservation
from tests.stories.things import Json, hold, pod
from tests.stories.volumes import (
    ZONE,
    bind,
    claim,
    mounting,
    until_bound,
    until_told,
    volume,
    waits_for,
    worlds,
)
from tests.stories.world import World


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    yield from worlds(request)


def until_available(world: World, *names: str) -> None:
    def so(name: str) -> bool:
        found = world.get("Reservation", name) or {}
        return bool(found.get("status", {}).get("phase") == "Available")

    world.until(f"{', '.join(names)} available", lambda: all(map(so, names)))


def on_node(name: str) -> Json:
    return {"template": {"nodeSelector": {"kubernetes.io/hostname": name}}}


def test_a_pod_with_a_bound_claim_goes_where_its_volume_is(world: World) -> None:
    bind(world, zone="y")
    world.apply(pod("native", ours=True, **mounting("data")))
    world.apply(owner("koord", app="none", placing=mounting("data")))
    until_bound(world, "native", "b")
    until_bound(world, "koord", "b")


def test_an_owner_gets_the_hold_that_its_volume_reaches(world: World) -> None:
    bind(world, zone="y")
    world.apply(reservation("near", 2, **on_node("a")), reservation("right", 2, **on_node("b")))
    until_available(world, "near", "right")
    world.apply(owner("p", 2, placing=mounting("data")))
    until_bound(world, "p", "b")
    assert world.claim_of("p") == "Reservation//right"


def test_an_owner_at_the_gate_gets_the_hold_that_its_volume_reaches(world: World) -> None:
    bind(world, zone="y")
    world.apply(hold("near", 2, **on_node("a")), hold("right", 2, **on_node("b")))
    world.until_held("near", "right")
    world.apply(pod("p", 2, app="web", gated=True, **mounting("data")))
    until_bound(world, "p", "b")
    assert world.claim_of("p") == "Hold/default/right"


def test_an_owner_that_needs_a_reservation_waits_for_one_that_its_volume_reaches(
    world: World,
) -> None:
    bind(world, zone="y")
    world.apply(reservation("near", 2, **on_node("a")))
    until_available(world, "near")
    world.apply(owner("p", 2, affinity={}, placing=mounting("data")))
    until_told(world, "p", "didn't match PersistentVolume's node affinity")
    world.apply(reservation("right", 2, **on_node("b")))
    until_bound(world, "p", "b")
    assert world.claim_of("p") == "Reservation//right"


def test_the_zone_labels_of_an_old_volume_are_obeyed(world: World) -> None:
    ref = {"namespace": "default", "name": "data"}
    world.apply(volume("pv-data", claimRef=ref, labels={ZONE: "y"}), claim())
    world.apply(pod("p", ours=True, **mounting("data")))
    until_bound(world, "p", "b")


def test_a_volume_for_one_pod_is_used_by_one_pod(world: World) -> None:
    bind(world, mode="ReadWriteOncePod")
    world.apply(pod("first", ours=True, **mounting("data")))
    until_bound(world, "first")
    world.apply(pod("second", ours=True, **mounting("data")))
    until_told(world, "second", "ReadWriteOncePod access mode")
    world.delete("Pod", "first")
    until_bound(world, "second")


def test_two_pods_that_come_together_do_not_share_a_volume_for_one(world: World) -> None:
    bind(world, mode="ReadWriteOncePod")
    world.apply(*(pod(name, ours=True, **mounting("data")) for name in ("one", "two")))
    world.until("one of them has a node", lambda: any(map(world.node_of, ("one", "two"))))
    world.pass_time(4)
    assert sorted(bool(world.node_of(name)) for name in ("one", "two")) == [False, True]


def test_a_missing_claim_is_told_and_waited_for(world: World) -> None:
    world.apply(pod("p", ours=True, **mounting("data")))
    until_told(world, "p", 'persistentvolumeclaim "data" not found')
    assert waits_for(world, "p")["reason"] == "Unschedulable"
    bind(world, zone="x")
    until_bound(world, "p", "a")


def test_a_claim_that_should_be_bound_and_is_not_is_told(world: World) -> None:
    world.apply(claim(), pod("p", ours=True, **mounting("data")))
    until_told(world, "p", "pod has unbound immediate PersistentVolumeClaims")
    ref = {"namespace": "default", "name": "data"}
    world.apply(volume("pv-data", zone="x", claimRef=ref))
    until_bound(world, "p", "a")


def test_a_device_claim_is_told_with_the_way_out(world: World) -> None:
    devices: Json = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]}
    world.apply(pod("p", ours=True, **devices))
    until_told(world, "p", "headroom.dev/claim")
    assert waits_for(world, "p")["reason"] == "SchedulerError"
