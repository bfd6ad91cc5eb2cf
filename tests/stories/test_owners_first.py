"""An owner that passed the gate without its slot does not wait behind that slot's guardian."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import held
from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

ROOMS: dict[str, Json] = {
    "replicas": headroom("room", cpu=2, replicas=1),
    "per node": headroom("room", cpu=2, size={"perNode": {"slots": 1}}),
    "hold": hold("room", cpu=2),
}


@pytest.mark.parametrize("room", ROOMS)
def test_an_owner_without_its_slot_is_served_before_the_slot(world: World, room: str) -> None:
    """The cluster is full, the room is not held; what comes free is for the pod that waits."""
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(pod("stranger-0", cpu=2), pod("stranger-1", cpu=2))
    for number in range(2):
        world.until_runs(f"stranger-{number}", on="a")
    world.apply(ROOMS[room])
    world.until("a guardian waits for room", lambda: len(world.ours("guardian")) == 1)
    world.apply(pod("owner", cpu=2, app="web", gated=True))
    world.until("the owner has passed the gate", lambda: not gates(world, "owner"))
    world.until("no guardian waits before it", lambda: not world.ours("guardian"))
    world.until("the owner was refused", lambda: refused(world, "owner"))
    world.finish("stranger-0")
    world.until_runs("owner", on="a")
    world.until("a guardian waits again", lambda: len(world.ours("guardian")) == 1)
    world.finish("stranger-1")
    world.until("the room is held", lambda: held(world) == [2])


def test_an_owner_that_never_fits_keeps_its_slot_waiting_for_minutes_only() -> None:
    """On the embedded cluster alone: elsewhere the minutes are real."""
    with closing(EmbeddedWorld()) as world:
        world.add_node("a", cpu=4)
        world.start_operator()
        world.apply(pod("stranger", cpu=4))
        world.until_runs("stranger", on="a")
        world.apply(ROOMS["replicas"])
        world.until("a guardian waits for room", lambda: len(world.ours("guardian")) == 1)
        world.apply(pod("owner", cpu=2, app="web", gated=True, nodeSelector={"no": "such"}))
        world.until("the owner goes first", lambda: not world.ours("guardian"))
        world.until("it is told", lambda: "pod default/owner goes first" in said(world))
        world.until("but not for ever", lambda: len(world.ours("guardian")) == 1, seconds=400)
        world.finish("stranger")
        world.until("the room is held", lambda: held(world) == [2])


def gates(world: World, name: str) -> list[Json]:
    found = world.get("Pod", name) or {}
    return list(found["spec"].get("schedulingGates", ()))


def refused(world: World, name: str) -> bool:
    found = world.get("Pod", name) or {}
    told = found.get("status", {}).get("conditions", ())
    return any(item["type"] == "PodScheduled" and item["status"] == "False" for item in told)


def said(world: World) -> str:
    return " ".join(str(item.get("message")) for item in world.status("room").get("conditions", ()))
