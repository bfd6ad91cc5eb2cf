"""Placeholders ahead of demand: those of the flags, and those that people deploy themselves."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.dialects.proactive.objects import class_object, headroom_object
from headroom.dialects.proactive.options import Options
from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import NAMESPACE, Json, headroom, pod, priority_class, workload
from tests.stories.world import World

LABEL = "karpenter.azure.com/proactive-scaleup"
NAME = "proactive-scaleup"


def switched_on(**flags: Any) -> Json:
    return headroom_object(Options(enabled=True, **flags), NAMESPACE)


def placeholders(world: World) -> list[Json]:
    return [
        each
        for each in world.all("Pod")
        if (each["metadata"].get("labels") or {}).get(LABEL) == "placeholder"
        and "deletionTimestamp" not in each["metadata"]
    ]


def deployment_of_placeholders(replicas: int = 4) -> Json:
    """A Deployment as the proposal's examples have it."""
    made = workload("Deployment", "karpenter-placeholders", cpu="500m", replicas=replicas)
    template = made["spec"]["template"]
    template["metadata"]["labels"][LABEL] = "placeholder"
    template["metadata"]["annotations"] = {f"{LABEL}-pod": "true"}
    template["spec"]["priorityClassName"] = class_object()["metadata"]["name"]
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    return made


def test_placeholders_follow_the_load_and_go_when_it_is_switched_off(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(switched_on(threshold=0.5), pod("real", cpu=1))
    world.until("as much is held as is used", lambda: len(placeholders(world)) == 2)
    world.until("all have a node", lambda: len(world.held(NAME)) == 2)
    assert {each["spec"]["priority"] for each in placeholders(world)} == {-1000}
    world.delete("Headroom", NAME)
    world.until("every placeholder goes", lambda: not placeholders(world))


@pytest.mark.every_version
def test_a_pod_of_ordinary_priority_takes_the_room_and_it_is_refilled(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(switched_on(threshold=0.5), pod("real", cpu=1))
    world.until("the node is full", lambda: len(world.held(NAME)) == 2)
    world.apply(pod("urgent", cpu=1))
    world.until_runs("urgent", on="a")
    world.until("more is asked for", lambda: len(placeholders(world)) == 4)
    world.add_node("b", cpu=2)
    world.until("the buffer is full again", lambda: len(world.held(NAME)) == 4, seconds=60)


def test_limits_are_for_real_pods_and_placeholders_together(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(*(pod(f"p{i}", cpu=2) for i in range(3)))
    embedded.apply(switched_on(threshold=0.5, pod_limit=10))
    embedded.until("seven", lambda: len(placeholders(embedded)) == 7)
    embedded.pass_time(60)
    assert len(placeholders(embedded)) == 7


def test_pods_that_come_at_once_are_not_counted_twice(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(switched_on(threshold=1.0))
    embedded.apply(workload("Deployment", "web", cpu="500m", replicas=5))
    embedded.pass_time(20)
    assert not placeholders(embedded)


def test_a_gated_pod_of_a_workload_counts_as_present(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    shut = {"schedulingGates": [{"name": "example.com/later"}]}
    world.apply(workload("Deployment", "web", cpu=1, replicas=3, pods=shut))
    world.until(
        "its pods are there, behind their gate",
        lambda: world.status("web", "Deployment").get("replicas") == 3,
    )
    world.apply(switched_on(threshold=0.5), pod("real", cpu=1))
    world.until("as much is held as is used", lambda: len(world.held(NAME)) == 2)
    world.pass_time(5)
    assert len(placeholders(world)) == 2  # The three are not about to come once more.


def test_placeholders_that_people_deploy_work_as_they_are(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(class_object(), deployment_of_placeholders(4))

    def held() -> int:
        return sum(bool(each["spec"].get("nodeName")) for each in placeholders(world))

    world.until("the node is full of them", lambda: held() == 4)
    world.apply(pod("urgent", cpu=1))
    world.until_runs("urgent", on="a")
    world.until("two of them wait", lambda: len(placeholders(world)) == 4 and held() == 2)
    assert not world.ours("guardian")


def test_placeholders_that_others_made_are_not_use(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    other = pod("other", cpu=3, priorityClassName=class_object()["metadata"]["name"])
    other["metadata"]["labels"] = {LABEL: "placeholder"}
    embedded.apply(other, switched_on(threshold=0.5), pod("first", cpu=1))
    embedded.until("as much as the other", lambda: len(embedded.held(NAME)) == 2)
    embedded.pass_time(60)
    assert len(embedded.held(NAME)) == 2


def test_no_annotation_of_a_tenant_makes_a_guardian_preempt(world: World) -> None:
    """Neither on the object that the flags would make nor on any other of the same label."""
    gold: Json = {**priority_class("gold", 1000), "preemptionPolicy": "PreemptLowerPriority"}
    world.add_node("a", cpu=2)
    world.apply(gold, pod("victim", cpu=2))
    world.until_runs("victim", on="a")
    world.start_operator()
    for name in (NAME, "mine"):
        made = headroom(name, cpu=1, replicas=1, mode="Preemptible")
        made["metadata"]["labels"] = {LABEL: "placeholder"}
        made["metadata"]["annotations"] = {"headroom.dev/priority-class": "gold"}
        world.apply(made)
    world.until("guardians wait", lambda: all(world.slots(name) for name in (NAME, "mine")))
    world.pass_time(3)
    assert world.running("victim")
    told = {each["spec"]["preemptionPolicy"] for each in world.ours("guardian")}
    priorities = {each["spec"]["priority"] for each in world.ours("guardian")}
    assert (told, max(priorities) < 0) == ({"Never"}, True)
