"""The operator dies while a hold waits for running pods to end: another one goes on, and no rival
gets the room that was promised.
"""

from __future__ import annotations

import pytest

from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import (
    LONGEST_WORK,
    NODE,
    RIVALS,
    held,
    nothing_left,
    rivals_in,
)
from tests.stories.things import hold, pod
from tests.stories.world import World


def crowded(world: World) -> None:
    """A node that a running pod of the owners fills but for one processor."""
    world.add_node(NODE, cpu=4)
    world.apply(pod("running", cpu=3, app="web"))
    world.until_runs("running", on=NODE)
    world.start_operator()


def promised(world: World) -> None:
    """And a hold that waits for its end, and rivals that do."""
    crowded(world)
    wish(world)
    world.until("it waits", lambda: waits(world))
    world.apply(*(pod(f"rival-{number}", cpu=2) for number in range(RIVALS)))
    world.pass_time(2)


def wish(world: World) -> None:
    world.apply(hold("h", cpu=3, preAllocation=True))


def end(world: World) -> None:
    world.delete("Pod", "running")


def waits(world: World) -> bool:
    return world.phase_of_hold("h") == "Waiting" and len(world.ours("latch")) == 1


def is_held(world: World) -> bool:
    return world.phase_of_hold("h") == "Available" and held(world) == [3] and nothing_left(world)


STAGES = {"begins": (crowded, wish, waits), "ends": (promised, end, is_held)}


def cut_after(world: World, stage: str, writes: int, backwards: bool) -> bool:
    """Let the operator die after so many writes, and another go on; say whether it did die."""
    set_stage, happens, settled = STAGES[stage]
    set_stage(world)
    world.cut_operator_after(writes, backwards)
    happens(world)
    world.until("cut, or done", lambda: world.operator_is_cut() or settled(world))
    cut = world.operator_is_cut()
    world.kill_operator()
    world.pass_time(0.5)
    world.start_operator()
    world.until("settled", lambda: settled(world))
    return cut


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("stage", sorted(STAGES))
def test_another_operator_goes_on(stage: str, backwards: bool) -> None:
    for writes in range(1 + (stride() > 1) * backwards, LONGEST_WORK, stride()):
        world = EmbeddedWorld()
        cut = cut_after(world, stage, writes, backwards)
        assert rivals_in(world) == []
        world.close()
        if not cut:
            return
    pytest.fail("it never came to rest")
