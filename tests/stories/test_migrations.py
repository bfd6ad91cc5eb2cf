"""What Koordinator's descheduler asks of Reservations, done here as its PodMigrationJobs do it.

A job copies a running pod, metadata and all, into a Reservation for the pod's own controller, off
the node that the pod is on. It waits until that is available, evicts the pod, and reads in the
status which pod took its place and where.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stories.reservations import KOORD, PREFIX, EmbeddedReservations, RealReservations
from tests.stories.test_reservations import phase, status, until_available
from tests.stories.things import NAMESPACE, Json, pod, workload
from tests.stories.world import World

APP = "shop"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    yield here
    here.close()


def pods_of_the_app(world: World) -> list[Json]:
    return [
        each
        for each in world.all("Pod")
        if each["metadata"].get("labels", {}).get("app") == APP
        and "headroom.dev/role" not in each["metadata"]["labels"]
        and "deletionTimestamp" not in each["metadata"]
        and each.get("status", {}).get("phase") == "Running"
    ]


def until_runs_alone(world: World) -> Json:
    world.until("one pod runs", lambda: len(pods_of_the_app(world)) == 1)
    return pods_of_the_app(world)[0]


def reservation_of_a_job(running: Json, name: str = "job-1") -> Json:
    """The Reservation that a PodMigrationJob makes for a pod."""
    metadata, spec = dict(running["metadata"]), dict(running["spec"])
    (controller,) = (each for each in metadata["ownerReferences"] if each.get("controller"))
    elsewhere = {"key": "metadata.name", "operator": "NotIn", "values": [spec.pop("nodeName")]}
    terms = [{"matchFields": [elsewhere]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    template = {"metadata": metadata, "spec": {**spec, "affinity": {"nodeAffinity": required}}}
    return {
        "apiVersion": f"{PREFIX}/v1alpha1",
        "kind": "Reservation",
        "metadata": {
            "name": name,
            "labels": {
                "app.kubernetes.io/created-by": "koord-descheduler",
                f"{PREFIX}/reservation-order": "1798000000000",
            },
        },
        "spec": {
            "template": template,
            "owners": [{"controller": {**controller, "namespace": NAMESPACE}}],
            "allocateOnce": True,
            "ttl": "5m",
        },
    }


def application() -> Json:
    return workload("Deployment", APP, cpu=2, replicas=1, pods={"schedulerName": KOORD})


def test_a_migration_takes_a_pod_to_the_room_that_was_reserved_for_it(world: World) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(application())
    running = until_runs_alone(world)
    world.add_node("b", cpu=2)
    world.apply(reservation_of_a_job(running))
    until_available(world, "job-1")
    told = status(world, "job-1")
    assert told["nodeName"] == "b"
    assert {each["type"]: each["status"] for each in told["conditions"]} == {
        "Scheduled": "True",
        "Ready": "True",
    }
    world.apply(pod("stranger", cpu=2))  # Waits for room on either node.
    assert world.evict(running["metadata"]["name"])
    world.until("it is used up", lambda: phase(world, "job-1") == "Succeeded")
    moved = until_runs_alone(world)
    assert moved["spec"]["nodeName"] == "b"
    (owner,) = status(world, "job-1")["currentOwners"]
    assert (owner["name"], owner["uid"]) == (moved["metadata"]["name"], moved["metadata"]["uid"])
    world.until_runs("stranger", on="a")


def test_a_migration_that_finds_no_room_is_told_so_and_the_pod_stays(world: World) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(application())
    running = until_runs_alone(world)
    world.apply(reservation_of_a_job(running))

    def told() -> tuple[str, str]:
        named = {each["type"]: each for each in status(world, "job-1").get("conditions", ())}
        scheduled = named.get("Scheduled", {})
        return str(scheduled.get("status", "")), str(scheduled.get("reason", ""))

    world.until("it says why", lambda: told() == ("False", "Unschedulable"))
    assert until_runs_alone(world)["metadata"]["uid"] == running["metadata"]["uid"]
