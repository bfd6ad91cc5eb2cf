"""Pods of manifests that know nothing of us: the annotation alone brings them to their ticket."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.korder.things import order, phases, ticket, until_phases
from tests.stories.real import RealWorld
from tests.stories.things import Json, pod, workload
from tests.stories.world import World


def plain(name: str, **annotations: str) -> Json:
    """A pod as korder's users write it."""
    told = {f"korder.dev/{key.replace('_', '-')}": text for key, text in annotations.items()}
    return pod(name, annotations=told)


def until_indexed(world: World) -> None:
    """The operator has said which pods are to wait for it."""
    world.until("the namespace has its index", lambda: bool(world.all("ClaimIndex")))
    if isinstance(world, RealWorld):  # An API server takes a while to know a new policy.
        asks = plain("probe", ticket_request="name:solo")
        world.until("pods that ask are gated", lambda: bool(gates(judged(world, asks))))


def judged(world: RealWorld, thing: Json) -> Json:
    """What the API server would make of a pod; it is not kept."""
    return world.plane.api.create("/api/v1/namespaces/default/pods?dryRun=All", thing)


def gates(found: Json) -> list[str]:
    return [each["name"] for each in found["spec"].get("schedulingGates", ())]


def test_the_annotation_alone_is_enough_to_get_a_ticket(world: World) -> None:
    world.add_node("a", cpu=1)
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    until_indexed(world)
    world.apply(plain("p", ticket_request="name:solo"))
    world.until_runs("p", on="a")
    until_phases(world, solo="Claimed")
    assert world.status("solo", "Ticket")["claimedPod"] == "default/p"


def test_a_pod_that_asks_for_nothing_is_not_made_to_wait(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    until_indexed(world)
    world.apply(pod("p"))
    assert gates(world.get("Pod", "p") or {}) == []
    world.until_runs("p")
    assert phases(world) == {"solo": "Ready"}


def test_pods_of_a_deployment_come_by_the_aliases_of_korders_examples(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(order(replicas=2, refreshPolicy="Never"))
    until_phases(world, web_0="Ready", web_1="Ready")
    until_indexed(world)
    front = workload("Deployment", "front", replicas=2)
    annotations = {"korder.dev/required": "true", "korder.dev/order": "web"}
    front["spec"]["template"]["metadata"]["annotations"] = annotations
    world.apply(front)
    until_phases(world, web_0="Claimed", web_1="Claimed")


def test_nobody_waits_for_an_operator_that_is_gone(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(ticket())
    until_phases(embedded, solo="Ready")
    embedded.kill_operator()
    embedded.pass_time(60)
    embedded.apply(plain("p", ticket_request="solo"))
    embedded.until_runs("p")
    assert phases(embedded) == {"solo": "Ready"}


@pytest.mark.e2e
@pytest.mark.parametrize("world", ["real"], indirect=True)
def test_a_dry_run_claims_nothing(world: RealWorld) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(ticket())
    until_phases(world, solo="Ready")
    until_indexed(world)
    assert gates(judged(world, plain("p", ticket_request="solo"))) == ["headroom.dev/claim"]
    world.pass_time(2)
    assert phases(world) == {"solo": "Ready"}
