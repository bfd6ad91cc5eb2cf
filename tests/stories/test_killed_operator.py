"""The operator dies between any two writes, at every point there is, and another one goes on.

Rivals wait for exactly the room in question the whole time, also while nobody is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.runtime.operator import Operator
from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import (
    NODE,
    Work,
    at_rest,
    claimants,
    held,
    nothing_left,
    owners_of,
)
from tests.stories.repeating import Worlds, at_every_write, told_of
from tests.stories.things import hold, pod
from tests.stories.world import World


def stage(cpu: int, *holds: dict[str, Any], pods: int = 110) -> Callable[[World], None]:
    """A node of this size with these holds on it, all of them available."""

    def set_stage(world: World) -> None:
        world.add_node(NODE, cpu=cpu, pods=pods)
        world.start_operator()
        world.apply(*holds)
        world.until_held(*(each["metadata"]["name"] for each in holds))

    return set_stage


def come(*names: str, cpu: int, **spec: Any) -> Callable[[World], None]:
    """These owners appear."""

    def happens(world: World) -> None:
        world.apply(*(pod(name, cpu=cpu, app="web", **spec) for name in names))

    return happens


def come_apart(world: World) -> None:
    """Two owners, the second just when the latch of the first has done its work and may serve."""
    come("other", cpu=2, ours=True)(world)
    world.pass_time(0.8)
    come("owner", cpu=2, ours=True)(world)


def all_run(world: World, *names: str) -> bool:
    return all(world.running(name) and world.node_of(name) == NODE for name in names)


def used_up(world: World) -> bool:
    """The owner runs on the node, and the hold says so and is done."""
    return (
        all_run(world, "owner")
        and world.phase_of_hold("h") == "Succeeded"
        and owners_of(world) == claimants(world) == ["owner"]
        and not world.ours("guardian")
    )


def rest_is_held(world: World) -> bool:
    return (
        all_run(world, "owner")
        and world.phase_of_hold("h") == "Available"
        and owners_of(world) == claimants(world) == ["owner"]
        and held(world) == [3]
        and len(world.ours("guardian")) == 1
    )


def crowd_is_in(world: World) -> bool:
    """Three owners share the hold; one quarter of it is left."""
    names = ["other", "owner", "third"]
    return (
        all_run(world, *names)
        and sorted(owners_of(world)) == sorted(claimants(world)) == names
        and held(world) == [1]
        and len(world.ours("guardian")) == 1
    )


def both_used_up(world: World) -> bool:
    given = sorted(owners_of(world, "h") + owners_of(world, "k"))
    return all_run(world, "owner", "other") and given == ["other", "owner"] and held(world) == []


def one_of_two_got_it(world: World) -> bool:
    got = claimants(world)
    return len(got) == 1 and all_run(world, *got) and owners_of(world) == got and held(world) == []


def all_is_held(world: World) -> bool:
    return world.phase_of_hold("h") == "Available" and held(world) == [4] and not owners_of(world)


def placed(world: World) -> bool:
    return all_run(world, "owner") and world.claim_of("owner") == ""


def one_is_out(world: World) -> None:
    """A reusable hold of four, one of them in use."""
    stage(4, hold("h", cpu=4, allocateOnce=False))(world)
    come("owner", cpu=1, gated=True)(world)
    world.until("three are held", lambda: rest_is_held(world))


def empty_node(world: World) -> None:
    world.add_node(NODE, cpu=4)
    world.start_operator()


def through(door: str) -> list[Work]:
    """Every kind of handover there is through a door."""
    way = {door: True}
    one, reusable = hold("h", cpu=2), hold("h", cpu=4, allocateOnce=False)
    both = (hold("h", cpu=2), hold("k", cpu=2))
    return [
        Work(f"one-{door}", stage(2, one), come("owner", cpu=2, **way), used_up, rivals=1),
        Work(f"rest-{door}", stage(4, reusable), come("owner", cpu=1, **way), rest_is_held, 4, 1),
        Work(f"two-{door}", stage(4, *both), come("owner", "other", cpu=2, **way), both_used_up, 4),
        Work(
            f"places-{door}",
            stage(8, *both, pods=2),
            come("owner", "other", cpu=2, **way),
            both_used_up,
            4,
        ),
        Work(f"more-{door}", stage(3, one), come("owner", cpu=3, **way), used_up, 3),
        Work(
            f"rush-{door}", stage(2, one), come("owner", "other", cpu=2, **way), one_of_two_got_it
        ),
    ]


HANDOVERS = [*through("gated"), *through("ours")]
PLAIN = [*through("gated")[:2], *through("ours")[:2]]
CROWD = Work(
    "crowd",
    stage(4, hold("h", cpu=4, allocateOnce=False)),
    come("owner", "other", "third", cpu=1, ours=True),
    crowd_is_in,
    cpu=4,
    rivals=1,
)
LATCHED = [*(through("ours")[number] for number in (0, 1, 4)), CROWD]
OTHERS = [
    CROWD,
    Work("again", stage(4, hold("h", cpu=2), hold("k", cpu=2)), come_apart, both_used_up, 4),
    Work("free-room", empty_node, come("owner", cpu=3, ours=True), placed, 4, 0),
    Work("hold", empty_node, lambda world: world.apply(hold("h", cpu=4)), all_is_held, 4, 0),
    Work("grow", one_is_out, lambda world: world.delete("Pod", "owner"), all_is_held, 4, 3),
]
REAL = [f"{kind}-{door}" for kind in ("one", "rest", "two", "places") for door in ("gated", "ours")]
REAL += ["again", "crowd", "free-room", "hold", "grow"]


@pytest.mark.slow
@told_of([*HANDOVERS, *OTHERS], *REAL, slowly=("places-gated", "places-ours"))
def test_another_operator_finishes_the_work(worlds: Worlds, work: Work) -> None:
    def ends(world: World, cut: bool) -> bool:
        return at_rest(world, work)

    at_every_write(worlds, work, ends)


@told_of(PLAIN, "one-gated", "one-ours")
def test_with_its_owner_gone_meanwhile_the_hold_comes_back(worlds: Worlds, work: Work) -> None:
    def owner_goes(world: World) -> None:
        world.delete("Pod", "owner")

    def ends(world: World, cut: bool) -> bool:
        if world.phase_of_hold("h") == "Succeeded":  # It had got there before it went.
            return nothing_left(world) and not world.ours("guardian")
        return world.phase_of_hold("h") == "Available" and nothing_left(world) and bool(held(world))

    at_every_write(worlds, replace(work, rivals=0), ends, owner_goes)


@pytest.mark.slow
@told_of(LATCHED, "one-ours", slowly=("crowd",))
def test_a_latch_keeps_the_room_for_a_hold_whose_owner_is_gone(worlds: Worlds, work: Work) -> None:
    def owner_goes(world: World) -> None:
        if not world.node_of("owner"):
            world.delete("Pod", "owner")

    def ends(world: World, cut: bool) -> bool:
        if world.get("Pod", "owner") is not None:
            return at_rest(world, work)
        return world.phase_of_hold("h") == "Available" and nothing_left(world) and bool(held(world))

    at_every_write(worlds, work, ends, owner_goes)


@told_of(PLAIN, "one-gated", "one-ours")
def test_with_its_hold_gone_meanwhile_nothing_is_left(worlds: Worlds, work: Work) -> None:
    def hold_goes(world: World) -> None:
        world.delete("Hold", "h")

    def ends(world: World, cut: bool) -> bool:
        if not cut:
            return at_rest(world, work)
        return all_run(world, "owner") and nothing_left(world) and not world.ours("guardian")

    at_every_write(worlds, replace(work, rivals=0), ends, hold_goes)


class LateLease:
    """The right to lead, which comes long after everything was seen."""

    async def acquire(self) -> None:
        await asyncio.sleep(15)  # Virtual seconds.

    async def lost(self) -> None:
        await asyncio.Event().wait()

    async def release(self) -> None:
        return


def test_an_owner_that_came_while_nobody_led_is_served(embedded: EmbeddedWorld) -> None:
    world = embedded
    stage(2, hold("h", cpu=2))(world)
    world.kill_operator()
    come("owner", cpu=2, gated=True)(world)
    world.pass_time(60)
    world.sim.start_operator(
        lambda cluster, clock: Operator(cluster, clock, Engine(Policy()), lease=LateLease())
    )
    world.until("the owner got its hold", lambda: used_up(world))
