"""`explain` and `plan` of a headroom whose shapes are chosen: the choice, and why."""

from __future__ import annotations

from dataclasses import replace

from headroom.cli.views.headrooms import explain_headroom
from headroom.cli.views.plan_result import planned
from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.headrooms.headrooms import (
    Auto,
    AutoStatus,
    Headroom,
    HeadroomStatus,
    Shape,
    Slot,
    Workload,
    WorkloadRef,
)
from headroom.core.objects import Key, LabelSelector
from headroom.core.policy import Policy
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import NAMESPACE, node
from tests.cli.slot_builder import world
from tests.core.headroom_builder import headroom, shape, web

READY = replace(headroom(Replicas(4)), slot=Slot(auto=Auto(top=2)), owners=(), owners_given=False)
WEB = replace(web(6), uid="web", selector={"app": "web"})
API = replace(
    Workload(WorkloadRef("apps/v1", "Deployment", "api"), NAMESPACE, 2, shape(2)),
    uid="api",
    selector={"app": "api"},
)


def facts(of: Headroom, *things: object) -> list[str]:
    there = world(of, *things)  # type: ignore[arg-type]  # any mixture of things
    told = explain_headroom(there, of, Policy())
    return [each.text for each in told.facts if each.topic == "chosen"]


def test_before_an_operator_chose_explain_says_what_it_would_choose() -> None:
    assert facts(READY, node("a"), WEB, API) == [
        "Deployment/default/web: 3 slots; 0.06 pods expected: 6 wanted",
        "Deployment/default/api: 1 slot; 0.02 pods expected: 2 wanted",
    ]


def test_what_the_operator_chose_counts() -> None:
    chosen = Shape("Deployment", NAMESPACE, "api", 4, 7000, "7 pods expected: 7 to be made")
    status = HeadroomStatus(auto=AutoStatus(2, (chosen,)))
    assert facts(replace(READY, status=status), node("a"), WEB, API) == [
        "Deployment/default/api: 4 slots; 7 pods expected: 7 to be made"
    ]


def test_a_plan_says_what_would_be_chosen_and_holds_slots_of_each_shape() -> None:
    there = world(node("a", cpu=16), WEB, API)
    (found,) = planned(there, [READY])
    assert {place.slot: place.node for place in found.places} == {
        f"Deployment/{NAMESPACE}/web/0": "a",
        f"Deployment/{NAMESPACE}/web/1": "a",
        f"Deployment/{NAMESPACE}/web/2": "a",
        f"Deployment/{NAMESPACE}/api/0": "a",
    }
    assert any("3 slots" in note for note in found.notes)
    assert all(place.hold.owners for place in found.places)


def test_an_autoscaler_with_room_speaks_for_its_workload() -> None:
    scaler = PodAutoscaler(Key(NAMESPACE, "api"), "Deployment", "api", 2, 50)
    there = replace(world(node("a", cpu=16), WEB, API), autoscalers=(scaler,))
    (found,) = planned(there, [replace(READY, slot=Slot(auto=Auto(top=1)))])
    assert {place.slot for place in found.places} == {
        f"Deployment/{NAMESPACE}/api/{number}" for number in range(4)
    }


def test_a_plan_refuses_other_namespaces_without_leave() -> None:
    everywhere = replace(READY, slot=Slot(auto=Auto(namespaces=LabelSelector(()))))
    (found,) = planned(world(node("a"), WEB), [everywhere])
    assert "--allow-cross-namespace-owners" in found.refused
    assert found.blamed == "spec.slot.auto.scope.namespaceSelector"


def test_a_part_of_each_chosen_workload_is_told_as_such() -> None:
    half = replace(READY, size=Percent(50))
    assert half.size.words(half, None) == (
        "50 % of the replicas of each chosen workload, rounded up"
    )
