"""Disruption budgets that select every pod of a namespace, and so our guardians too.

Such a budget asks the controller of each pod how many there should be. Of guardians it is to expect
none, because they are never ready: whatever size a Headroom has, and whatever kind asked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.dialects.capacitybuffer import CAPACITYBUFFER
from headroom.dialects.korder import KORDER
from headroom.wire.kind_codecs import KindCodecs
from tests.stories.korder.things import order, ticket
from tests.stories.speaking import BOTH, world_of
from tests.stories.test_disruption_budgets import (
    APP,
    SPECS,
    allows,
    controller_of,
    pods_of_the_app,
    until_one_may_go,
)
from tests.stories.things import NAMESPACE, Json, headroom, requests, workload
from tests.stories.world import World

CODECS = KindCodecs([KORDER, CAPACITYBUFFER])
SLOTS = headroom("room", cpu="500m", app="burst", replicas=3)
PER_NODE = headroom("room", cpu="500m", app="burst", size={"perNode": {"slots": 1}})
SHARE = headroom("room", app="burst", size={"perNode": {"percent": 25}}, template={})


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world_of(request, CODECS, "story_plane") as here:
        here.add_node("a")
        here.add_node("b")
        here.start_operator()
        yield here


def everything(**spec: Any) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": APP, "namespace": NAMESPACE},
        "spec": {"selector": {}, **spec},
    }


def a_buffer() -> tuple[Json, ...]:
    chunk = {"spec": {"containers": [requests("500m")]}}
    return (
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": "chunk", "namespace": NAMESPACE},
            "template": chunk,
        },
        {
            "apiVersion": "autoscaling.x-k8s.io/v1beta1",
            "kind": "CapacityBuffer",
            "metadata": {"name": "spare", "namespace": NAMESPACE},
            "spec": {"podTemplateRef": {"name": "chunk"}, "replicas": 2},
        },
    )


ROOM = {
    "replicas": ((SLOTS,), 3),
    "per node": ((PER_NODE,), 2),
    "buffer": (a_buffer(), 2),
    "order": ((order("room", cpu="500m", replicas=2),), 2),
    "ticket": ((ticket("room", cpu="500m"),), 1),
}


def guardians(world: World) -> list[Json]:
    return [
        each
        for each in world.ours("guardian")
        if each["status"].get("phase") == "Running" and "deletionTimestamp" not in each["metadata"]
    ]


def until_stand(world: World, count: int, app: int = 2) -> None:
    world.until(
        f"{app} pods of the application and {count} guardians run",
        lambda: len(pods_of_the_app(world)) == app and len(guardians(world)) == count,
    )


@pytest.mark.parametrize("room", list(ROOM))
@pytest.mark.parametrize("spec", SPECS[:3], ids=str)
def test_a_budget_of_everything_lets_the_application_go_beside_held_room(
    world: World, room: str, spec: Json
) -> None:
    things, count = ROOM[room]
    world.apply(workload("Deployment", APP, replicas=2), *things)
    until_stand(world, count)
    world.apply(everything(**spec))
    until_one_may_go(world)
    told = world.status(APP, "PodDisruptionBudget")
    assert (told["expectedPods"], told["currentHealthy"]) == (2, 2)
    first, second = pods_of_the_app(world)
    assert world.evict(first)
    world.until(
        "it is replaced, and the other one may go next",
        lambda: first not in pods_of_the_app(world) and allows(world) == 1,
    )
    assert world.evict(second)


def test_a_drain_moves_slots_that_a_budget_of_everything_selects(world: World) -> None:
    world.apply(workload("Deployment", APP, replicas=2), SLOTS, everything(maxUnavailable=1))
    until_stand(world, 3)
    until_one_may_go(world)
    there = guardians(world)[0]["spec"]["nodeName"]
    world.patch("Node", there, {"spec": {"unschedulable": True}})
    for each in guardians(world):
        if each["spec"]["nodeName"] == there:
            assert controller_of(each) == "SlotSet"  # kubectl drain goes by having one.
            assert world.evict(each["metadata"]["name"])
    other = {"a": "b", "b": "a"}[there]
    world.until(
        "all are held on the other node",
        lambda: [each["spec"]["nodeName"] for each in guardians(world)] == [other] * 3,
    )
    world.patch("Node", there, {"spec": {"unschedulable": None}})


def test_slots_go_with_their_headroom_while_the_operator_is_away(world: World) -> None:
    world.apply(SLOTS)
    until_stand(world, 3, app=0)
    world.kill_operator()
    world.delete("Headroom", "room")
    world.until("guardians and SlotSet are gone", lambda: not left_of(world))


def left_of(world: World) -> list[Json]:
    return [*world.ours("guardian"), *world.all("SlotSet")]


def test_no_replica_set_adopts_a_slot_and_a_new_operator_finds_them(world: World) -> None:
    world.apply(SLOTS)
    until_stand(world, 3, app=0)
    before = {each["metadata"]["uid"] for each in guardians(world)}
    world.kill_operator()
    picky = workload("ReplicaSet", APP, cpu="500m", replicas=2)
    world.apply(picky)
    world.until("the workload has its own pods", lambda: len(pods_of_the_app(world)) == 2)
    world.start_operator()
    world.patch("Headroom", "room", {"spec": {"size": {"replicas": 4}}})
    until_stand(world, 4)
    assert before <= {each["metadata"]["uid"] for each in guardians(world)}
    assert [controller_of(each) for each in guardians(world)] == ["SlotSet"] * 4
    assert len(world.all("SlotSet")) == 1


def test_slots_outlive_a_slot_set_that_somebody_deletes_and_get_another(world: World) -> None:
    world.apply(SLOTS)
    until_stand(world, 3, app=0)
    (made,) = world.all("SlotSet")
    least = [3]
    world.on_look(lambda: least.append(bound(world)))
    world.delete("SlotSet", made["metadata"]["name"])
    world.until("it is made again", lambda: uids(world) not in ([], [made["metadata"]["uid"]]))
    world.until(
        "and has all slots",
        lambda: (
            [controller_uid(each) for each in guardians(world)] == uids(world) * 3
            and len(world.ours("guardian")) == 3
        ),
        seconds=120,
    )
    assert min(least) == 3


def bound(world: World) -> int:
    return sum(bool(each["spec"].get("nodeName")) for each in world.ours("guardian"))


def uids(world: World) -> list[str]:
    return [each["metadata"]["uid"] for each in world.all("SlotSet")]


def controller_uid(item: Json) -> str:
    owners = item["metadata"].get("ownerReferences", ())
    return next((each["uid"] for each in owners if each.get("controller")), "")
