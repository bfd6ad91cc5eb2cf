"""Somebody else ends a guardian: what can be held of its room stays held.

A pod more important than any hold preempts the guardian and takes what it needs, or somebody
deletes the guardian. The kubelet lets a Locked guardian keep its room for three seconds more, so
that an operator whose writes are late is in time.
"""

from __future__ import annotations

import pytest

from tests.stories.things import hold, pod
from tests.stories.world import World


def kept(world: World) -> list[str]:
    return [
        each["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for each in world.ours("guardian")
        if each["spec"].get("nodeName")
    ]


def test_the_rest_of_a_hold_is_held_again_and_all_of_it_when_the_other_has_ended(
    world: World,
) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    critical = pod("critical", cpu="1500m", priorityClassName="system-node-critical")
    world.apply(critical)
    world.until_runs("critical", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5500m"])
    world.until("it says so", lambda: world.condition_of("h")["reason"] == "PartiallyHeld")
    world.apply(pod("stranger", cpu=2))
    world.pass_time(3)
    assert world.node_of("stranger") == ""
    world.delete("Pod", "critical")
    world.until("all of it is held", lambda: kept(world) == ["7"])


def test_strangers_that_wait_do_not_get_the_rest(world: World) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    world.apply(*(pod(f"stranger-{number}", cpu=2) for number in range(2)))
    world.pass_time(12)
    world.apply(pod("critical", cpu="1500m", priorityClassName="system-node-critical"))
    world.until_runs("critical", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5500m"])
    assert [world.node_of(f"stranger-{number}") for number in range(2)] == ["", ""]


@pytest.mark.parametrize("late_s", [0.0, 1.0])
def test_strangers_do_not_get_the_rest_from_an_operator_whose_writes_are_late(
    world: World, late_s: float
) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    world.apply(*(pod(f"stranger-{number}", cpu=2) for number in range(2)))
    world.pass_time(2)
    world.slow_operator(late_s)
    world.apply(pod("critical", cpu="1500m", priorityClassName="system-node-critical"))
    world.until_runs("critical", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5500m"])
    world.pass_time(5)
    assert [world.node_of(f"stranger-{number}") for number in range(2)] == ["", ""]
    assert kept(world) == ["5500m"]


def test_the_rest_of_a_hold_in_use_is_held_again_too(world: World) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7, app="web", allocateOnce=False))
    world.until_held("h")
    world.apply(pod("owner", cpu=2, app="web", ours=True))
    world.until_runs("owner", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5"])
    world.slow_operator(1)
    world.apply(pod("critical", cpu="4500m", priorityClassName="system-node-critical"))
    world.until_runs("critical", on="a")
    world.until("what is left is held", lambda: kept(world) == ["500m"])
    world.apply(pod("stranger", cpu="500m"))
    world.pass_time(3)
    assert world.node_of("stranger") == ""
    world.delete("Pod", "critical")
    world.until("all of it is held", lambda: kept(world) == ["5"])
    assert world.node_of("stranger") == ""


def test_a_guardian_that_somebody_deletes_is_back_before_others_get_its_room(world: World) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    world.apply(pod("stranger", cpu=2))
    world.pass_time(2)
    world.slow_operator(1)
    (guardian,) = world.ours("guardian")
    assert world.evict(guardian["metadata"]["name"])
    gone = guardian["metadata"]["uid"]
    world.until(
        "another one holds it",
        lambda: (
            [
                bool(each["spec"].get("nodeName"))
                for each in world.ours("guardian")
                if each["metadata"]["uid"] != gone
            ]
            == [True]
        ),
    )
    world.pass_time(5)
    assert kept(world) == ["7"]
    assert world.node_of("stranger") == ""


def test_a_guardian_that_is_evicted_from_a_node_without_new_pods_goes_to_another(
    world: World,
) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    world.patch("Node", "a", {"spec": {"unschedulable": True}})
    world.add_node("b", cpu=7)
    (guardian,) = world.ours("guardian")
    assert world.evict(guardian["metadata"]["name"])
    world.until("it is held on b", lambda: world.status("h", "Hold").get("nodeName") == "b")
