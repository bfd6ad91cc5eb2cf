"""The operator dies in a handover, and the hold's rules change before another one comes."""

from __future__ import annotations

import pytest

from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import LONGEST_WORK, NODE, held
from tests.stories.things import hold, pod
from tests.stories.world import World

NOBODY = {"spec": {"owners": [{"labelSelector": {"matchLabels": {"app": "nobody"}}}]}}


def cut_after(world: World, door: str, writes: int) -> bool:
    """Let the operator die after so many writes, then change the rules; say whether it did die."""
    world.add_node(NODE, cpu=8)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.cut_operator_after(writes)
    world.apply(pod("p", cpu=3, app="web", **{door: True}))
    world.until("cut, or done", lambda: world.operator_is_cut() or is_told(world))
    cut = world.operator_is_cut()
    world.kill_operator()
    world.pass_time(1)
    world.patch("Hold", "h", NOBODY)
    world.start_operator()
    world.until_runs("p", on=NODE)
    world.pass_time(8)
    return cut


def is_told(world: World) -> bool:
    return bool(world.status("h", "Hold").get("currentOwners")) and held(world) == [1]


@pytest.mark.parametrize("door", ["gated", "ours"])
def test_who_has_got_its_room_stays_an_owner_whatever_the_rules_are_by_then(door: str) -> None:
    for writes in range(1, LONGEST_WORK, stride()):
        world = EmbeddedWorld()
        cut = cut_after(world, door, writes)
        if world.claim_of("p"):  # Else it never got it, and runs beside the hold.
            assert held(world) == [1], writes
            owners = world.status("h", "Hold").get("currentOwners", ())
            assert [each["name"] for each in owners] == ["p"], writes
        else:
            assert held(world) == [4], writes
        world.close()
        if not cut:
            return
    pytest.fail("it never came to rest")
