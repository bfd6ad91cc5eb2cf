"""CapacityBuffers: what they hold, what their status says, and what becomes of a burst."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.test_bad_input import refusal
from tests.stories.things import NAMESPACE, Json, pod, requests, workload
from tests.stories.world import World

BUFFER = "CapacityBuffer"


def buffer(name: str = "spare", **spec: Any) -> Json:
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": BUFFER,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


def template(name: str = "chunk", cpu: int = 1) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "template": {
            "metadata": {"labels": {"app": "chunk"}},
            "spec": {"containers": [requests(cpu)]},
        },
    }


CHUNK: Json = {"podTemplateRef": {"name": "chunk"}}
WEB: Json = {"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"}}


def told(world: World, kind: str, name: str = "spare") -> tuple[str, str]:
    condition = world.condition_of(name, kind, of=BUFFER)
    return str(condition.get("status", "")), str(condition.get("reason", ""))


def until_told(world: World, kind: str, *words: str, name: str = "spare") -> None:
    world.until(f"{kind} {words}", lambda: told(world, kind, name) == words)


def guardians(world: World) -> list[Json]:
    return [one for one in world.ours("guardian") if "deletionTimestamp" not in one["metadata"]]


def test_a_buffer_is_held_and_says_so(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(template(), buffer(**CHUNK, replicas=3, limits={"cpu": "2"}))
    until_told(world, "Provisioning", "True", "FitsExistingCapacity")
    assert told(world, "ReadyForProvisioning") == ("True", "Resolved")
    assert told(world, "LimitedByQuotas") == ("False", "ResourceQuotasAllocated")
    status = world.status("spare", BUFFER)
    assert status["replicas"] == 2
    assert status["podTemplateRef"] == {"name": "chunk"}
    assert status["podTemplateGeneration"] == 1
    assert status["provisioningStrategy"] == "buffer.x-k8s.io/active-capacity"
    assert all("app" not in one["metadata"]["labels"] for one in guardians(world))


@pytest.mark.every_version
def test_a_real_pod_takes_a_chunk_and_the_buffer_waits_for_another(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(template(), buffer(**CHUNK, replicas=2))
    until_told(world, "Provisioning", "True", "FitsExistingCapacity")
    world.apply(pod("real", cpu=1))
    world.until_runs("real", on="a")
    until_told(world, "Provisioning", "False", "RequiresNewCapacity")
    world.add_node("b", cpu=2)
    until_told(world, "Provisioning", "True", "FitsExistingCapacity")


def test_a_buffer_follows_its_workload(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=32)
    embedded.start_operator()
    embedded.apply(buffer(**WEB, percentage=20))
    until_told(embedded, "ReadyForProvisioning", "False", "ScalableRefNotFound")
    assert told(embedded, "Provisioning") == ("False", "NotReadyForProvisioning")
    embedded.apply(workload("Deployment", "web", cpu=1, replicas=10))
    embedded.until("two", lambda: len(guardians(embedded)) == 2)
    embedded.scale("Deployment", "web", 20)
    embedded.until("four", lambda: len(guardians(embedded)) == 4)
    assert "podTemplateRef" not in embedded.status("spare", BUFFER)


def test_a_template_may_come_later_and_change(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(buffer(**CHUNK, replicas=2))
    until_told(embedded, "ReadyForProvisioning", "False", "PodTemplateNotFound")
    embedded.apply(template())
    until_told(embedded, "Provisioning", "True", "FitsExistingCapacity")
    embedded.patch("PodTemplate", "chunk", {"template": {"spec": {"containers": [requests(2)]}}})

    def sizes() -> set[str]:
        found = (one["spec"]["containers"][0] for one in guardians(embedded))
        return {one["resources"]["requests"]["cpu"] for one in found}

    embedded.until("chunks are rolled", lambda: sizes() == {"2"}, seconds=60)


def test_fewer_replicas_give_room_back_and_none_is_empty(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(template(), buffer(**CHUNK, replicas=3))
    embedded.until("three", lambda: len(guardians(embedded)) == 3)
    embedded.patch(BUFFER, "spare", {"spec": {"replicas": 1}})
    embedded.until("one", lambda: len(guardians(embedded)) == 1)
    embedded.patch(BUFFER, "spare", {"spec": {"replicas": 0}})
    until_told(embedded, "Provisioning", "False", "BufferEmpty")
    embedded.until("none", lambda: not guardians(embedded))


def test_a_buffer_of_another_strategy_is_not_even_answered(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    other = buffer(**CHUNK, replicas=2, provisioningStrategy="buffer.gke.io/standby-capacity")
    embedded.apply(template(), other)
    embedded.pass_time(10)
    assert not guardians(embedded)
    assert not embedded.status("spare", BUFFER)


def test_a_buffer_that_an_autoscaler_answers_is_left_to_it(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(template(), buffer(**CHUNK, replicas=2))
    embedded.until("two", lambda: len(guardians(embedded)) == 2)
    theirs = [{"manager": "karpenter", "subresource": "status", "operation": "Update"}]
    embedded.patch(BUFFER, "spare", {"metadata": {"managedFields": theirs}})
    embedded.until("we stand down", lambda: not guardians(embedded))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"replicas": 2}, "has neither podTemplateRef nor scalableRef"),
        (WEB, "says no size"),
        ({**CHUNK, "limits": {"nvidia.com/gpu": "2"}}, "they bound nothing"),
        (
            {"scalableRef": {"kind": "Widget", "name": "w", "apiGroup": "x.com"}, "replicas": 1},
            "Widget of x.com",
        ),
    ],
    ids=["no-ref", "no-size", "foreign-limit", "foreign-kind"],
)
def test_what_makes_no_sense_is_told_in_the_status(world: World, spec: Json, words: str) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(template(), workload("Deployment", "web", replicas=1), buffer(**spec))
    until_told(world, "ReadyForProvisioning", "False", "ResolutionFailed")
    message = world.condition_of("spare", "ReadyForProvisioning", of=BUFFER)["message"]
    assert words in message
    assert not guardians(world)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({**CHUNK, **WEB, "replicas": 1}, "not both"),
        (CHUNK, "replicas or limits"),
        ({**CHUNK, "replicas": -1}, "spec.replicas"),
    ],
    ids=["both-refs", "template-without-size", "negative"],
)
def test_what_the_schema_can_judge_never_gets_in(world: World, spec: Json, words: str) -> None:
    assert words in refusal(world, buffer(**spec))
    assert world.get(BUFFER, "spare") is None


def quota(cpu: int) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": NAMESPACE},
        "spec": {"hard": {"cpu": str(cpu)}},
    }


def replicas(world: World, *names: str) -> list[int]:
    return [int(world.status(name, BUFFER).get("replicas", -1)) for name in names]


def test_older_buffers_come_first_where_a_quota_is_short(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(quota(5), template(), buffer("b1", **CHUNK, replicas=2))
    world.until("the first has all", lambda: replicas(world, "b1") == [2])
    world.apply(buffer("b2", **CHUNK, replicas=4))
    world.until("the second what is left", lambda: replicas(world, "b1", "b2") == [2, 3])
    until_told(world, "LimitedByQuotas", "True", "ResourceQuotasAllocated", name="b2")
    assert told(world, "LimitedByQuotas", "b1") == ("False", "ResourceQuotasAllocated")
    until_told(world, "Provisioning", "True", "FitsExistingCapacity", name="b2")
    world.patch(BUFFER, "b1", {"spec": {"replicas": 4}})
    world.until("the second gives way", lambda: replicas(world, "b1", "b2") == [4, 1])
    until_told(world, "Provisioning", "True", "FitsExistingCapacity", name="b1")


def test_what_others_use_of_a_quota_is_theirs(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(quota(10), pod("other", cpu=8), template())
    embedded.pass_time(1)
    embedded.apply(buffer(**CHUNK, replicas=5))
    embedded.until("two are left", lambda: replicas(embedded, "spare") == [2])
    embedded.delete("ResourceQuota", "team")
    embedded.until("all", lambda: replicas(embedded, "spare") == [5])


def test_larger_limits_alone_bring_more_chunks(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(template(), buffer(**CHUNK, limits={"cpu": "2"}))
    embedded.until("two", lambda: replicas(embedded, "spare") == [2])
    embedded.patch(BUFFER, "spare", {"spec": {"limits": {"cpu": "5"}}})
    embedded.until("five", lambda: replicas(embedded, "spare") == [5])
    embedded.until("all of them", lambda: len(guardians(embedded)) == 5)


def test_a_buffer_that_turns_from_a_template_to_a_workload_forgets_the_template(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(template(), workload("Deployment", "web", cpu=2, replicas=1))
    embedded.apply(buffer(**CHUNK, replicas=1))
    until_told(embedded, "Provisioning", "True", "FitsExistingCapacity")
    embedded.patch(BUFFER, "spare", {"spec": {"podTemplateRef": None, **WEB}})
    embedded.until("it says so", lambda: "podTemplateRef" not in embedded.status("spare", BUFFER))
    assert "podTemplateGeneration" not in embedded.status("spare", BUFFER)


def test_buffers_that_come_and_go_leave_nothing(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    embedded.apply(template())
    for _ in range(5):
        embedded.apply(buffer(**CHUNK, replicas=3))
        embedded.pass_time(2)
        embedded.delete(BUFFER, "spare")
        embedded.pass_time(2)
    embedded.until("nothing is left", lambda: not guardians(embedded))


def test_while_a_chunk_is_renewed_the_limits_hold(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=16)
    embedded.start_operator()
    embedded.apply(template(), buffer(**CHUNK, limits={"cpu": "4"}))
    embedded.until("four", lambda: len(guardians(embedded)) == 4)
    most = 0

    def look() -> None:
        nonlocal most
        found = (one["spec"]["containers"][0]["resources"] for one in guardians(embedded))
        most = max(most, sum(int(one["requests"]["cpu"]) for one in found))

    embedded.on_look(look)
    embedded.patch("PodTemplate", "chunk", {"template": {"spec": {"containers": [requests(2)]}}})
    embedded.pass_time(60)
    assert len(guardians(embedded)) == 2
    assert most <= 4


def test_buffers_of_different_shapes_are_held_side_by_side(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a", cpu=4)
    embedded.start_operator()
    embedded.apply(template(), template("large", cpu=3))
    embedded.apply(buffer("small", **CHUNK, replicas=2))
    embedded.apply(buffer("big", podTemplateRef={"name": "large"}, replicas=1))
    until_told(embedded, "Provisioning", "True", "FitsExistingCapacity", name="small")
    until_told(embedded, "Provisioning", "False", "RequiresNewCapacity", name="big")
    embedded.add_node("b", cpu=4)
    until_told(embedded, "Provisioning", "True", "FitsExistingCapacity", name="big")
    assert told(embedded, "Provisioning", "small") == ("True", "FitsExistingCapacity")
