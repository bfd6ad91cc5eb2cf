"""Slots per node shown to Karpenter by a DaemonSet without pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import DAEMON_SETS
from tests.stories.speaking import BOTH, world_of
from tests.stories.things import NAMESPACE, Json, headroom, pod
from tests.stories.world import World

EACH = {"perNode": {"slots": 2}}
CODECS = KindCodecs((), (DAEMON_SETS,))


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world_of(request, CODECS, "story_plane") as here:
        yield here


def per_node(**more: Any) -> Json:
    return headroom("room", cpu="500m", size=more.pop("size", EACH), **more)


def daemon_set(world: World) -> Json | None:
    """The DaemonSet of the headroom `room`."""
    found = [
        each
        for each in world.all("DaemonSet")
        if any(owner["name"] == "room" for owner in each["metadata"].get("ownerReferences", ()))
    ]
    return found[0] if found else None


def counted(world: World) -> str:
    """The CPU that an autoscaler is told to expect on a new node; "-" without a DaemonSet."""
    found = daemon_set(world)
    if found is None:
        return "-"
    (container,) = found["spec"]["template"]["spec"]["containers"]
    return str((container.get("resources") or {}).get("requests", {}).get("cpu", "0"))


def uid_of(world: World) -> str:
    found = daemon_set(world)
    return str(found["metadata"]["uid"]) if found else ""


def belong(world: World) -> bool:
    """Whether every guardian belongs to the DaemonSet that is there."""
    uid, guardians = uid_of(world), world.ours("guardian")
    owners = [[each["uid"] for each in one["metadata"]["ownerReferences"]] for one in guardians]
    return bool(uid and owners) and all(uid in each for each in owners)


def test_the_daemon_set_asks_for_all_slots_of_a_node_and_makes_no_pod(world: World) -> None:
    world.add_node("a", labels={"pool": "web"})
    world.start_operator(node_overhead=True)
    world.apply(per_node(template={"nodeSelector": {"pool": "web"}}))
    world.until_slots("room", "a", "a/1")
    assert counted(world) == "1"
    assert belong(world)
    spec = (daemon_set(world) or {})["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"pool": "web"}
    world.add_node("b", labels={"pool": "web"})
    world.until_slots("room", "a", "a/1", "b", "b/1")
    assert len(world.all("Pod")) == len(world.ours("guardian")) == 4


def test_of_a_part_of_each_node_that_of_the_node_in_the_middle_is_counted(world: World) -> None:
    for name, cpu in (("a", 2), ("b", 4), ("c", 8)):
        world.add_node(name, cpu=cpu)
    world.start_operator(node_overhead=True)
    share = per_node(size={"perNode": {"percent": 25}})
    share["spec"]["slot"]["template"].pop("resources")
    world.apply(share)
    world.until_slots("room", "a", "b", "c")
    world.until("a quarter of the middle one is counted", lambda: counted(world) == "1")
    world.until("guardians belong to it", lambda: belong(world), seconds=90)
    world.until_slots("room", "a", "b", "c")


def test_without_karpenter_there_is_none(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", "a", "a/1")
    assert daemon_set(world) is None


def test_one_that_somebody_deletes_comes_back_and_guardians_belong_to_it(world: World) -> None:
    world.add_node("a")
    world.start_operator(node_overhead=True)
    world.apply(per_node())
    world.until_slots("room", "a", "a/1")
    found = daemon_set(world) or {}
    world.delete("DaemonSet", found["metadata"]["name"])
    world.until("another is there", lambda: uid_of(world) not in ("", found["metadata"]["uid"]))
    world.until("all belong to it", lambda: belong(world), seconds=90)
    world.until_slots("room", "a", "a/1")


def test_everything_goes_with_the_headroom(world: World) -> None:
    world.add_node("a")
    world.start_operator(node_overhead=True)
    world.apply(per_node())
    world.until_slots("room", "a", "a/1")
    world.delete("Headroom", "room")
    world.until("the DaemonSet is gone", lambda: daemon_set(world) is None, seconds=60)
    world.until("guardians are gone", lambda: not world.ours("guardian"), seconds=60)


def test_what_cannot_be_held_is_not_counted(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator(node_overhead=True)
    world.apply(per_node(template={"resources": {"requests": {"cpu": "3"}}}))
    world.until("nothing is counted", lambda: counted(world) == "0")
    small = {"resources": {"requests": {"cpu": "250m"}}}
    world.patch("Headroom", "room", {"spec": {"slot": {"template": small}}})
    world.until("it is counted", lambda: counted(world) == "500m")
    world.patch("Headroom", "room", {"spec": {"limits": {"slots": 1}}})
    world.until("it is beyond a limit", lambda: counted(world) == "0")
    world.patch("Headroom", "room", {"spec": {"limits": None}})
    world.until("it is counted again", lambda: counted(world) == "500m")
    world.patch("Headroom", "room", {"spec": {"size": {"perNode": None, "replicas": 1}}})
    world.until("another size has no such room", lambda: counted(world) == "0")


def test_a_quota_that_refuses_slots_keeps_them_from_being_counted(world: World) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": NAMESPACE},
        "spec": {"hard": {"requests.cpu": "500m"}},
    }
    world.apply(quota)
    world.until(
        "the quota is counted",
        lambda: bool((world.get("ResourceQuota", "small") or {}).get("status", {}).get("hard")),
    )
    world.add_node("a")
    world.start_operator(node_overhead=True)
    world.apply(per_node())
    world.until("nothing is counted", lambda: counted(world) == "0")


def test_a_burst_takes_slots_as_ever(world: World) -> None:
    world.add_node("a", cpu=1)
    world.start_operator(node_overhead=True)
    world.apply(per_node())
    world.until_slots("room", "a", "a/1")
    world.apply(pod("owner", cpu="500m", app="web", gated=True))
    world.until_runs("owner", on="a")
