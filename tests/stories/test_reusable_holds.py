"""Holds that serve many owners: what one takes is no longer held, what one returns is again."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import hold, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def held_cpu(world: World) -> list[str]:
    return [
        item["spec"]["containers"][0]["resources"]["requests"].get("cpu", "0")
        for item in world.ours("guardian")
        if item["spec"].get("nodeName")
    ]


@DOORS
def test_the_rest_stays_held(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(3)))
    world.apply(pod("first", cpu=1, app="web", **{door: True}))
    world.until_runs("first", on="a")
    world.until("three are held", lambda: held_cpu(world) == ["3"])
    world.apply(pod("second", cpu=2, app="web", **{door: True}))
    world.until_runs("second", on="a")
    world.until("one is held", lambda: held_cpu(world) == ["1"])
    world.pass_time(2)
    assert not any(world.node_of(f"rival-{number}") for number in range(3))
    world.until("it is told", lambda: world.status("h", "Hold")["allocated"]["cpu"] == "3")
    assert world.phase_of_hold("h") == "Available"
    world.until_nothing_is_left()


@DOORS
def test_what_an_owner_returns_is_held_again(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("first", cpu=3, app="web", **{door: True}))
    world.until_runs("first", on="a")
    world.until("one is held", lambda: held_cpu(world) == ["1"])
    world.delete("Pod", "first")
    world.until("all is held", lambda: held_cpu(world) == ["4"])
    world.until("its return is told", lambda: bool(world.events("Returned", "h")))
    world.until("nobody owns it", lambda: not world.status("h", "Hold").get("currentOwners"))
    world.until_nothing_is_left()


@pytest.mark.parametrize("left", [0, 1])
def test_owners_that_wait_for_it_together_go_in_together(
    embedded: EmbeddedWorld, left: int
) -> None:
    world, names = embedded, ("first", "second", "third")
    world.add_node("a", cpu=3 + left)
    world.start_operator()
    world.apply(hold("h", cpu=3 + left, allocateOnce=False))
    world.until_held("h")
    world.kill_operator()
    world.apply(pod("rival"), *(pod(name, cpu=1, app="web", ours=True) for name in names))
    guardians: set[str] = set()
    world.on_look(
        lambda: guardians.update(each["metadata"]["uid"] for each in world.ours("guardian"))
    )
    world.start_operator()
    for name in names:
        world.until_runs(name, on="a")
    world.until("the rest is held", lambda: held_cpu(world) == [str(left)] * bool(left))
    assert len(guardians) == 1 + bool(left)  # Replaced once, not once for each of them.
    world.pass_time(5)
    assert not world.node_of("rival")
    world.until_nothing_is_left()


def test_owners_that_come_in_the_middle_of_a_handover_go_next(embedded: EmbeddedWorld) -> None:
    world, names = embedded, [f"p-{number}" for number in range(6)]
    world.add_node("a", cpu=6)
    world.start_operator()
    world.apply(hold("h", cpu=6, allocateOnce=False))
    world.until_held("h")
    for name in names:
        world.apply(pod(name, cpu=1, app="web", ours=True))
        world.pass_time(0.004)
    for name in names:
        world.until_runs(name, on="a", seconds=2)


@pytest.mark.parametrize(
    ("room", "pods", "each", "held"),
    [
        pytest.param(5, 110, 2, ["1"], id="the hold"),
        pytest.param(4, 2, 1, [], id="the node's pods"),
    ],
)
def test_no_more_go_together_than_there_is_room_for(
    embedded: EmbeddedWorld, room: int, pods: int, each: int, held: list[str]
) -> None:
    world, names = embedded, ("first", "second", "third")
    world.add_node("a", cpu=room, pods=pods)
    world.start_operator()
    world.apply(hold("h", cpu=room, allocateOnce=False))
    world.until_held("h")
    world.kill_operator()
    wait = {"headroom.dev/wait": "true"}
    world.apply(*(pod(name, cpu=each, app="web", ours=True, annotations=wait) for name in names))
    world.start_operator()
    world.pass_time(10)
    phases = sorted((world.get("Pod", name) or {})["status"]["phase"] for name in names)
    assert phases == ["Pending", "Running", "Running"]  # One too many would have Failed.
    assert held_cpu(world) == held  # Where no place is left for a guardian, a latch keeps it.


@DOORS
def test_owners_of_a_restricted_hold_that_come_together_do_not_take_the_free_room_beside_it(
    world: World, door: str
) -> None:
    names = ("first", "second", "third")
    world.add_node("a", cpu=9)
    world.start_operator()
    world.apply(hold("h", cpu=5, allocateOnce=False, allocatePolicy="Restricted"))
    world.until_held("h")
    world.kill_operator()
    wait = {"headroom.dev/wait": "true"}
    world.apply(*(pod(name, 2, app="web", annotations=wait, **{door: True}) for name in names))
    world.start_operator()
    world.until("two run", lambda: sum(world.running(name) for name in names) == 2)
    world.until("one is held", lambda: held_cpu(world) == ["1"])
    world.pass_time(5)
    assert sum(world.running(name) for name in names) == 2
    assert held_cpu(world) == ["1"]
    world.delete("Pod", next(name for name in names if world.running(name)))
    world.until("the third has its turn", lambda: sum(map(world.running, names)) == 2)
    assert [world.claim_of(name) for name in names if world.running(name)] == ["Hold/default/h"] * 2


@DOORS
def test_all_of_it_may_be_in_use(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=2, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("only", cpu=2, app="web", **{door: True}))
    world.until_runs("only", on="a")
    world.until("nothing is left to hold", lambda: not world.ours("guardian"))
    assert world.phase_of_hold("h") == "Available"
    world.delete("Pod", "only")
    world.until("all is held", lambda: held_cpu(world) == ["2"])


@DOORS
def test_what_a_leaving_owner_returns_is_kept_from_rivals(
    embedded: EmbeddedWorld, door: str
) -> None:
    """A pod that ends in peace is announced: the room is the hold's before it is free."""
    world = embedded
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("owner", cpu=3, app="web", terminationGracePeriodSeconds=5, **{door: True}))
    world.until_runs("owner", on="a")
    world.until("one is held", lambda: held_cpu(world) == ["1"])
    world.apply(*(pod(f"rival-{number}", cpu=3) for number in range(5)))
    world.pass_time(3)
    world.delete("Pod", "owner")
    world.until("all is held", lambda: held_cpu(world) == ["4"])
    world.pass_time(3)
    assert not any(world.node_of(f"rival-{number}") for number in range(5))
    world.until_nothing_is_left()
