"""A size that shrinks while owners claim: a claim that was made stands, whatever the size is."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import headroom, pod
from tests.stories.world import World

OWNERS = [f"owner-{number}" for number in range(3)]
RIVALS = [f"rival-{number}" for number in range(3)]
DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def claim_while_the_size_shrinks(world: World, door: str, after: float) -> None:
    """Three owners come to three slots of a full node; then the size becomes zero."""
    claimed: dict[str, None] = {}

    def look() -> None:
        claimed.update(dict.fromkeys(name for name in OWNERS if world.claim_of(name)))

    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    world.apply(*(pod(name, cpu=1) for name in RIVALS))
    world.pass_time(1)
    world.on_look(look)
    world.apply(*(pod(name, cpu=1, app="web", **{door: True}) for name in OWNERS))
    if after:
        world.pass_time(after)
    world.patch("Headroom", "burst", {"spec": {"size": {"replicas": 0}}})
    world.until("no slot is left", lambda: not world.slots("burst"))
    world.until("whoever claimed has a node", lambda: all(map(world.node_of, claimed)))
    assert [name for name in claimed if not world.claim_of(name)] == []
    world.until_nothing_is_left()


@DOORS
def test_a_claim_stands_when_the_size_shrinks_right_after_it(world: World, door: str) -> None:
    claim_while_the_size_shrinks(world, door, after=0)


@DOORS
@pytest.mark.parametrize("milliseconds", [2, 8, 16, 24, 30, 32, 34, 36, 40])
def test_a_claim_stands_whenever_the_size_shrinks(door: str, milliseconds: int) -> None:
    world = EmbeddedWorld()
    try:
        claim_while_the_size_shrinks(world, door, after=milliseconds / 1000)
    finally:
        world.close()
