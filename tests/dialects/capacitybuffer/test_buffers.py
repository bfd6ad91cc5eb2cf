"""CapacityBuffers read and written: what each becomes, and what its status says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headroom.core.actions import WriteHeadroomStatus
from headroom.core.headrooms.headrooms import HeadroomStatus, WorkloadRef
from headroom.core.holds import PREEMPTIBLE
from headroom.core.objects import Condition, Parent
from headroom.dialects.capacitybuffer import CAPACITYBUFFER
from headroom.dialects.capacitybuffer.buffers import decode_buffer, decode_pod_template
from headroom.dialects.capacitybuffer.rules.size import BufferSize
from headroom.dialects.capacitybuffer.schema import with_buffers
from headroom.dialects.capacitybuffer.statuses import status_json, status_of
from headroom.wire.schema.own import known
from headroom.wire.schema.validation import validate

CHUNK = {"name": "chunk"}
WEB = {"apiGroup": "apps", "kind": "Deployment", "name": "web"}


def buffer(**spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "spare", "namespace": "shop", "uid": "u"}
    return {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": "CapacityBuffer",
        "metadata": metadata,
        "spec": spec,
    }


def test_a_buffer_is_a_headroom_that_makes_way() -> None:
    read = decode_buffer.plain(buffer(podTemplateRef=CHUNK, replicas=3, limits={"cpu": "2"}))
    assert read.problems == ()
    assert read.mode == PREEMPTIBLE
    assert read.slot.source == WorkloadRef("v1", "PodTemplate", "chunk")
    assert read.size == BufferSize(replicas=3, limits=(("cpu", 2000),))


@pytest.mark.parametrize(
    ("ref", "source"),
    [
        (WEB, WorkloadRef("apps/v1", "Deployment", "web")),
        ({"kind": "StatefulSet", "name": "db"}, WorkloadRef("apps/v1", "StatefulSet", "db")),
        (
            {"apiGroup": "batch", "kind": "Job", "name": "j"},
            WorkloadRef("batch/v1", "Job", "j"),
        ),
        (
            {"apiGroup": "x.com", "kind": "Widget", "name": "w"},
            WorkloadRef("x.com/*", "Widget", "w"),
        ),
        (
            {"apiGroup": "core", "kind": "ReplicationController", "name": "rc"},
            WorkloadRef("/*", "ReplicationController", "rc"),
        ),
    ],
)
def test_a_workload_may_give_the_shape(ref: dict[str, str], source: WorkloadRef) -> None:
    assert decode_buffer.plain(buffer(scalableRef=ref, percentage=20)).slot.source == source


@pytest.mark.parametrize(
    ("strategy", "manager", "served"),
    [
        ("", "headroom", True),
        ("buffer.x-k8s.io/active-capacity", "kubectl-edit", True),
        ("buffer.gke.io/standby-capacity", "headroom", False),
        ("", "karpenter", False),
        ("", "cluster-autoscaler", False),
    ],
)
def test_whose_buffer_it_is(strategy: str, manager: str, served: bool) -> None:
    made = buffer(podTemplateRef=CHUNK, replicas=1, provisioningStrategy=strategy)
    made["metadata"]["managedFields"] = [{"manager": manager, "subresource": "status"}]
    assert decode_buffer.plain(made).served is served


@pytest.mark.parametrize(
    "spec",
    [
        {"podTemplateRef": CHUNK},
        {"podTemplateRef": CHUNK, "percentage": 20},
        {"podTemplateRef": CHUNK, "scalableRef": WEB, "replicas": 1},
        {"podTemplateRef": CHUNK, "replicas": -1},
        {"scalableRef": {"kind": "Deployment"}, "replicas": 1},
    ],
    ids=["no-size", "percentage-alone", "both-refs", "negative", "no-name"],
)
def test_the_schema_refuses_what_the_community_refuses(spec: dict[str, Any]) -> None:
    assert validate(buffer(**spec), "CapacityBuffer", with_buffers(known()))


@pytest.mark.parametrize("spec", [{}, {"podTemplateRef": CHUNK, "replicas": 0}])
def test_the_schema_lets_in_what_the_community_lets_in(spec: dict[str, Any]) -> None:
    assert validate(buffer(**spec), "CapacityBuffer", with_buffers(known())) == []


def test_a_status_reads_back_as_it_was_written() -> None:
    since = datetime(2027, 1, 4, 12, tzinfo=UTC)
    conditions = (Condition("Provisioning", "True", "FitsExistingCapacity", "all", since, 2),)
    status = HeadroomStatus(
        desired=3,
        conditions=conditions,
        observed_generation=2,
        template="chunk",
        template_generation=4,
    )
    assert status_of(json.dumps(status_json(status)).encode()) == status


def test_only_the_status_of_buffers_is_written_in_these_words() -> None:
    ours = Parent("headroom.dev/v1alpha1", "Headroom", "shop", "spare", "u")
    theirs = Parent("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "shop", "spare", "u")
    assert CAPACITYBUFFER.render(WriteHeadroomStatus(ours, HeadroomStatus())) is None
    write = CAPACITYBUFFER.render(WriteHeadroomStatus(theirs, HeadroomStatus()))
    assert write is not None
    assert write.path.endswith("/namespaces/shop/capacitybuffers/spare/status")


def test_a_pod_template_is_a_shape_without_replicas() -> None:
    container = {"name": "m", "resources": {"requests": {"cpu": "2"}}}
    given = {
        "metadata": {"name": "chunk", "namespace": "shop", "generation": 3},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}},
    }
    read = decode_pod_template(json.dumps(given).encode())
    assert (read.replicas, read.generation, read.problems) == (0, 3, ())
    assert read.template.pod.requests["cpu"] == 2000
    assert not read.template.pod.labels
