"""The dialect's own Headroom, deleted by somebody: it comes back, and nobody waits for ever."""

from __future__ import annotations

from tests.stories.followers import gates_of
from tests.stories.schedulinggate.conftest import CODECS
from tests.stories.schedulinggate.test_mountpoint import HELPERS, bucket, gated
from tests.stories.world import World

OWN = CODECS.own_objects()


def _there(world: World) -> bool:
    return world.get("Headroom", "mountpoint", HELPERS) is not None


def test_a_headroom_that_somebody_deletes_is_made_again_and_serves(world: World) -> None:
    world.add_node("a")
    world.start_operator(own_objects=OWN)
    world.apply(*bucket("first"))
    world.apply(gated("before", "first"))
    world.until_runs("before")
    world.delete("Headroom", "mountpoint", HELPERS)
    world.until("it is there again", lambda: _there(world))
    world.apply(*bucket("second"))
    world.apply(gated("after", "second"))
    world.until("it is released", lambda: gates_of(world, "after") == [])
    world.until_runs("after")


def test_one_that_was_deleted_while_nobody_was_there_is_made_again(world: World) -> None:
    world.add_node("a")
    world.delete("Headroom", "mountpoint", HELPERS)
    world.apply(*bucket("first"))
    world.apply(gated("workload", "first"))
    world.start_operator(own_objects=OWN)
    world.until_runs("workload")
    assert _there(world)
