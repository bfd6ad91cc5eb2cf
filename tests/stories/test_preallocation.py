"""Room that running pods still use, promised: held the moment they end, and by nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.things import Json, hold, pod
from tests.stories.world import World


def succeeding(name: str, cpu: int, **spec: Any) -> Json:
    return hold(name, cpu=cpu, preAllocation=True, allocateOnce=False, **spec)


def waits(world: World, name: str) -> bool:
    return world.phase_of_hold(name) == "Waiting"


@pytest.mark.parametrize("door", ["gated", "ours"])
def test_the_room_of_a_pod_that_ends_is_held_and_no_rival_gets_it(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=3, app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=3))
    world.until("it waits", lambda: waits(world, "h"))
    assert "running" in world.condition_of("h")["message"]
    world.apply(*(pod(f"rival-{number}", cpu=3) for number in range(5)))
    world.pass_time(3)
    world.delete("Pod", "running")
    world.until_held("h")
    world.pass_time(3)
    assert not any(world.node_of(f"rival-{number}") for number in range(5))
    world.apply(pod("heir", cpu=3, app="web", **{door: True}))
    world.until_runs("heir", on="a")
    world.until_nothing_is_left()


def test_free_room_is_taken_first(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=2, app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=2))
    world.until_held("h")


def test_a_hold_that_waits_gives_way_when_it_is_deleted(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=2, app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=4, allocatePolicy="Restricted"))
    world.pass_time(3)
    assert waits(world, "h")
    world.delete("Hold", "h")
    world.until_nothing_is_left()
    world.apply(pod("stranger", cpu=2))
    world.until_runs("stranger", on="a")


def test_an_operator_that_starts_anew_goes_on_waiting(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=3, app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=4))
    world.until("it waits", lambda: waits(world, "h") and bool(world.ours("latch")))
    world.kill_operator()
    world.start_operator()
    world.apply(pod("rival", cpu=4))
    world.pass_time(2)
    assert waits(world, "h")
    world.delete("Pod", "running")
    world.until_held("h")
    assert world.node_of("rival") == ""


def test_without_a_pod_to_succeed_it_is_held_like_any_other(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("stranger", cpu=3))
    world.until_runs("stranger", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=4))
    world.until("it says why not", lambda: world.condition_of("h").get("reason") == "Unschedulable")
    assert world.phase_of_hold("h") == "Pending"
    world.delete("Pod", "stranger")
    world.until_held("h")


def test_pods_that_also_ask_for_what_is_not_reserved_are_waited_for(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply(pod("running", cpu=3, memory="1Gi", app="web"))
    world.until_runs("running", on="a")
    world.start_operator()
    world.apply(succeeding("h", cpu=3))
    world.until("it waits", lambda: waits(world, "h"))
    world.apply(pod("rival", cpu=3))
    world.pass_time(2)
    world.delete("Pod", "running")
    world.until_held("h")
    assert world.node_of("rival") == ""
