"""The end of a ticket's time: its room goes to the ticket that comes next, and to nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.conftest import CODECS
from tests.stories.korder.things import guardians, order, phases
from tests.stories.things import Json, pod
from tests.stories.world import World

RIVALS = [f"rival-{number}" for number in range(4)]
KINDS: dict[str, Json] = {
    "OnClaim": {"replicas": 2},
    "Always": {"replicas": 2, "refreshPolicy": "Always"},
    "daemonSet": {"daemonSet": True},
}


def stage(world: World, duration: str, **spec: Any) -> None:
    """Two nodes that tickets fill, and rivals for their room."""
    for name in ("a", "b"):
        world.add_node(name, cpu=2)
    world.start_operator()
    world.apply(order(cpu=2, ticket={"duration": duration}, **spec))
    world.until("both nodes are held", lambda: sorted(guardians(world).values()) == ["a", "b"])
    world.apply(*(pod(name, cpu=2) for name in RIVALS))


def rivals_in(world: World) -> list[str]:
    return [name for name in RIVALS if world.node_of(name)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_ticket_has_the_room_of_the_one_that_expires(world: World, kind: str) -> None:
    stage(world, "8s", **KINDS[kind])
    seen: set[str] = set(guardians(world))
    for _ in range(2):
        world.until("other guardians stand", lambda: renewed(world, seen), 40)
        seen.update(guardians(world))
        assert rivals_in(world) == []
    world.pass_time(1)
    assert sorted(guardians(world).values()) == ["a", "b"]
    assert rivals_in(world) == []


def renewed(world: World, seen: set[str]) -> bool:
    """Whether guardians that were not there before stand on both nodes, or a rival got in."""
    there = guardians(world)
    new = sorted(node for name, node in there.items() if name not in seen)
    return bool(rivals_in(world)) or (new == ["a", "b"] and len(there) == 2)


def test_after_a_day_all_is_still_held(embedded: EmbeddedWorld) -> None:
    """The first example of korder's guide, on nodes that are busy."""
    world = embedded
    stage(world, "24h", daemonSet=True)
    world.kill_operator()
    world.pass_time(24 * 3600 - 60)
    world.start_operator()
    world.pass_time(120)
    assert rivals_in(world) == []
    assert sorted(guardians(world).values()) == ["a", "b"]
    world.until("no latch is left", lambda: not world.ours("latch"))


def test_what_is_not_wanted_any_more_is_given_back(world: World) -> None:
    stage(world, "8s", replicas=2)
    world.patch("Order", "web", {"spec": {"paused": True}})
    world.until("the rivals have the room", lambda: len(rivals_in(world)) == 2, 40)
    assert guardians(world) == {}


def test_windows_that_touch_leave_no_gap(before_six: EmbeddedWorld) -> None:
    """Each tick has its tickets anew, in the very moment in which those before have ended."""
    world = before_six
    strategy = {"type": "Scheduled", "schedule": "* * * * *"}
    for name in ("a", "b"):
        world.add_node(name, cpu=2)
    world.start_operator()
    world.apply(order(cpu=2, replicas=2, strategy=strategy, ticket={"duration": "1m"}))
    world.pass_time(90)
    world.apply(*(pod(name, cpu=2) for name in RIVALS))
    for _ in range(3):
        world.pass_time(60)
        assert rivals_in(world) == []
        assert sorted(guardians(world).values()) == ["a", "b"]


@pytest.mark.e2e  # For the time it takes; it needs no control plane.
def test_the_operator_dies_while_a_ticket_takes_over(embedded: EmbeddedWorld) -> None:
    """At whatever write it dies, the next one goes on and no rival gets in."""
    for writes in range(1, 30):
        world = embedded if writes == 1 else EmbeddedWorld(codecs=CODECS)
        stage(world, "1m", replicas=2)
        world.pass_time(50)
        world.cut_operator_after(writes)
        world.pass_time(30)
        cut = world.operator_is_cut()
        world.kill_operator()
        world.start_operator()
        world.pass_time(40)
        assert rivals_in(world) == [], f"cut after write {writes}\n{world.picture()}"
        assert sorted(guardians(world).values()) == ["a", "b"], phases(world)
        if writes > 1:
            world.close()
        if not cut:
            assert writes > 5, "there was nothing to cut"
            return
