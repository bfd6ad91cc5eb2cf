"""A slot in use and a reusable hold on one full node: each gets back what its own owner returns."""

from __future__ import annotations

import pytest

from tests.stories.things import Json, headroom, hold, pod
from tests.stories.world import World

RIVALS = 3


def kept_by(world: World, name: str) -> list[str]:
    """What guardians of an object keep, by the start of their names."""
    found = [
        item
        for item in world.ours("guardian")
        if item["spec"].get("nodeName") and item["metadata"]["name"].startswith(f"{name}-")
    ]
    return [_cpu(item) for item in found]


def _cpu(item: Json) -> str:
    return str(item["spec"]["containers"][0]["resources"]["requests"]["cpu"])


@pytest.mark.parametrize("door", ["gated", "ours"])
def test_a_slot_in_use_does_not_take_what_an_owner_of_a_hold_returns(
    world: World, door: str
) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("burst", cpu=2, app="burst", size={"perNode": {"slots": 1}}))
    world.apply(hold("h", cpu=2, app="web", allocateOnce=False))
    world.until_held("h")
    world.until("the slot is held", lambda: kept_by(world, "burst") == ["2"])
    world.apply(pod("one", cpu=2, app="web", **{door: True}))
    world.until_runs("one", on="a")
    world.apply(pod("two", cpu=2, app="burst", **{door: True}))
    world.until_runs("two", on="a")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(RIVALS)))
    world.pass_time(2)
    world.delete("Pod", "one")
    world.until("the hold has its room", lambda: kept_by(world, "h") == ["2"])
    assert kept_by(world, "burst") == []
    world.delete("Pod", "two")
    world.until("the slot has its room", lambda: kept_by(world, "burst") == ["2"])
    assert kept_by(world, "h") == ["2"]
    assert [number for number in range(RIVALS) if world.node_of(f"rival-{number}")] == []
