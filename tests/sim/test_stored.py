"""Stored objects are read once, whoever asks, and what was read is what the object says."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from headroom.sim.api.decoder import changed_pod, pod_of
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Ref
from headroom.sim.world import SimWorld
from headroom.wire.objects.pods import pod_from
from headroom.wire.objects.podsagain import pod_again
from headroom.wire.yamls import dump
from tests.sim.things import node, pod


def test_every_listener_gets_the_same_value(world: SimWorld) -> None:
    seen: list[ObjectChange] = []
    world.store.listen("Pod", seen.append)
    world.apply(node("a"))
    world.apply(pod("web"))
    world.run_for(5)
    assert [change.verb for change in seen] == [Verb.ADDED, Verb.MODIFIED, Verb.MODIFIED]
    for change in seen:
        assert changed_pod(change) is changed_pod(change)
        assert pod_of(change.obj) is pod_of(change.obj)
        assert pod_of(change.obj) == pod_from(json.loads(json.dumps(change.obj)))


def test_what_is_deleted_reads_as_its_last_version(world: SimWorld) -> None:
    seen: list[ObjectChange] = []
    world.apply(pod("web"))
    world.store.listen("Pod", seen.append)
    world.run_for(1)
    world.delete("Pod", "default", "web")
    assert seen[-1].verb is Verb.DELETED
    assert seen[-1].thing == pod_from(json.loads(json.dumps(seen[-1].obj)))
    assert seen[-1].thing.version == str(world.store.version)


def test_a_copy_of_a_stored_object_is_plain(world: SimWorld) -> None:
    world.apply(pod("web"))
    world.run_for(1)
    (stored,) = world.list("Pod")
    pod_of(stored)
    made = copy.deepcopy(stored)
    assert type(made) is dict
    assert made == stored
    assert dump(stored) == dump(made)


def test_a_version_reads_the_same_from_the_one_before_as_alone(world: SimWorld) -> None:
    seen: list[ObjectChange] = []
    world.store.listen("Pod", seen.append)
    world.apply(node("a", zone="east"))
    world.apply(pod("web", labels={"app": "web"}))
    world.run_for(5)
    world.patch("Pod", "default", "web", {"metadata": {"labels": {"app": "other"}}})
    world.patch("Pod", "default", "web", {"metadata": {"annotations": {"headroom.dev/x": "y"}}})
    world.server.merge_patch(
        Ref("Pod", "default", "web"),
        {
            "status": {
                "containerStatuses": [
                    {"name": "main", "resources": {"requests": {"cpu": "3"}}},
                ]
            }
        },
        "status",
    )
    world.server.merge_patch(
        Ref("Pod", "default", "web"), {"status": {"containerStatuses": None}}, "status"
    )
    world.delete("Pod", "default", "web")
    world.run_for(60)
    assert len(seen) >= 9
    for change in seen:
        assert changed_pod(change) == pod_from(json.loads(json.dumps(change.obj)))


@pytest.mark.parametrize(
    "status",
    [
        {"phase": "Pending", "conditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "phase": "Pending",
            "nominatedNodeName": "b",
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/1 nodes are available",
                    "lastTransitionTime": "2030-01-01T00:00:00Z",
                }
            ],
        },
        {"phase": "Failed", "reason": "Evicted", "startTime": "2030-01-01T00:00:00Z"},
        {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]},
        {"allocatedResources": {"cpu": "3"}},
        {},
    ],
)
def test_a_glance_at_a_status_finds_what_the_whole_says(status: dict[str, Any]) -> None:
    old = json.loads(json.dumps({**pod("web"), "status": {"phase": "Pending"}}))
    new = {**old, "status": status}
    again = pod_again(pod_from(old), old, new)
    assert again is None or again == pod_from(new)
    speaks_of_room = "allocatedResources" in status or "PodResizePending" in str(status)
    assert (again is None) == speaks_of_room


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"phase": 3}},
        {"status": {"conditions": [{"type": "Ready", "lastTransitionTime": "soon"}]}},
        {"spec": {"containers": [], "nodeName": "a"}},
        {"spec": None},
    ],
)
def test_what_a_glance_does_not_tell_is_read_whole(change: dict[str, Any]) -> None:
    old = {**pod("web"), "status": {"phase": "Pending"}}
    assert pod_again(pod_from(old), old, {**old, **change}) is None


def test_a_plain_pod_is_shown_to_those_who_want_it(world: SimWorld) -> None:
    everybody: list[str] = []
    others: list[str] = []
    world.store.listen("Pod", lambda change: everybody.append(change.ref.name))
    world.store.listen("Pod", lambda change: others.append(change.ref.name), plain=False)
    world.apply(pod("plain"))
    volumes = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    world.apply({**pod("stored"), "spec": {**pod("stored")["spec"], **volumes}})
    assert (everybody, others) == (["plain", "stored"], ["stored"])


def test_a_pod_that_loses_its_owner_is_not_plain_yet(world: SimWorld) -> None:
    seen: list[Verb] = []
    world.store.listen("Pod", lambda change: seen.append(change.verb), plain=False)
    world.apply(pod("web"))
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1"}
    for owners in ([owner], None):
        world.patch("Pod", "default", "web", {"metadata": {"ownerReferences": owners}})
    assert seen == [Verb.MODIFIED, Verb.MODIFIED]
    world.patch("Pod", "default", "web", {"metadata": {"labels": {"app": "web"}}})
    assert len(seen) == 2


def test_a_binding_that_adds_labels_or_annotations_reads_as_the_whole(world: SimWorld) -> None:
    seen: list[ObjectChange] = []
    world.store.listen("Pod", seen.append)
    world.apply(node("a", labels={"topology.kubernetes.io/zone": "east"}))
    world.apply(pod("web", labels={"app": "web"}))
    world.run_for(5)
    bound = next(change for change in seen if changed_pod(change).node)
    assert changed_pod(bound).labels["topology.kubernetes.io/zone"] == "east"
    for change in seen:
        assert changed_pod(change) == pod_from(json.loads(json.dumps(change.obj)))
