"""The operator dies while strangers are kept off a node: another one goes on, and no rival gets in.

Rivals wait for what an owner has; it ends in the moment of the cut, or while nobody is there.
"""

from __future__ import annotations

import pytest

from tests.samples import stride
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import LONGEST_WORK, NODE, RIVALS, held, rivals_in
from tests.stories.things import hold, pod
from tests.stories.world import World


def in_use(world: World, door: str) -> None:
    """A node that an owner and the rest of its hold fill."""
    world.add_node(NODE, cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("owner", cpu=3, app="web", **{door: True}))
    world.until_runs("owner", on=NODE)
    world.until("the rest is held", lambda: held(world) == [1] and not world.ours("latch"))


def rivals_come(world: World) -> None:
    world.apply(*(pod(f"rival-{number}", cpu=3) for number in range(RIVALS)))


def is_fenced(world: World) -> bool:
    return len(world.ours("fence")) == 1


def all_is_held(world: World) -> bool:
    return held(world) == [4] and not world.ours("latch")


def cut_after(world: World, door: str, writes: int, backwards: bool) -> bool:
    """Let the operator die after so many writes, and another go on; say whether it did die."""
    in_use(world, door)
    rivals_come(world)
    world.until("a fence stands", lambda: is_fenced(world))
    world.pass_time(1)
    world.cut_operator_after(writes, backwards)
    world.finish("owner")
    world.until("cut, or done", lambda: world.operator_is_cut() or all_is_held(world))
    cut = world.operator_is_cut()
    world.kill_operator()
    world.pass_time(3)
    assert rivals_in(world) == [], f"while nobody was there, cut after {writes}"
    world.start_operator()
    world.until("all is held", lambda: all_is_held(world))
    world.pass_time(5)
    assert rivals_in(world) == [], f"cut after {writes}"
    return cut


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("door", ["gated", "ours"])
def test_what_is_returned_while_the_operator_dies_is_held(door: str, backwards: bool) -> None:
    for writes in range(1 + (stride() > 1) * backwards, LONGEST_WORK, stride()):
        world = EmbeddedWorld()
        cut = cut_after(world, door, writes, backwards)
        world.close()
        if not cut:
            assert writes > 1, "there was nothing to cut"
            return
    pytest.fail("it never came to rest")


@pytest.mark.parametrize("door", ["gated", "ours"])
def test_what_is_returned_while_nobody_is_there_is_held(world: World, door: str) -> None:
    in_use(world, door)
    rivals_come(world)
    world.until("a fence stands", lambda: is_fenced(world))
    world.pass_time(1)
    world.kill_operator()
    world.finish("owner")
    world.pass_time(3)
    assert rivals_in(world) == []
    world.start_operator()
    world.until("all is held", lambda: all_is_held(world))
    assert rivals_in(world) == []


def test_a_fence_that_is_left_goes_when_nobody_waits(embedded: EmbeddedWorld) -> None:
    world = embedded
    in_use(world, "gated")
    rivals_come(world)
    world.until("a fence stands", lambda: is_fenced(world))
    world.kill_operator()
    for number in range(RIVALS):
        world.delete("Pod", f"rival-{number}")
    world.finish("owner")
    world.delete("Hold", "h")
    world.pass_time(5)
    world.start_operator()
    world.until("nothing of ours is left", lambda: not world.ours("fence"))


def test_without_rivals_nothing_is_written(embedded: EmbeddedWorld) -> None:
    world = embedded
    in_use(world, "gated")
    world.pass_time(5)
    before = len(world.sim.writes)
    world.pass_time(600)
    late = [write for _, write, _ in world.sim.writes[before:] if write.resource.kind == "Pod"]
    assert late == []
    assert not world.ours("fence")
