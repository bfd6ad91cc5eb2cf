"""Headrooms that follow the load: as much is held as keeps requests under a threshold."""

from __future__ import annotations

from typing import Any

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import Json, headroom, pod
from tests.stories.world import World


def half(name: str = "room", **more: Any) -> Json:
    """As much held as is used, in pieces of one CPU."""
    size = {"utilization": {"threshold": 0.5}}
    return headroom(name, cpu=1, size=size, mode="Preemptible", **more)


def message_of(world: World, name: str = "room") -> str:
    return str(world.condition_of(name, of="Headroom").get("message", ""))


def test_what_is_held_follows_what_is_used(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(half(), pod("first", cpu=1))
    world.until_slots("room", "0")
    world.apply(pod("second", cpu=2))
    world.until_slots("room", "0", "1", "2")


def test_guardians_are_not_use(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(half(), pod("first", cpu=1))
    embedded.until_slots("room", "0")
    embedded.pass_time(60)
    assert list(embedded.slots("room")) == ["0"]


def test_another_systems_label_takes_no_pod_out_of_use(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    other = pod("other", cpu=3)
    other["metadata"]["labels"] = {"karpenter.azure.com/proactive-scaleup": "placeholder"}
    embedded.apply(other, half(), pod("first", cpu=1))
    embedded.until_slots("room", "0", "1", "2", "3")


def test_room_is_given_back_slowly_when_less_is_used(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(half(), *(pod(f"p{i}", cpu=1) for i in range(4)))
    embedded.until_slots("room", "0", "1", "2", "3")
    for number in range(4):
        embedded.delete("Pod", f"p{number}")
    embedded.pass_time(290)
    assert len(embedded.slots("room")) == 4
    embedded.pass_time(30)
    assert len(embedded.slots("room")) == 2
    embedded.pass_time(600)
    assert not embedded.slots("room")


def test_a_limit_on_pods_counts_real_pods_first(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(*(pod(f"p{i}", cpu=1) for i in range(4)), half(limits={"pods": 6}))
    embedded.until_slots("room", "0", "1")
    assert "spec.limits.pods allows 2 of 4 slots" in message_of(embedded)
    for number in range(4, 7):
        embedded.apply(pod(f"p{number}", cpu=1))
    embedded.until("all give way", lambda: not embedded.slots("room"))
    assert all(embedded.node_of(f"p{number}") == "a" for number in range(7))


def test_at_the_limit_on_nodes_nothing_waits_and_beyond_it_all_goes(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a", cpu=4)
    embedded.start_operator()
    embedded.apply(*(pod(f"p{i}", cpu=1) for i in range(3)), half(limits={"nodes": 2}))
    embedded.until("one is held, two wait", lambda: len(embedded.slots("room")) == 3)
    embedded.add_node("b", cpu=1)
    embedded.until("none waits", lambda: len(embedded.slots("room")) == 2)
    embedded.pass_time(10)
    assert sorted(embedded.held("room").values()) == ["a", "b"]
    embedded.add_node("c", cpu=4)
    embedded.until("more nodes than allowed", lambda: not embedded.slots("room"))


def test_where_no_node_comes_one_goes_on_waiting(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=4)
    embedded.start_operator()
    embedded.apply(pod("big", cpu=4), half())
    embedded.until("all wait", lambda: len(embedded.slots("room")) == 4)
    embedded.pass_time(610)
    assert len(embedded.slots("room")) == 1
    assert "no node came" in message_of(embedded)
    embedded.pass_time(310)
    assert len(embedded.slots("room")) == 4
    embedded.add_node("b", cpu=4)
    embedded.until_slots("room", "0", "1", "2", "3")


def quota(cpu: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": str(cpu)}},
    }


def charged(world: World) -> bool:
    """Whether the quota knows of the pods that are there."""
    found = world.get("ResourceQuota", "team") or {}
    return found.get("status", {}).get("used", {}).get("requests.cpu") not in (None, "0")


def test_a_quota_caps_the_slots_and_nothing_is_made_to_be_refused(world: World) -> None:
    world.add_node("a", cpu=16)
    world.apply(pod("real", cpu=3))  # First: admission does not know of a quota at once.
    world.until_runs("real")
    world.apply(quota(5))
    world.until("it is charged", lambda: charged(world))
    world.start_operator()
    world.apply(half())
    words = "quota team allows 2 of 3 slots: requests.cpu 5, others use 3, a slot 1"
    world.until("it is told", lambda: words in message_of(world))
    world.until_slots("room", "0", "1")
    assert world.condition_of("room", of="Headroom")["reason"] == "QuotaExceeded"
    world.pass_time(8)
    assert sorted(world.slots("room")) == ["0", "1"]  # What they use themselves is theirs.
    assert words in message_of(world)
    world.patch("ResourceQuota", "team", {"spec": {"hard": {"requests.cpu": "8"}}})
    world.until_slots("room", "0", "1", "2")
    world.until("no more is told", lambda: "quota" not in message_of(world))


def test_under_a_full_quota_a_changed_shape_is_renewed_without_a_refusal(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a", cpu=16)
    embedded.apply(quota(4), pod("real", cpu=2))
    embedded.until("it is charged", lambda: charged(embedded))
    embedded.start_operator()
    embedded.apply(half())
    embedded.until_slots("room", "0", "1")
    began = len(embedded.sim.writes)
    shape = {"spec": {"slot": {"template": {"nodeSelector": {"kubernetes.io/os": "linux"}}}}}
    embedded.patch("Headroom", "room", shape)
    embedded.pass_time(30)
    embedded.until_slots("room", "0", "1")
    assert all(
        "nodeSelector" in one["spec"] for each in embedded.slots("room").values() for one in each
    )
    refused = [outcome for _, _, outcome in embedded.sim.writes[began:] if "quota" in str(outcome)]
    assert not refused
