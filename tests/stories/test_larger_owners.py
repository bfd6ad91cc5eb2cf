"""Owners larger than their hold need free room beside it: strangers may get that, and no more."""

from __future__ import annotations

import pytest

from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])
ROOMS: dict[str, Json] = {
    "once": hold("h", cpu=1),
    "reusable": hold("h", cpu=1, allocateOnce=False),
    "slot": headroom("h", cpu=1, size={"perNode": {"slots": 1}}),
}
DELAYS = (0.0, 0.003, 0.006, 0.01)  # after the owner has come
STRANGERS = [f"stranger-{number}" for number in range(3)]


def kept(world: World) -> list[str]:
    found = (item["spec"].get("nodeName", "") for item in world.ours("guardian"))
    return [node for node in found if node]


def come_in(world: World) -> list[str]:
    return [name for name in STRANGERS if world.node_of(name)]


@DOORS
@pytest.mark.parametrize("room", ROOMS)
def test_strangers_that_come_in_the_same_moment_get_no_held_room(
    world: World, room: str, door: str
) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    for delay in DELAYS:
        world.apply(ROOMS[room])
        world.until("it is held", lambda: kept(world) == ["a"])
        world.pass_time(1)
        world.apply(pod("owner", cpu=2, app="web", **{door: True}))
        world.pass_time(delay)
        world.apply(*(pod(name, cpu=1) for name in STRANGERS))
        world.until("one or the other", lambda: world.running("owner") or bool(come_in(world)))
        world.pass_time(3)
        if world.running("owner"):
            assert come_in(world) == [], delay
        else:
            assert len(come_in(world)) == 1, delay
            assert kept(world) == ["a"], delay
        for name in ("owner", *STRANGERS):
            world.delete("Pod", name)
        world.delete(ROOMS[room]["kind"], "h")
        world.until("all is gone", lambda: not world.ours("guardian") and not world.ours("latch"))


@DOORS
def test_an_owner_gets_its_hold_and_free_room_together(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=1, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("owner", cpu=3, app="web", **{door: True}))
    world.until_runs("owner", on="a", seconds=4)
    assert world.claim_of("owner") == "Hold/default/h"
    world.until_nothing_is_left()
