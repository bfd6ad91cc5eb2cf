"""The operator dies between any two writes about standing slots: nothing is lost, nothing doubled.

As with holds, another operator goes on; where the node is full, rivals wait for its room.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.stories.killing import NODE, Work, at_rest, cpu_of, nothing_left
from tests.stories.repeating import Worlds, at_every_write, told_of
from tests.stories.things import headroom, pod
from tests.stories.world import CLAIMED_SLOT, World

Json = dict[str, Any]
NAME = "room"


def stage(cpu: int, wanted: Json, *slots: str) -> Callable[[World], None]:
    """A node of this size with this headroom, all of its slots held."""

    def set_stage(world: World) -> None:
        world.add_node(NODE, cpu=cpu)
        world.patch("Node", NODE, {"spec": {"unschedulable": None}})  # Left so by the last story.
        world.start_operator()
        world.apply(wanted)
        world.until_slots(NAME, *slots)

    return set_stage


def empty(cpu: int) -> Callable[[World], None]:
    def set_stage(world: World) -> None:
        world.add_node(NODE, cpu=cpu)
        world.start_operator()

    return set_stage


def kept(world: World) -> dict[str, list[int]]:
    """How much each guardian of each slot keeps, those that wait included."""
    return {slot: sorted(map(cpu_of, each)) for slot, each in sorted(world.slots(NAME).items())}


def exactly(slots: dict[str, list[int]]) -> Callable[[World], bool]:
    """These guardians, all of them placed, and a status that says so."""

    def settled(world: World) -> bool:
        told = world.status(NAME)
        return (
            kept(world) == slots
            and len(world.held(NAME)) == len(slots)
            and len(world.ours("guardian")) == len(slots)
            and (told.get("desired"), told.get("held")) == (len(slots), len(slots))
        )

    return settled


def comes(door: str, cpu: int) -> Callable[[World], None]:
    def happens(world: World) -> None:
        world.apply(pod("owner", cpu=cpu, app="web", **{door: True}))

    return happens


def slot_of_owner(world: World) -> str:
    found = world.get("Pod", "owner") or {"metadata": {}}
    return str(found["metadata"].get("annotations", {}).get(CLAIMED_SLOT, ""))


def counted_once_at_most(world: World) -> bool:
    """Who was seated just when the operator died is not counted; nobody is counted twice."""
    return int(world.status(NAME).get("claimed", 0)) <= 1


def taken_from_a_full_node(world: World) -> bool:
    """The owner runs in its slot, the other slot is held, and the refill waits for room."""
    mine = slot_of_owner(world)
    other = {"0": "1", "1": "0"}.get(mine, "")
    return (
        world.running("owner")
        and sorted(world.held(NAME)) == [other]
        and kept(world) == {"0": [2], "1": [2]}
        and counted_once_at_most(world)
    )


def taken_and_refilled(world: World) -> bool:
    both = exactly({"0": [1], "1": [1]})
    return world.running("owner") and both(world) and counted_once_at_most(world)


def used_up(world: World) -> bool:
    """The owner has its slot, and that one is spent; the other one is held."""
    mine, told = slot_of_owner(world), world.status(NAME)
    return (
        world.running("owner")
        and kept(world) == {slot: [1] for slot in ("0", "1") if slot != mine}
        and told.get("spent") == [mine]
        and told.get("held") == 1
    )


def patch(**spec: Any) -> Callable[[World], None]:
    return lambda world: world.patch("Headroom", NAME, {"spec": spec})


def asking(cpu: int) -> Json:
    return {"template": {"resources": {"requests": {"cpu": str(cpu)}}}}


def lose_one(world: World) -> None:
    world.delete("Pod", world.slots(NAME)["1"][0]["metadata"]["name"])


def cordon(world: World) -> None:
    world.patch("Node", NODE, {"spec": {"unschedulable": True}})


def gone(world: World) -> bool:
    return not world.ours("guardian")


TWO, FULL = headroom(NAME, cpu=1, replicas=2), headroom(NAME, cpu=2, replicas=2)
ONCE = headroom(NAME, cpu=1, replicas=2, refill="Never")
EACH = headroom(NAME, cpu=2, size={"perNode": {"slots": 1}})
CLAIMS = [
    Work(f"{name}-{door}", stage(cpu, wanted, "0", "1"), comes(door, size), ends, cpu, rivals)
    for door in ("gated", "ours")
    for name, cpu, wanted, size, ends, rivals in (
        ("full", 4, FULL, 2, taken_from_a_full_node, 2),
        ("refill", 4, TWO, 1, taken_and_refilled, 0),
        ("once", 4, ONCE, 1, used_up, 0),
    )
]
SLOWLY = ("refill-gated", "refill-ours", "once-gated", "lost", "more", "less", "delete")
OTHERS = [
    Work("fill", empty(4), lambda w: w.apply(TWO), exactly({"0": [1], "1": [1]}), 4, 0),
    Work("lost", stage(4, TWO, "0", "1"), lose_one, exactly({"0": [1], "1": [1]}), 4, 0),
    Work(
        "more",
        stage(4, TWO, "0", "1"),
        patch(size={"replicas": 3}),
        exactly({"0": [1], "1": [1], "2": [1]}),
        4,
        0,
    ),
    Work("less", stage(4, TWO, "0", "1"), patch(size={"replicas": 1}), exactly({"0": [1]}), 4, 0),
    Work(
        "roll",
        stage(8, TWO, "0", "1"),
        patch(slot=asking(2)),
        exactly({"0": [2], "1": [2]}),
        8,
        0,
    ),
    Work(
        "roll-in-place",
        stage(4, FULL, "0", "1"),
        patch(slot=asking(1)),
        exactly({"0": [1], "1": [1]}),
        4,
        3,
    ),
    Work("cordon", stage(2, EACH, NODE), cordon, gone, 2, 0),
    Work("delete", stage(4, TWO, "0", "1"), lambda w: w.delete("Headroom", NAME), gone, 4, 0),
]


@pytest.mark.slow
@told_of([*CLAIMS, *OTHERS], "full-gated", "full-ours", "roll", slowly=SLOWLY)
def test_another_operator_finishes_the_work(worlds: Worlds, work: Work) -> None:
    def ends(world: World, cut: bool) -> bool:
        return at_rest(world, work)

    at_every_write(worlds, work, ends)


@told_of([work for work in CLAIMS if work.name.startswith("full")], slowly=("full-ours",))
def test_with_its_owner_gone_meanwhile_both_slots_are_held(worlds: Worlds, work: Work) -> None:
    def owner_goes(world: World) -> None:
        world.delete("Pod", "owner")

    def ends(world: World, cut: bool) -> bool:
        if not cut:
            return at_rest(world, work)
        return nothing_left(world) and exactly({"0": [2], "1": [2]})(world)

    at_every_write(worlds, replace(work, rivals=0), ends, owner_goes)
