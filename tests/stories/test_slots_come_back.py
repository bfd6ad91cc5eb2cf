"""A slot of a node whose room others have: it waits, or has them give way where it is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.killing import held
from tests.stories.things import Json, headroom, pod, priority_class
from tests.stories.world import World

LIMITS = "headroom.dev/limits"
ALLOWED = "preempt=1"
LEAVE = "needs an administrator's leave"


def allow(world: World, text: str | None) -> None:
    world.patch("Namespace", "default", {"metadata": {"annotations": {LIMITS: text}}}, "")


@pytest.fixture(autouse=True)
def forbidden_again(world: World) -> Any:
    if world.get("Namespace", "default", "") is None:
        space: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
        world.apply(space)
    yield
    allow(world, None)


def lost(world: World, *others: Json, **spec: Any) -> None:
    """A node of 4 CPU, full of ordinary pods before the slot of 3 comes."""
    world.add_node("a", cpu=4)
    world.apply(*(others or (pod(f"ordinary-{number}", cpu=1) for number in range(4))))
    for name in [item["metadata"]["name"] for item in others] or ["ordinary-3"]:
        world.until_runs(name, on="a")
    size = {"perNode": {"slots": 1}}
    world.apply(headroom("room", cpu=3, size=size, **{"reclaim": "Preempt", **spec}))


def said(world: World, words: str) -> bool:
    return words in world.condition_of("room", of="Headroom").get("message", "")


def ordinary(world: World) -> list[str]:
    return sorted(
        item["metadata"]["name"]
        for item in world.all("Pod")
        if item["metadata"]["name"].startswith("ordinary") and item["spec"].get("nodeName")
    )


def test_without_leave_nobody_gives_way_and_the_condition_says_so(world: World) -> None:
    world.start_operator()
    lost(world)
    world.until("it is told", lambda: said(world, LEAVE))
    world.pass_time(3)
    assert len(ordinary(world)) == 4
    allow(world, ALLOWED)
    world.until("the slot is back", lambda: held(world) == [3])
    assert len(ordinary(world)) == 1


def test_without_leave_a_guardian_that_is_deleted_is_made_again(world: World) -> None:
    world.start_operator()
    lost(world)
    world.until("it is told", lambda: said(world, LEAVE))
    for guardian in world.ours("guardian"):
        world.delete("Pod", guardian["metadata"]["name"])
    world.until(
        "another one waits", lambda: len(world.ours("guardian")) == 1 and said(world, LEAVE)
    )
    for number in range(3):
        world.delete("Pod", f"ordinary-{number}")
    world.until("the slot is held", lambda: held(world) == [3])


def test_a_node_smaller_than_the_slot_is_nobody_elses_fault(world: World) -> None:
    world.start_operator()
    world.add_node("a", cpu=2)
    size = {"perNode": {"slots": 1}}
    world.apply(headroom("room", cpu=3, size=size, reclaim="Preempt"))
    world.until("it is told", lambda: said(world, "Insufficient cpu"))
    world.pass_time(2)
    assert not said(world, LEAVE)


def test_whoever_waits_does_not_get_what_they_leave(world: World) -> None:
    allow(world, ALLOWED)
    world.start_operator()
    world.add_node("a", cpu=4)
    world.apply(*(pod(f"ordinary-{number}", cpu=1) for number in range(8)))
    world.until("the node is full", lambda: len(ordinary(world)) == 4)
    world.apply(headroom("room", cpu=3, size={"perNode": {"slots": 1}}, reclaim="Preempt"))
    world.until("the slot is held", lambda: held(world) == [3])
    world.pass_time(2)
    assert len(ordinary(world)) == 1
    world.until("no latch is left", lambda: not world.ours("latch"))


def test_by_default_a_slot_waits_until_its_room_is_free(world: World) -> None:
    allow(world, ALLOWED)
    world.start_operator()
    lost(world, reclaim="WhenFree")
    world.until("it waits", lambda: said(world, "0 of 1 slots held"))
    world.pass_time(3)
    assert len(ordinary(world)) == 4
    for number in range(3):
        world.delete("Pod", f"ordinary-{number}")
    world.until("the slot is held", lambda: held(world) == [3])


def test_more_important_pods_and_those_of_a_budget_stay(world: World) -> None:
    """The least important go first, and no more of them than the slot needs."""
    allow(world, "preempt=1000")
    world.apply(priority_class("worthy", 1000), priority_class("middling", 10))
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "kept"}}},
    }
    world.apply(budget)
    world.start_operator()
    world.add_node("a", cpu=5)
    world.apply(pod("worthy", cpu=1, priorityClassName="worthy"), pod("kept", cpu=1, app="kept"))
    for name in ("worthy", "kept"):
        world.until_runs(name, on="a")
    world.apply(pod("middling", cpu=1, priorityClassName="middling"), pod("ordinary", cpu=2))
    for name in ("middling", "ordinary"):
        world.until_runs(name, on="a")
    size = {"perNode": {"slots": 1}}
    world.apply(headroom("room", cpu=2, size=size, reclaim="Preempt"))
    world.until("the slot is held", lambda: held(world) == [2])
    for name in ("worthy", "kept", "middling"):
        assert world.node_of(name) == "a"
    assert ordinary(world) == []


def test_an_owner_of_another_slot_does_not_give_way(world: World) -> None:
    allow(world, ALLOWED)
    world.start_operator()
    world.add_node("a", cpu=4)
    world.apply(headroom("first", cpu=2, size={"perNode": {"slots": 1}}))
    world.until("the first is held", lambda: held(world) == [2])
    world.apply(pod("burst", cpu=2, app="web", gated=True))
    world.until_runs("burst", on="a")
    world.until("the first is held beside it", lambda: held(world) == [2])
    world.apply(headroom("room", cpu=2, size={"perNode": {"slots": 1}}, reclaim="Preempt"))
    world.until("it waits", lambda: said(world, "0 of 1 slots held"))
    world.pass_time(4)
    assert world.node_of("burst") == "a"
    assert held(world) == [2]


@pytest.mark.parametrize("writes", [1, 2, 3, 5])
def test_an_operator_that_dies_in_between_is_gone_on_with(world: World, writes: int) -> None:
    allow(world, ALLOWED)
    world.start_operator()
    lost(world)
    world.cut_operator_after(writes)
    world.pass_time(3)
    world.kill_operator()
    world.start_operator()
    world.until("the slot is back", lambda: held(world) == [3])
    world.pass_time(1)
    assert len(ordinary(world)) == 1
    world.until("no latch is left", lambda: not world.ours("latch"))


@pytest.mark.parametrize(("mode", "ordinary_left"), [("Preemptible", 3), ("Locked", 2)])
def test_with_the_operator_away_a_burst_evicts_preemptible_slots_first(
    world: World, mode: str, ordinary_left: int
) -> None:
    """Locked ones stay: kube-scheduler spares whoever is more important than ordinary pods."""
    world.apply(priority_class("burst", 1000))
    world.start_operator()
    world.add_node("a", cpu=4)
    world.apply(headroom("room", cpu=1, size={"perNode": {"slots": 1}}, mode=mode))
    world.until("the slot is held", lambda: held(world) == [1])
    world.apply(*(pod(f"ordinary-{number}", cpu=1) for number in range(3)))
    world.until("the node is full", lambda: len(ordinary(world)) == 3)
    world.kill_operator()
    world.apply(pod("burst", cpu=1, app="web", priorityClassName="burst"))
    world.until_runs("burst", on="a")
    assert len(ordinary(world)) == ordinary_left
    assert held(world) == ([1] if mode == "Locked" else [])
