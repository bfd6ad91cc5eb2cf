"""A size that keeps a promise: it grows with those who come, is remembered, and is given back."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import Json, headroom, pod
from tests.stories.world import World

NAME = "room"
BOOT_S = 60


def adaptive(**promise: Any) -> Json:
    size = {"adaptive": {"startWithin": "5s", "ratio": 0.9, **promise}}
    return headroom(NAME, cpu=1, size=size)


def owner(number: int) -> Json:
    return pod(f"owner-{number}", cpu=1, app="web", ours=True)


def has_node(world: World, name: str) -> bool:
    return bool(world.node_of(name))


def owners_told(world: World) -> int:
    day = world.status(NAME).get("promise", {}).get("lastDay", {})
    return int(day.get("owners", 0))


def owners_recorded(world: World) -> int:
    """How many owners the record speaks of."""
    record = str(world.status(NAME).get("promise", {}).get("record", ""))
    lines = dict(line.partition(": ")[::2] for line in record.splitlines())
    return int(float(lines.get("pods", "0")))


def test_an_operator_that_is_killed_goes_on_with_what_was_learnt(world: World) -> None:
    world.add_node("a", cpu=32)
    world.start_operator()
    world.apply(adaptive())
    world.until("one slot to begin with", lambda: len(world.held(NAME)) >= 1, 60)
    for number in range(6):
        world.apply(owner(number))
        world.until("the owner has a node", partial(has_node, world, f"owner-{number}"), 60)
    world.until("more slots than at first", lambda: len(world.held(NAME)) >= 2, 90)
    world.until("it is recorded", lambda: owners_recorded(world) >= 3, 90)
    world.kill_operator()
    recorded = owners_recorded(world)
    world.start_operator()
    world.apply(owner(6))  # Perhaps before the operator looks: then nobody saw it come.
    world.until("the operator is back", lambda: bool(world.node_of("owner-6")), 60)
    world.apply(owner(7))
    world.until("the count goes on", lambda: owners_told(world) >= recorded + 1, 90)
    assert world.condition_of(NAME, "PromiseKept", of="Headroom")["reason"] != "RecordLost"
    assert len(world.slots(NAME)) >= 2


class Cloud:
    """Buys a machine for pods that find no room; it is there one boot later."""

    def __init__(self, world: World, boot: int = BOOT_S) -> None:
        self._world = world
        self._boot = boot
        self._count = 0
        self._ready_in: list[int] = []

    def look(self, seconds: int) -> None:
        self._ready_in = [left - seconds for left in self._ready_in]
        while self._ready_in and self._ready_in[0] <= 0:
            del self._ready_in[0]
            self._count += 1
            self._world.add_node(f"bought-{self._count}", cpu=4)
        pods = [each for each in self._world.all("Pod") if not each["spec"].get("nodeName")]
        if len(pods) > 4 * len(self._ready_in):
            self._ready_in.append(self._boot)


def come(world: World, cloud: Cloud, numbers: range, seconds_between: int) -> int:
    """Let owners come one by one; return the most slots that were held meanwhile."""
    most = 0
    for number in numbers:
        world.apply(owner(number))
        world.pass_time(seconds_between)
        cloud.look(seconds_between)
        most = max(most, len(world.held(NAME)))
    return most


def all_have_nodes(world: World, cloud: Cloud, numbers: range) -> bool:
    cloud.look(1)
    return all(world.node_of(f"owner-{number}") for number in numbers)


def test_a_load_that_rises_and_falls_is_met_across_boots_and_a_killed_operator(
    world: World,
) -> None:
    cloud = Cloud(world, boot=5)
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(adaptive(startWithin="3s", releaseAfter="10s"))
    world.until("one slot to begin with", lambda: len(world.held(NAME)) >= 1, 60)
    few = come(world, cloud, range(3), 5)
    many = come(world, cloud, range(3, 18), 2)
    assert many > few
    world.until("it is recorded", lambda: owners_recorded(world) >= 3, 120)
    recorded, stood = owners_recorded(world), set(world.slots(NAME))
    world.kill_operator()
    world.pass_time(2)
    assert stood & set(world.slots(NAME)), "slots stand without an operator"
    world.start_operator()
    most = max(many, come(world, cloud, range(18, 30), 2))
    world.until("everybody was served", partial(all_have_nodes, world, cloud, range(30)), 120)
    world.until("it counts on", lambda: owners_told(world) > recorded, 120)
    assert world.condition_of(NAME, "PromiseKept", of="Headroom")["reason"] != "RecordLost"
    # How soon is the machine's affair; that most found a slot is ours.
    assert sum(bool(world.claim_of(f"owner-{number}")) for number in range(30)) >= 20
    world.until("it gives back", lambda: 1 <= len(world.slots(NAME)) < most, 400)


@pytest.mark.slow
def test_a_rising_and_falling_load_is_met_across_the_boot_of_machines(
    embedded: EmbeddedWorld,
) -> None:
    world, cloud, came = embedded, Cloud(embedded), 0
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(adaptive())
    sizes = []
    for seconds_between in (60, 30, 10, 10):  # Each for ten minutes.
        for _ in range(600 // seconds_between):
            world.apply(owner(came))
            came += 1
            for _ in range(seconds_between // 10):
                world.pass_time(10)
                cloud.look(10)
        sizes.append(len(world.held(NAME)))
    assert max(sizes) > sizes[0] >= 1
    world.kill_operator()
    world.start_operator()
    for _ in range(12):
        world.pass_time(10)
        cloud.look(10)
    hour = world.status(NAME)["promise"]["lastHour"]
    assert hour["owners"] >= 100
    assert hour["ratio"] >= 0.9
    world.pass_time(2 * 3600)
    assert 1 <= len(world.held(NAME)) < max(sizes)
