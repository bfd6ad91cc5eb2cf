"""A pod whose spec was admitted before is stored as if admission had read all of it."""

from __future__ import annotations

import pytest

from headroom.core.names import BESIDE_LABEL
from headroom.sim.api.decoder import pod_of
from headroom.sim.api.values import Json, dig
from headroom.sim.errors import ApiError
from headroom.sim.world import SimWorld
from headroom.wire.objects.pods import pod_from
from tests.sim.things import pod, priority_class

ALIKE = ("spec", "status")


def twin(template: Json, name: str, **metadata: object) -> Json:
    """A pod that shares the spec of another as an object."""
    return {**template, "metadata": {**template["metadata"], "name": name, **metadata}}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"schedulingGates": [{"name": "example.com/wait"}]},
        {"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
        {"nodeName": "somewhere"},
        {"terminationGracePeriodSeconds": 5, "nodeSelector": {"zone": "a"}},
    ],
)
def test_a_second_pod_is_stored_like_a_first_one(world: SimWorld, more: Json) -> None:
    first = pod("first", **more)
    world.server.create(first)
    labels = {"app": "web", BESIDE_LABEL: "x"}
    for name, metadata in (("plain", {}), ("labelled", {"labels": labels})):
        made = world.server.create(twin(first, name, **metadata))
        with SimWorld() as fresh:
            alone = fresh.server.create(twin(pod("first", **more), name, **metadata))
        assert {part: made[part] for part in ALIKE} == {part: alone[part] for part in ALIKE}
        assert pod_of(made) == pod_from(made)


def test_its_owner_and_annotations_are_its_own(world: SimWorld) -> None:
    first = pod("first")
    world.server.create(first)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1"}
    notes = {"headroom.dev/wait": "true"}
    made = world.server.create(twin(first, "p", ownerReferences=[owner], annotations=notes))
    value = pod_of(made)
    assert value == pod_from(made)
    assert [each.name for each in value.owners] == ["web"]
    assert value.annotations == notes


def test_a_new_priority_class_and_limit_range_count(world: SimWorld) -> None:
    first = pod("first", cpu="")
    world.server.create(first)
    world.server.create({**priority_class("high", 7), "globalDefault": True})
    assert dig(world.server.create(twin(first, "p")), "spec", "priority") == 7
    limits = [{"type": "Container", "defaultRequest": {"cpu": "3"}}]
    meta = {"name": "limits", "namespace": "default"}
    kind = {"apiVersion": "v1", "kind": "LimitRange"}
    world.server.create({**kind, "metadata": meta, "spec": {"limits": limits}})
    assert pod_of(world.server.create(twin(first, "q"))).requests["cpu"] == 3000
    world.delete("LimitRange", "default", "limits")
    assert pod_of(world.server.create(twin(first, "r"))).requests["cpu"] == 0


def test_a_limit_range_of_another_namespace_does_not(world: SimWorld) -> None:
    world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    limits = [{"type": "Container", "defaultRequest": {"cpu": "3"}}]
    meta = {"name": "limits", "namespace": "other"}
    kind = {"apiVersion": "v1", "kind": "LimitRange"}
    world.server.create({**kind, "metadata": meta, "spec": {"limits": limits}})
    first = pod("first", cpu="")
    world.server.create(first)
    there = world.server.create(twin(first, "first", namespace="other"))
    assert pod_of(there).requests["cpu"] == 3000
    assert pod_of(world.server.create(twin(first, "again"))).requests["cpu"] == 0


def test_wrong_metadata_is_refused_as_ever(world: SimWorld) -> None:
    first = pod("first")
    world.server.create(first)
    refusals = []
    with SimWorld() as fresh:
        for server in (world.server, fresh.server):
            with pytest.raises(ApiError) as refused:
                server.create(twin(first, "Wrong", labels={"a b": "c"}))
            refusals.append(refused.value.message)
    assert refusals[0] == refusals[1]


def test_a_quota_counts_every_pod(world: SimWorld) -> None:
    meta = {"name": "few", "namespace": "default"}
    kind = {"apiVersion": "v1", "kind": "ResourceQuota"}
    world.server.create({**kind, "metadata": meta, "spec": {"hard": {"pods": "2"}}})
    first = pod("first")
    world.server.create(first)
    world.server.create(twin(first, "second"))
    with pytest.raises(ApiError, match="exceeded quota"):
        world.server.create(twin(first, "third"))
