"""What bounds a headroom: limits, a pause, its mode; and slots in pieces as large as a node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import headroom, pod, priority_class, workload
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def message_of(world: World, name: str = "room") -> str:
    return str(world.condition_of(name, of="Headroom").get("message", ""))


def kept(world: World, name: str = "room") -> list[str]:
    """How much CPU each guardian keeps."""
    found = [one for each in world.slots(name).values() for one in each]
    return sorted(
        str(one["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for one in found
    )


def running(world: World, app: str) -> int:
    """How many pods of an application run."""
    pods = (each for each in world.all("Pod") if each["metadata"]["labels"].get("app") == app)
    return sum(each["status"].get("phase") == "Running" for each in pods)


@pytest.fixture
def stage(world: World) -> World:
    return three_nodes(world)


@pytest.fixture
def quick(embedded: EmbeddedWorld) -> EmbeddedWorld:
    """The same where minutes pass, or where only the embedded cluster can be asked."""
    three_nodes(embedded)
    return embedded


def three_nodes(world: World) -> World:
    for name in ("a", "b", "c"):
        world.add_node(name, cpu=4)
    world.start_operator()
    return world


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"slots": 2}, "spec.limits.slots allows 2 of 5 slots"),
    ({"pods": 2}, "spec.limits.pods allows 2 of 5 slots"),
    ({"resources": {"cpu": "2"}}, "spec.limits.resources.cpu allows 2 of 5 slots"),
]


@pytest.mark.parametrize(("limits", "words"), LIMITS, ids=["slots", "pods", "resources"])
def test_no_more_is_held_than_a_limit_allows(
    stage: World, limits: dict[str, Any], words: str
) -> None:
    stage.apply(headroom("room", cpu=1, replicas=5, limits=limits))
    stage.until_slots("room", "0", "1")
    assert words in message_of(stage)
    stage.until("it is told", lambda: bool(stage.events("LimitReached", "room")))
    stage.patch("Headroom", "room", {"spec": {"limits": None}})
    stage.until_slots("room", "0", "1", "2", "3", "4")


def test_a_limit_of_nodes_takes_the_first_by_name(stage: World) -> None:
    stage.apply(headroom("room", size={"perNode": {"slots": 1}}, limits={"nodes": 2}))
    stage.until_slots("room", "a", "b")
    assert "spec.limits.nodes allows 2 of 3 slots" in message_of(stage)
    stage.delete("Node", "a")
    stage.until_slots("room", "b", "c", seconds=90)


def test_a_limit_smaller_than_the_workloads_pod_holds_nothing_and_says_so(
    quick: EmbeddedWorld,
) -> None:
    quick.apply(workload("Deployment", "web", cpu=2, replicas=2))
    quick.apply(
        headroom("room", source="web", size={"percent": 100}, limits={"resources": {"cpu": "1"}})
    )
    words = "spec.limits.resources.cpu allows 0 of 2 slots"
    quick.until("it is told", lambda: words in message_of(quick))
    quick.pass_time(5)
    assert not quick.ours("guardian")
    assert bool(quick.events("LimitReached", "room"))


def test_a_paused_headroom_is_left_as_it_is(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(headroom("room", cpu=1, replicas=3))
    world.until_slots("room", "0", "1", "2")
    world.patch("Headroom", "room", {"spec": {"paused": True, "size": {"replicas": 1}}})
    world.until(
        "it says so", lambda: world.condition_of("room", of="Headroom")["reason"] == "Paused"
    )
    lost = world.slots("room")["1"][0]["metadata"]["name"]
    world.delete("Pod", lost)
    world.pass_time(3)
    assert sorted(world.held("room")) == ["0", "2"]
    world.patch("Headroom", "room", {"spec": {"paused": False}})
    world.until_slots("room", "0")


def test_what_is_held_can_be_claimed_during_a_pause_and_is_not_refilled(
    quick: EmbeddedWorld,
) -> None:
    quick.apply(headroom("room", cpu=1, replicas=2))
    quick.until_slots("room", "0", "1")
    quick.patch("Headroom", "room", {"spec": {"paused": True}})
    quick.pass_time(2)
    quick.apply(pod("owner", cpu=1, app="web", gated=True))
    quick.until_runs("owner")
    assert quick.claim_of("owner") == "Headroom/default/room"
    quick.pass_time(30)
    assert len(quick.held("room")) == 1
    quick.patch("Headroom", "room", {"spec": {"paused": False}})
    quick.until_slots("room", "0", "1")


def test_anything_more_important_takes_a_preemptible_slot(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("room", cpu=1, replicas=2, mode="Preemptible"))
    world.until_slots("room", "0", "1")
    world.apply(pod("anybody", cpu=1))
    world.until_runs("anybody", on="a")
    world.until("one is left", lambda: len(world.held("room")) == 1)
    world.pass_time(3)
    assert world.running("anybody")
    world.delete("Pod", "anybody")
    world.until_slots("room", "0", "1", seconds=60)


def test_a_preemptible_slot_never_takes_the_place_of_another(quick: EmbeddedWorld) -> None:
    quick.apply(priority_class("lowest", -1000))
    quick.apply(*(pod(f"low-{n}", cpu=4, priorityClassName="lowest") for n in range(3)))
    for number in range(3):
        quick.until_runs(f"low-{number}")
    quick.apply(headroom("room", cpu=1, replicas=1, mode="Preemptible"))
    quick.until("it says why", lambda: "Insufficient cpu" in message_of(quick))
    quick.pass_time(60)
    assert all(quick.running(f"low-{number}") for number in range(3))


def test_slots_in_pieces_of_a_node_are_as_few_as_nodes_hold(stage: World) -> None:
    stage.apply(headroom("room", cpu="500m", replicas=12, chunk="Node"))
    stage.until("two pieces", lambda: kept(stage) == ["4", "4"])
    stage.until_slots("room", "0", "1")
    assert len(set(stage.held("room").values())) == 2


def test_pieces_of_a_node_leave_room_for_the_daemon_sets_on_it(stage: World) -> None:
    stage.apply(workload("DaemonSet", "logs", cpu=1))
    stage.until("its pods run", lambda: running(stage, "logs") == 3)
    stage.apply(headroom("room", cpu="500m", replicas=12, chunk="Node"))
    stage.until("two pieces beside it", lambda: kept(stage) == ["3", "3"])
    stage.until_slots("room", "0", "1")


@DOORS
def test_many_owners_share_a_piece_and_what_they_leave_stays_held(stage: World, door: str) -> None:
    stage.apply(headroom("room", cpu=1, replicas=4, chunk="Node"))
    stage.until_slots("room", "0")
    stage.apply(*(pod(f"rival-{number}", cpu=4) for number in range(3)))
    for number in range(3):
        stage.apply(pod(f"owner-{number}", cpu=1, app="web", **{door: True}))
    for number in range(3):
        stage.until_runs(f"owner-{number}")
        assert stage.claim_of(f"owner-{number}") == "Headroom/default/room"
    stage.until_nothing_is_left()
    (node,) = {stage.node_of(f"owner-{number}") for number in range(3)}
    rest = [one for one in stage.ours("guardian") if one["spec"].get("nodeName") == node]
    assert [one["spec"]["containers"][0]["resources"]["requests"]["cpu"] for one in rest] == ["1"]


def test_a_guardian_that_is_refused_is_told_and_tried_ever_less_often(
    quick: EmbeddedWorld,
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    quick.apply(quota, headroom("room", cpu=1, replicas=3))
    quick.until("it says why", lambda: "exceeded quota: few" in message_of(quick))
    assert quick.condition_of("room", "Degraded", "Headroom")["status"] == "True"
    before = len(quick.sim.writes)
    quick.pass_time(600)
    tries = [write for _, write, _ in quick.sim.writes[before:] if write.resource.kind == "Pod"]
    assert len(tries) < 20
    quick.delete("ResourceQuota", "few")
    quick.until_slots("room", "0", "1", "2", seconds=200)
    quick.until(
        "the trouble is over",
        lambda: quick.condition_of("room", "Degraded", "Headroom")["status"] == "False",
    )
