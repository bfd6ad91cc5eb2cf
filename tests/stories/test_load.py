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


def test_guardians_and_placeholders_of_others_are_not_use(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    other = pod("other", cpu=3)
    other["metadata"]["labels"] = {"karpenter.azure.com/proactive-scaleup": "placeholder"}
    embedded.apply(other, half(), pod("first", cpu=1))
    embedded.until_slots("room", "0")
    embedded.pass_time(60)
    assert list(embedded.slots("room")) == ["0"]


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
