"""The operator dies while owners give way to a more important one: another operator goes on.

Rivals wait for exactly the room that becomes free, also while nobody is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stories.killing import (
    NODE,
    Work,
    at_rest,
    claimants,
    cpu_of,
    held,
    nothing_left,
    owners_of,
)
from tests.stories.repeating import Worlds, at_every_write, told_of
from tests.stories.things import hold, pod, priority_class
from tests.stories.world import World

SIZE = 4


def in_use(policy: str = "Aligned", **low: Any) -> Callable[[World], None]:
    """A hold as large as its node, and two owners of no importance that have all of it."""

    def set_stage(world: World) -> None:
        world.add_node(NODE, cpu=SIZE)
        world.start_operator()
        world.apply(priority_class("critical", 100_000))
        world.apply(hold("h", cpu=SIZE, allocateOnce=False, allocatePolicy=policy))
        world.until_held("h")
        for name in ("low-0", "low-1"):
            world.apply(pod(name, cpu=2, app="web", ours=True, **low))
            world.until_runs(name, on=NODE)
        world.until("both are told", lambda: owners_of(world) == ["low-0", "low-1"])

    return set_stage


def comes(cpu: int) -> Callable[[World], None]:
    def happens(world: World) -> None:
        owner = pod("owner", cpu=cpu, app="web", ours=True, priorityClassName="critical")
        world.apply(owner)

    return happens


def took_all(world: World) -> bool:
    return got_in(world) and claimants(world) == ["owner"] and held(world) == []


def took_half(world: World) -> bool:
    return got_in(world) and len(claimants(world)) == 2 and held(world) == []


def took_part(world: World) -> bool:
    return got_in(world) and claimants(world) == ["owner"] and held(world) == [1]


def got_in(world: World) -> bool:
    return (
        world.running("owner")
        and world.phase_of_hold("h") == "Available"
        and "owner" in claimants(world)
        and owners_of(world) == claimants(world)
    )


SLOW: dict[str, Any] = {"terminationGracePeriodSeconds": 2}
WORKS = [
    Work("all", in_use(), comes(4), took_all, SIZE),
    Work("all-slowly", in_use(**SLOW), comes(4), took_all, SIZE),
    Work("part-restricted", in_use("Restricted", **SLOW), comes(3), took_part, SIZE),
    Work("half", in_use("Restricted"), comes(2), took_half, SIZE),
]
SLOWLY = ("all", "part-restricted")


@pytest.mark.slow
@told_of(WORKS, "all-slowly", "half", slowly=SLOWLY)
def test_another_operator_brings_the_owner_in(worlds: Worlds, work: Work) -> None:
    def ends(world: World, cut: bool) -> bool:
        return at_rest(world, work)

    at_every_write(worlds, work, ends)


@pytest.mark.slow
@told_of(WORKS, "all-slowly", slowly=SLOWLY)
def test_with_the_owner_gone_meanwhile_what_others_left_stays_held(
    worlds: Worlds, work: Work
) -> None:
    def owner_goes(world: World) -> None:
        if not world.node_of("owner"):
            world.delete("Pod", "owner")

    def ends(world: World, cut: bool) -> bool:
        if world.get("Pod", "owner") is not None:
            return at_rest(world, work)
        staying = (world.get("Pod", name) for name in ("low-0", "low-1"))
        kept = sum(held(world)) + sum(cpu_of(user) for user in staying if user is not None)
        return world.phase_of_hold("h") == "Available" and nothing_left(world) and kept == SIZE

    at_every_write(worlds, work, ends, owner_goes)
