"""A learnt size knows who will come: suspended Jobs, autoscalers, and workloads nobody copies."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.stories.things import NAMESPACE, Json, headroom, pod, workload
from tests.stories.world import World

NAME = "room"
PATIENCE = 120


def adaptive(**spec: Any) -> Json:
    size = {"adaptive": {"startWithin": "5s", "ratio": 0.9, **spec.pop("promise", {})}}
    return headroom(NAME, cpu=1, size=size, **spec)


def job(name: str, pods: int, **spec: Any) -> Json:
    """A Job whose pods are labelled with its name."""
    one = pod("x", cpu=1, app=name, ours=True)["spec"]
    one.pop("terminationGracePeriodSeconds")
    one["restartPolicy"] = "Never"
    template = {"metadata": {"labels": {"app": name}}, "spec": one}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"parallelism": pods, "completions": pods, "template": template, **spec},
    }


def autoscaler(name: str, most: int) -> Json:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": most},
    }


def held(world: World, count: int) -> bool:
    return len(world.held(NAME)) == count


def decided_by(world: World) -> str:
    return str(world.status(NAME).get("promise", {}).get("decidedBy", ""))


def pods_of(world: World, app: str) -> list[Json]:
    return [
        each for each in world.all("Pod") if each["metadata"].get("labels", {}).get("app") == app
    ]


def test_a_suspended_job_has_its_slots_before_it_is_resumed(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(job("web", 4, suspend=True), adaptive())
    world.until("a slot for each pod", partial(held, world, 4), PATIENCE)
    world.until("known demand is why", lambda: decided_by(world) == "KnownDemand", PATIENCE)
    world.patch("Job", "web", {"spec": {"suspend": False}})

    def all_run() -> bool:
        pods = pods_of(world, "web")
        return len(pods) == 4 and all(each["spec"].get("nodeName") for each in pods)

    world.until("its pods run", all_run, PATIENCE)
    claims = [each["metadata"].get("annotations", {}) for each in pods_of(world, "web")]
    assert all("headroom.dev/claimed" in each for each in claims)
    world.until("what came is no longer known to come", lambda: decided_by(world) != "KnownDemand")


def test_a_suspended_job_of_others_is_nobodys_demand(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(job("other", 4, suspend=True), adaptive())
    world.until("one slot to begin with", partial(held, world, 1), PATIENCE)
    world.apply(job("web", 2, suspend=True))
    world.until("slots for the owners alone", partial(held, world, 2), PATIENCE)


def test_what_an_autoscaler_wants_is_held_before_the_replicas_are_written(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(workload("Deployment", "web", replicas=1), adaptive(), autoscaler("web", 6))
    world.until("one slot to begin with", lambda: len(world.held(NAME)) >= 1, PATIENCE)
    world.set_status("HorizontalPodAutoscaler", "web", {"currentReplicas": 1, "desiredReplicas": 5})
    world.until("a slot for each pod to come", partial(held, world, 4), PATIENCE)
    world.set_status("HorizontalPodAutoscaler", "web", {"currentReplicas": 1, "desiredReplicas": 1})
    world.until("what nobody wants is given back", lambda: len(world.held(NAME)) < 4, PATIENCE)


def test_known_demand_keeps_to_the_upper_bound(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(job("web", 9, suspend=True), adaptive(promise={"max": 3}))
    world.until("as many as allowed", partial(held, world, 3), PATIENCE)
    world.until("the bound is why", lambda: decided_by(world) == "Max", PATIENCE)
    world.delete("Job", "web")
    world.until("they are given back", lambda: len(world.held(NAME)) <= 1, 2 * PATIENCE)
