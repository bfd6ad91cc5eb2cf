"""Pods, nodes and namespaces: what is read, what is shared, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headroom.core.objects import (
    ANYWHERE,
    HostPort,
    Key,
    LabelSelector,
    NodeTerm,
    OwnerReference,
    Requirement,
    Taint,
    Toleration,
)
from headroom.core.resources import Resources
from headroom.wire.errors import DecodeError
from headroom.wire.objects.nodes import namespace_from, node_from
from headroom.wire.objects.pods import decode_pod, pod_from
from tests.wire.objects import container, pod_json


def test_a_pod_knows_who_it_is() -> None:
    pod = pod_from(
        pod_json(
            labels={"app": "web"},
            resourceVersion="42",
            creationTimestamp="2027-01-04T07:55:00Z",
            ownerReferences=[
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "web",
                    "uid": "r",
                    "controller": True,
                }
            ],
        )
    )
    assert pod.key == Key("shop", "web-0")
    assert (pod.uid, pod.version) == ("uid-web-0", "42")
    assert pod.labels == {"app": "web"}
    assert pod.owners == (OwnerReference("apps/v1", "ReplicaSet", "web", "r", True),)
    assert pod.created == datetime(2027, 1, 4, 7, 55, tzinfo=UTC)


def test_a_pod_asks_for_what_its_containers_ask_for() -> None:
    spec = {"containers": [container(cpu="500m", memory="1Gi"), container("b", cpu="1")]}
    assert pod_from(pod_json(spec=spec)).requests == Resources({"cpu": 1500, "memory": 2**30})


def test_a_pod_knows_its_place_in_scheduling() -> None:
    thing = pod_json(
        spec={
            "nodeName": "a",
            "schedulerName": "headroom-scheduler",
            "priority": 7,
            "preemptionPolicy": "Never",
            "schedulingGates": [{"name": "x"}, {"name": "headroom.dev/claim"}],
            "terminationGracePeriodSeconds": 0,
        }
    )
    thing["status"] = {
        "phase": "Failed",
        "reason": "OutOfcpu",
        "nominatedNodeName": "b",
        "startTime": "2027-01-04T08:00:00Z",
    }
    pod = pod_from(thing)
    assert (pod.node, pod.nominated, pod.scheduler) == ("a", "b", "headroom-scheduler")
    assert (pod.priority, pod.preempts, pod.grace_seconds) == (7, False, 0)
    assert pod.gates == ("x", "headroom.dev/claim")
    assert (pod.phase, pod.reason) == ("Failed", "OutOfcpu")
    assert pod.started == datetime(2027, 1, 4, 8, tzinfo=UTC)


def test_a_pod_that_fits_nowhere_says_since_when_and_why() -> None:
    thing = pod_json()
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    times = {"lastTransitionTime": "2027-01-04T08:00:00Z", "message": "0/3 nodes are available"}
    thing["status"]["conditions"] = [{"type": "Ready", "status": "False"}, {**condition, **times}]
    pod = pod_from(thing)
    assert pod.unschedulable_since == datetime(2027, 1, 4, 8, tzinfo=UTC)
    assert pod.unschedulable_message == "0/3 nodes are available"


def test_a_gated_pod_is_not_called_unschedulable() -> None:
    thing = pod_json()
    gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "x"}
    thing["status"]["conditions"] = [gated]
    pod = pod_from(thing)
    assert (pod.unschedulable_since, pod.unschedulable_message) == (None, "")


def test_a_pod_that_makes_room_for_another_says_so() -> None:
    thing = pod_json()
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    thing["status"]["conditions"] = [target]
    assert pod_from(thing).preempted
    thing["status"]["conditions"] = [{**target, "reason": "EvictionByEvictionAPI"}]
    assert not pod_from(thing).preempted


def test_only_annotations_that_somebody_reads_are_kept() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": '{"headroom.dev/x": 1}',
        "headroom.dev/claimed": "Hold/ml/nightly",
        "scheduling.koordinator.sh/reservation-affinity": "{}",
    }
    kept = pod_from(pod_json(annotations=annotations)).annotations
    assert kept == {"headroom.dev/claimed": "Hold/ml/nightly"}


def test_claims_are_listed_and_devices_left_to_others_by_name() -> None:
    spec = {
        "volumes": [
            {"name": "config", "configMap": {"name": "c"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}],
    }
    found = pod_from(pod_json(spec=spec))
    own = f"{found.key.name}-scratch"
    assert (found.claims, found.own_claims) == (("data-0", own), (own,))
    assert found.unsupported == ("device claim gpu",)
    assert pod_from(pod_json(spec={**spec, "nodeName": "a"})).unsupported == ()


AFFINITY: dict[str, Any] = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
                    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
                }
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 5,
                "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]},
            }
        ],
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "host"}
        ]
    },
}


def test_affinity_arrives_whole() -> None:
    placement = pod_from(pod_json(spec={"affinity": AFFINITY})).placement
    term = NodeTerm(
        (Requirement("zone", "In", ("a", "b")),), (Requirement("metadata.name", "In", ("n",)),)
    )
    assert placement.node_affinity.required == (term,)
    preferred = placement.node_affinity.preferred[0]
    assert (preferred.weight, preferred.term.labels[0].operator) == (5, "Exists")
    away = placement.pod_anti_affinity.required[0]
    assert away.selector == LabelSelector((Requirement("app", "In", ("web",)),))
    assert away.topology_key == "host"


def test_tolerations_spread_selector_and_ports_arrive() -> None:
    spec = {
        "nodeSelector": {"b": "2", "a": "1"},
        "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        "topologySpreadConstraints": [
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
        "containers": [
            {
                "name": "main",
                "ports": [
                    {"containerPort": 80},
                    {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "1.2.3.4"},
                ],
            }
        ],
    }
    placement = pod_from(pod_json(spec=spec)).placement
    assert placement.node_selector == (("a", "1"), ("b", "2"))
    assert placement.tolerations == (Toleration("", "Exists", "", "NoExecute", 300),)
    assert placement.spread[0].max_skew == 2
    assert placement.spread[0].selector is None
    assert placement.ports == (HostPort(53, "UDP", "1.2.3.4"),)


def test_on_the_hosts_network_every_container_port_is_a_host_port() -> None:
    ports = [{"name": "main", "ports": [{"containerPort": 8080}]}]
    spec = {"hostNetwork": True, "containers": ports}
    assert pod_from(pod_json(spec=spec)).placement.ports == (HostPort(8080),)


def test_pods_of_one_workload_share_what_is_alike() -> None:
    spec = {"affinity": AFFINITY, "containers": [container(cpu="250m")]}
    first, second = (
        pod_from(pod_json(f"web-{index}", spec=spec, labels={"app": "web"})) for index in range(2)
    )
    assert first.placement is second.placement
    assert first.labels is second.labels
    assert first.requests is second.requests


def test_shared_labels_cannot_be_changed() -> None:
    labels: Any = pod_from(pod_json(labels={"app": "web"})).labels
    with pytest.raises(TypeError):
        labels["app"] = "other"


def test_nulls_are_as_good_as_absence() -> None:
    fields = ("containers", "affinity", "tolerations", "volumes", "schedulingGates", "nodeSelector")
    spec = dict.fromkeys((*fields, "overhead", "priority", "nodeName"))
    metadata = dict.fromkeys(("labels", "annotations", "ownerReferences", "creationTimestamp"))
    pod = pod_from({"metadata": metadata, "spec": spec, "status": {"conditions": None}})
    assert pod.placement is ANYWHERE
    assert not pod.requests
    assert pod_from({"metadata": None, "spec": None, "status": None}) == pod


def test_fields_that_we_do_not_know_are_harmless() -> None:
    plain = pod_from(pod_json())
    spec = {"containers": [{**container(cpu="500m"), "newThing": [1]}], "another": {"deep": [{}]}}
    assert pod_from({**pod_json(spec=spec), "surprise": 1}) == plain


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"nodeName": 3}, "spec.nodeName"),
        ({"containers": {}}, "spec.containers"),
        (
            {"containers": [{"resources": {"requests": {"cpu": "lots"}}}]},
            "spec.containers[0].resources.requests.cpu",
        ),
        (
            {"containers": [{"resources": {"requests": {"cpu": "-1"}}}]},
            "spec.containers[0].resources.requests.cpu",
        ),
        ({"containers": [{"resources": 4}]}, "spec.containers[0].resources"),
        ({"tolerations": [{}, {"key": 1}]}, "spec.tolerations[1].key"),
        ({"affinity": {"nodeAffinity": []}}, "spec.affinity.nodeAffinity"),
        ({"overhead": {"memory": True}}, "spec.overhead.memory"),
    ],
)
def test_a_wrong_type_is_blamed_on_its_pod_and_its_path(spec: dict[str, Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        pod_from(pod_json(spec=spec))
    assert caught.value.subject == "Pod/shop/web-0"
    assert caught.value.path == path


def test_text_that_is_no_json_is_a_decode_error() -> None:
    for text in (b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"spec":' + b"[" * 9999):
        with pytest.raises(DecodeError):
            decode_pod(text)


def test_a_node_says_what_it_has_and_whom_it_keeps_away() -> None:
    node = node_from(
        {
            "metadata": {"name": "a", "uid": "u", "labels": {"zone": "z"}, "resourceVersion": "3"},
            "spec": {"unschedulable": True, "taints": [{"key": "gpu", "effect": "NoSchedule"}]},
            "status": {
                "allocatable": {"cpu": "3920m", "memory": "16Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
    )
    assert node.allocatable == Resources({"cpu": 3920, "memory": 16 * 2**30, "pods": 110})
    assert node.taints == (Taint("gpu", "", "NoSchedule"),)
    assert (node.name, node.uid, node.version) == ("a", "u", "3")
    assert (node.unschedulable, node.ready) == (True, True)


@pytest.mark.parametrize("status", ["False", "Unknown", None])
def test_a_node_that_does_not_say_it_is_ready_is_not(status: str | None) -> None:
    conditions = [{"type": "Ready", "status": status}] if status else []
    assert not node_from({"metadata": {"name": "a"}, "status": {"conditions": conditions}}).ready


def test_a_namespace_is_its_name_and_labels() -> None:
    metadata = {
        "name": "shop",
        "labels": {"headroom.dev/claims": "enabled"},
        "resourceVersion": "9",
    }
    namespace = namespace_from({"metadata": metadata})
    assert (namespace.name, namespace.version) == ("shop", "9")
    assert namespace.labels == {"headroom.dev/claims": "enabled"}
