"""A pod's effective requests, read from JSON: every part of it arrives at core's sums."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.resources import Resources
from headroom.wire.objects.pods import pod_from
from tests.wire.objects import container, pod_json

MEBI = 2**20


def asks(spec: dict[str, Any], status: dict[str, Any] | None = None) -> Resources:
    return pod_from({**pod_json(spec=spec), "status": status or {}}).requests


def test_the_largest_init_container_counts_beside_the_sum() -> None:
    spec = {
        "containers": [container(cpu="1"), container("b", cpu="1")],
        "initContainers": [container("i", cpu="3", memory="1Mi")],
    }
    assert asks(spec) == Resources({"cpu": 3000, "memory": MEBI})


def test_a_sidecar_stays_and_counts_with_the_containers() -> None:
    sidecar = {**container("s", cpu="500m"), "restartPolicy": "Always"}
    assert asks({"containers": [container(cpu="1")], "initContainers": [sidecar]})["cpu"] == 1500


def test_overhead_comes_on_top() -> None:
    spec = {"containers": [container(cpu="1")], "overhead": {"cpu": "250m", "memory": "120Mi"}}
    assert asks(spec) == Resources({"cpu": 1250, "memory": 120 * MEBI})


def test_pod_level_requests_replace_the_sum() -> None:
    spec = {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "4"}}}
    assert asks(spec) == Resources({"cpu": 4000})


def test_a_limit_without_a_request_is_a_request() -> None:
    only = {"name": "main", "resources": {"limits": {"cpu": "2", "example.com/gpu": 1}}}
    assert asks({"containers": [only]}) == Resources({"cpu": 2000, "example.com/gpu": 1})


def test_while_a_resize_is_in_flight_the_larger_counts() -> None:
    told = {
        "name": "main",
        "resources": {"requests": {"cpu": "3"}},
        "allocatedResources": {"cpu": "2"},
    }
    assert asks({"containers": [container(cpu="1")]}, {"containerStatuses": [told]})["cpu"] == 3000
    other = {**told, "name": "other"}
    assert asks({"containers": [container(cpu="1")]}, {"containerStatuses": [other]})["cpu"] == 1000


def test_a_resize_that_the_node_refused_for_good_does_not_count() -> None:
    told = {
        "name": "main",
        "resources": {"requests": {"cpu": "1"}},
        "allocatedResources": {"cpu": "1"},
    }
    refused = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    status = {"containerStatuses": [told], "conditions": [refused]}
    assert asks({"containers": [container(cpu="8")]}, status)["cpu"] == 1000


def test_scoring_has_stand_ins_for_what_is_left_open() -> None:
    pod = pod_from(pod_json(spec={"containers": [container(cpu="1"), {"name": "b"}]}))
    assert pod.requests == Resources({"cpu": 1000})
    assert pod.nonzero_requests == Resources({"cpu": 1100, "memory": 400 * MEBI})


def test_bare_numbers_are_quantities_too() -> None:
    bare = {"name": "main", "resources": {"requests": {"cpu": 2, "memory": 1.5}}}
    assert asks({"containers": [bare]}) == Resources({"cpu": 2000, "memory": 2})


@pytest.mark.parametrize(("answer", "growth"), [("Deferred", 2000), ("Infeasible", 0), ("", 0)])
def test_what_a_node_puts_off_is_growth(answer: str, growth: int) -> None:
    thing = pod_json(spec={"nodeName": "a", "containers": [container(cpu="3")]})
    given = {"name": "main", "allocatedResources": {"cpu": "1"}}
    thing["status"] = {"containerStatuses": [{**given, "resources": {"requests": {"cpu": "1"}}}]}
    if answer:
        condition = {"type": "PodResizePending", "status": "True", "reason": answer}
        thing["status"]["conditions"] = [condition]
    assert pod_from(thing).growth["cpu"] == growth
