"""Guardians have their template's limits, so that quotas on limits and LimitRanges agree."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.resources import Resources
from headroom.wire.render import render
from tests.wire.objects import hold

GI = 2**30


def resources(
    *containers: dict[str, Any], left: dict[str, int] | None = None, **spec: Any
) -> dict[str, Any]:
    """The resources of the guardian of a hold with these containers."""
    named = [{"name": f"c{index}", "resources": each} for index, each in enumerate(containers)]
    kept = hold({"template": {"spec": {"containers": named, **spec}}})
    assert kept.problems == ()
    requests = Resources(left) if left is not None else kept.template.pod.requests
    body: Any = render(CreateGuardian("g", kept, requests)).body
    made: dict[str, Any] = body["spec"]["containers"][0]["resources"]
    return made


def test_limits_of_the_template_are_carried() -> None:
    made = resources({"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}})
    assert made["limits"] == {"cpu": "2", "memory": "1Gi"}
    assert made["requests"] == {"cpu": "1", "memory": "1Gi"}


def test_a_template_without_limits_makes_a_guardian_without_limits() -> None:
    assert "limits" not in resources({"requests": {"cpu": "1"}})


def test_limits_of_several_containers_add_up() -> None:
    one = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}
    assert resources(one, one)["limits"] == {"cpu": "4"}


def test_what_one_container_leaves_open_has_no_limit() -> None:
    limited = {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}
    assert resources(limited, {"limits": {"cpu": "1"}})["limits"] == {"cpu": "3"}


def test_limits_of_the_pod_as_a_whole_count() -> None:
    whole = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "3", "memory": "2Gi"}}
    made = resources({"requests": {"cpu": "1"}}, resources=whole)
    assert made["limits"] == {"cpu": "3", "memory": "2Gi"}


def test_a_guardian_of_the_rest_keeps_the_distance_to_its_limit() -> None:
    shape = {"requests": {"cpu": "4", "memory": "4Gi"}, "limits": {"cpu": "6", "memory": "4Gi"}}
    made = resources(shape, left={"cpu": 1000, "memory": GI})
    assert made["limits"] == {"cpu": "3", "memory": "1Gi"}


@pytest.mark.parametrize(("cpu", "limit"), [("2", "2001m"), ("500m", "500m")])
def test_a_guardian_never_gets_cores_of_its_own(cpu: str, limit: str) -> None:
    same = {"cpu": cpu, "memory": "1Gi"}
    assert resources({"requests": same, "limits": same})["limits"]["cpu"] == limit


def test_extended_resources_keep_their_limit() -> None:
    made = resources({"limits": {"cpu": "1", "example.com/gpu": "2"}})
    assert made["limits"] == {"cpu": "1", "example.com/gpu": "2"}
