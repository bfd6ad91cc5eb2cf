"""The operator dies while a reusable hold is given on a node with no other place for a pod."""

from __future__ import annotations

import pytest

from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import LONGEST_WORK, NODE, RIVALS, held, nothing_left, rivals_in
from tests.stories.things import hold, pod
from tests.stories.world import World, keeps_claim


def full(world: World) -> None:
    """A hold, a stranger that has the only other place, and rivals that wait for one."""
    world.add_node(NODE, cpu=8, pods=2)
    world.start_operator()
    world.apply(hold("h", cpu=2, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("stranger"))
    world.until_runs("stranger", on=NODE)
    world.apply(*(pod(f"rival-{number}", cpu="100m") for number in range(RIVALS)))
    world.pass_time(2)


def given(world: World) -> None:
    full(world)
    come(world, "ours")
    world.until("it is settled", lambda: is_given(world))


def come(world: World, door: str) -> None:
    world.apply(pod("owner", app="web", **{door: True}))


def is_given(world: World) -> bool:
    return world.running("owner") and list(map(keeps_claim, world.ours("latch"))) == [True]


def leave(world: World, _: str) -> None:
    world.delete("Pod", "owner")


def is_back(world: World) -> bool:
    return held(world) == [2] and nothing_left(world)


STAGES = {"comes": (full, come, is_given), "leaves": (given, leave, is_back)}


def cut_after(world: World, stage: str, door: str, writes: int) -> bool:
    """Let the operator die after so many writes, and another go on; say whether it did die."""
    set_stage, happens, settled = STAGES[stage]
    set_stage(world)
    world.cut_operator_after(writes)
    happens(world, door)
    world.until("cut, or done", lambda: world.operator_is_cut() or settled(world))
    cut = world.operator_is_cut()
    world.kill_operator()
    world.pass_time(0.5)
    world.start_operator()
    world.until("settled", lambda: settled(world))
    return cut


@pytest.mark.parametrize(
    ("stage", "door"), [("comes", "gated"), ("comes", "ours"), ("leaves", "ours")]
)
def test_another_operator_keeps_the_rest_where_no_pod_has_a_place(stage: str, door: str) -> None:
    for writes in range(1, LONGEST_WORK, stride()):
        world = EmbeddedWorld()
        cut = cut_after(world, stage, door, writes)
        assert rivals_in(world) == []
        world.close()
        if not cut:
            return
    pytest.fail("it never came to rest")
