"""A Headroom whose spec was good and is not any more: what is held stays, and is counted."""

from __future__ import annotations

from tests.stories.things import headroom
from tests.stories.world import World

SPOILT = {"spec": {"reclaim": "Preempt"}}  # with slots that may stand on any node
KEPT = "2 slots that are held already are kept"


def told(world: World) -> tuple[str, int, str]:
    """What a Headroom says: the reason of Ready, how many it holds, and its first words."""
    ready = world.condition_of("room", of="Headroom")
    held = int(world.status("room").get("held", 0))
    return str(ready.get("reason")), held, str(ready.get("message")).partition(";")[0]


def test_slots_stay_while_the_spec_is_invalid_and_the_status_counts_them(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("room", cpu=1, replicas=2))
    world.until_slots("room", "0", "1")
    world.patch("Headroom", "room", SPOILT)
    world.until("it is told", lambda: told(world) == ("InvalidSpec", 2, KEPT))
    world.kill_operator()
    world.patch("Headroom", "room", {"metadata": {"labels": {"seen": "again"}}})
    world.start_operator()
    world.pass_time(3)
    assert sorted(world.held("room")) == ["0", "1"]
    assert told(world) == ("InvalidSpec", 2, KEPT)
    guardian = world.slots("room")["1"][0]["metadata"]["name"]
    world.delete("Pod", guardian)
    world.until("the lost one is not counted", lambda: told(world)[1] == 1)
    world.patch("Headroom", "room", {"spec": {"reclaim": None}})
    world.until_slots("room", "0", "1")
