"""Workloads that a Headroom copies: how many pods they want, and the shape of one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import WorkloadRef
from headroom.core.resources import Resources
from headroom.wire.errors import DecodeError
from headroom.wire.objects.workloads import workload_from
from tests.wire.objects import container


def workload(kind: str = "Deployment", status: dict[str, Any] | None = None, **spec: Any) -> Any:
    pods = {
        "metadata": {"labels": {"app": "web"}, "annotations": {"inject": "true"}},
        "spec": {"containers": [container(cpu="2")], "nodeSelector": {"pool": "web"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": pods, **spec},
        "status": status or {},
    }


def test_a_workload_gives_a_slot_the_shape_of_its_pods() -> None:
    made = workload_from(workload(replicas=3))
    assert made.ref == WorkloadRef("apps/v1", "Deployment", "web")
    assert (made.namespace, made.replicas, made.problems) == ("shop", 3, ())
    assert made.template.pod.requests == Resources({"cpu": 2000})
    assert made.template.pod.placement.node_selector == (("pool", "web"),)


def test_a_workload_knows_which_one_it_is() -> None:
    thing = workload()
    thing["metadata"] |= {"uid": "u", "resourceVersion": "7"}
    made = workload_from(thing)
    assert (made.uid, made.version) == ("u", "7")


@pytest.mark.parametrize(
    ("spec", "status", "pods"),
    [
        ({"parallelism": 5, "completions": 5, "suspend": True}, {}, 5),
        ({"parallelism": 5, "completions": 5, "suspend": True}, {"succeeded": 2}, 3),
        ({"parallelism": 5, "completions": 5, "suspend": False}, {}, 0),
        (
            {"parallelism": 5, "suspend": True},
            {"conditions": [{"type": "Suspended", "status": "True"}]},
            5,
        ),
        (
            {"parallelism": 5, "suspend": True},
            {"conditions": [{"type": "Failed", "status": "True"}]},
            0,
        ),
    ],
)
def test_a_suspended_job_says_how_many_pods_it_will_make(
    spec: dict[str, Any], status: dict[str, Any], pods: int
) -> None:
    made = workload_from(workload("Job", status, **spec))
    assert (made.suspended, made.missing if made.suspended else 0) == (pods, 0)


def test_the_labels_of_its_pods_are_kept_apart_from_the_shape() -> None:
    assert workload_from(workload()).pod_labels == {"app": "web"}


def test_guardians_do_not_carry_the_labels_of_the_workload() -> None:
    template = workload_from(workload()).template
    assert template.pod.labels == {}
    assert "metadata" not in json.loads(template.raw)


@pytest.mark.parametrize(
    ("thing", "replicas"),
    [
        (workload(), 1),
        (workload(replicas=0), 0),
        (workload("StatefulSet", replicas=4), 4),
        (workload("Job", parallelism=7), 7),
        (workload("Job"), 1),
        (workload("DaemonSet", {"desiredNumberScheduled": 9}), 9),
        (workload("DaemonSet"), 0),
    ],
)
def test_it_wants_as_many_pods_as_kubernetes_makes(thing: Any, replicas: int) -> None:
    assert workload_from(thing).replicas == replicas


def test_pods_that_ask_for_nothing_give_no_slot() -> None:
    thing = workload(template={"spec": {"containers": [{"name": "main"}]}})
    (problem,) = workload_from(thing).problems
    assert problem.path == "spec.template.spec.containers"


def test_a_workload_without_a_template_says_so() -> None:
    (problem,) = workload_from({"kind": "Deployment", "metadata": {"name": "web"}}).problems
    assert problem.path == "spec.template"


def test_what_no_api_server_sends_is_an_error_that_names_the_object() -> None:
    with pytest.raises(DecodeError, match="Deployment/shop/web"):
        workload_from(workload(replicas="many"))


@pytest.mark.parametrize(
    ("kind", "spec", "status", "missing"),
    [
        ("Deployment", {"replicas": 10}, {"replicas": 2}, 8),
        ("Deployment", {"replicas": 2}, {"replicas": 3}, 0),
        ("Deployment", {}, {}, 1),
        ("StatefulSet", {"replicas": 5}, {"replicas": 1}, 1),
        ("StatefulSet", {"replicas": 5, "podManagementPolicy": "Parallel"}, {"replicas": 1}, 4),
        ("Job", {"parallelism": 5, "completions": 10}, {"active": 1, "succeeded": 6}, 3),
        ("Job", {"parallelism": 5, "suspend": True}, {}, 0),
        ("DaemonSet", {}, {"desiredNumberScheduled": 3}, 0),
    ],
)
def test_pods_that_a_workload_is_about_to_make_are_counted(
    kind: str, spec: dict[str, Any], status: dict[str, Any], missing: int
) -> None:
    given = {"kind": kind, "metadata": {"name": "web"}, "spec": spec, "status": status}
    assert workload_from(given).missing == missing


def test_a_workload_that_is_refused_its_pods_is_believed_no_longer() -> None:
    refused = {"type": "ReplicaFailure", "status": "True"}
    given = {
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 5},
        "status": {"replicas": 1, "conditions": [refused]},
    }
    assert workload_from(given).missing == 0
