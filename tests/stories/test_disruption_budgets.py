"""Disruption budgets beside room that is kept: an application's pods may be evicted as before.

A budget with `maxUnavailable` or a share asks the controller of each pod that it selects how many
there should be. A guardian may carry the labels of the application that it is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.stories.reservations import EmbeddedReservations, RealReservations, reservation
from tests.stories.things import NAMESPACE, Json, hold, workload
from tests.stories.world import World

APP = "shop"
SPECS: tuple[Json, ...] = (
    {"maxUnavailable": 1},
    {"maxUnavailable": "50%"},
    {"minAvailable": "50%"},
    {"minAvailable": 1},
)


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    here.add_node("a")
    here.add_node("b")
    here.start_operator()
    yield here
    here.close()


def budget(**spec: Any) -> Json:
    selector = {"matchLabels": {"app": APP}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": APP, "namespace": NAMESPACE},
        "spec": {"selector": selector, **spec},
    }


def labelled(kind: str, name: str = "r") -> Json:
    """Room whose template carries the labels of the application."""
    made = hold(name, app=APP) if kind == "Hold" else reservation(name, app=APP)
    made["spec"]["template"]["metadata"] = {"labels": {"app": APP}}
    return made


def pods_of_the_app(world: World) -> list[str]:
    """The application's own pods that are ready."""
    return [
        item["metadata"]["name"]
        for item in world.all("Pod")
        if "headroom.dev/role" not in item["metadata"]["labels"]
        and any(
            each["type"] == "Ready" and each["status"] == "True"
            for each in item.get("status", {}).get("conditions", ())
        )
    ]


def until_stands(world: World, app: int = 2) -> None:
    world.until(
        "the application and the guardian run",
        lambda: (
            len(pods_of_the_app(world)) == app
            and [item["status"].get("phase") for item in world.ours("guardian")] == ["Running"]
        ),
    )


def allows(world: World) -> int:
    return int(world.status(APP, "PodDisruptionBudget").get("disruptionsAllowed", 0))


def until_one_may_go(world: World) -> None:
    """The budget lets one pod go.

    A controller manager looks every 30 s which kinds there are, and at a budget only when it or a
    pod has changed: so that a plane which has just begun gets there, the budget is changed.
    """
    looks = count()

    def so() -> bool:
        if next(looks) % 50 == 49:
            changed = {"metadata": {"annotations": {"look": str(next(looks))}}}
            world.patch("PodDisruptionBudget", APP, changed)
        return allows(world) == 1

    world.until("the budget lets one go", so, seconds=90)


@pytest.mark.parametrize("kind", ["Hold", "Reservation"])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_room_with_the_labels_of_an_application_does_not_stop_its_evictions(
    world: World, kind: str, spec: Json
) -> None:
    world.apply(workload("Deployment", APP, replicas=2), labelled(kind))
    until_stands(world)
    world.apply(budget(**spec))
    until_one_may_go(world)
    told = world.status(APP, "PodDisruptionBudget")
    assert told["conditions"][0]["reason"] == "SufficientPods"
    first, second = pods_of_the_app(world)
    assert world.evict(first)
    world.until(
        "it is replaced, and the other one may go next",
        lambda: first not in pods_of_the_app(world) and allows(world) == 1,
    )
    assert world.evict(second)


def controller_of(item: Json) -> str:
    owners = item["metadata"].get("ownerReferences", ())
    return next((each["kind"] for each in owners if each.get("controller")), "")


def test_a_drain_moves_the_guardian_itself_while_the_application_is_well(world: World) -> None:
    world.apply(workload("Deployment", APP, replicas=2), labelled("Hold"))
    world.apply(budget(maxUnavailable=1))
    until_stands(world)
    until_one_may_go(world)
    (guardian,) = world.ours("guardian")
    there = guardian["spec"]["nodeName"]
    world.patch("Node", there, {"spec": {"unschedulable": True}})
    assert world.evict(guardian["metadata"]["name"])
    world.until(
        "held on the other node",
        lambda: (
            [item["spec"].get("nodeName") for item in world.ours("guardian")]
            == [{"a": "b", "b": "a"}[there]]
        ),
    )
    world.patch("Node", there, {"spec": {"unschedulable": None}})
    world.until("the budget is as it was", lambda: allows(world) == 1)


def test_deleting_a_hold_removes_its_guardian_while_the_operator_is_away(world: World) -> None:
    world.apply(labelled("Hold"))
    until_stands(world, app=0)
    world.kill_operator()
    world.delete("Hold", "r")
    world.until("the guardian is gone", lambda: not world.ours("guardian"))


@pytest.mark.parametrize("kind", ["ReplicaSet", "DaemonSet"])
def test_no_workload_adopts_a_guardian_and_a_new_operator_finds_it(world: World, kind: str) -> None:
    size = {"replicas": 2} if kind == "ReplicaSet" else {}
    world.apply(labelled("Hold"))
    until_stands(world, app=0)
    (before,) = world.ours("guardian")
    world.kill_operator()
    world.apply(workload(kind, APP, cpu="500m", **size))
    world.until("the workload has its own pods", lambda: len(pods_of_the_app(world)) == 2)
    world.start_operator()
    world.apply(labelled("Hold", "second"))
    world.until("both are held", lambda: len(world.ours("guardian")) == 2)
    world.until_held("r", "second")
    assert [controller_of(item) for item in world.ours("guardian")] == ["Hold", "Hold"]
    assert before["metadata"]["uid"] in [item["metadata"]["uid"] for item in world.ours("guardian")]
