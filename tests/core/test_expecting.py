"""Pods that workloads and their autoscalers say will come."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.headrooms.announced_pods import PodAutoscaler, expected, first_pod
from headroom.core.headrooms.headrooms import Workload, WorkloadRef
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Pod

SHAPE = PodTemplate(Pod(Key("shop", "")))
WEB = Workload(WorkloadRef("apps/v1", "Deployment", "web"), "shop", 3, SHAPE, uid="1")


def scaled_to(desired: int) -> PodAutoscaler:
    return PodAutoscaler(Key("shop", "web"), "Deployment", "web", desired, most=100)


def test_a_workload_that_has_what_it_wants_makes_nothing() -> None:
    assert expected(WEB) == 0
    assert expected(WEB, (scaled_to(3),)) == 0


def test_an_autoscaler_that_wants_fewer_takes_nothing_away() -> None:
    assert expected(replace(WEB, missing=2), (scaled_to(1),)) == 2


def test_what_an_autoscaler_wants_beyond_the_replicas_comes_on_top() -> None:
    assert expected(replace(WEB, missing=2), (scaled_to(7),)) == 6


def test_of_several_autoscalers_the_largest_count_is_meant() -> None:
    assert expected(WEB, (scaled_to(5), scaled_to(8))) == 5


def test_a_suspended_job_will_make_its_pods() -> None:
    job = Workload(WorkloadRef("batch/v1", "Job", "sum"), "shop", 4, SHAPE, suspended=4)
    assert expected(job) == 4


def test_of_pods_made_in_order_the_next_one_is_expected() -> None:
    ordered = replace(WEB, in_order=True)
    assert expected(ordered, (scaled_to(9),)) == 1
    assert expected(replace(ordered, missing=1), (scaled_to(9),)) == 1


def test_the_first_pod_of_a_job_belongs_to_it_and_carries_its_labels() -> None:
    labels = {"app": "sum"}
    job = Workload(WorkloadRef("batch/v1", "Job", "sum"), "shop", 4, SHAPE, pod_labels=labels)
    pod = first_pod(job)
    assert (pod.key.namespace, pod.labels) == ("shop", labels)
    assert [(each.kind, each.name) for each in pod.owners] == [("Job", "sum")]


def test_the_first_pod_of_a_deployment_belongs_to_a_replicaset_without_a_name_yet() -> None:
    assert first_pod(WEB).owners == ()
