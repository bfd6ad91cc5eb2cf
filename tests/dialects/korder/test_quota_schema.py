"""The fields of a Quota: the same cases are judged here and, end to end, by a real API server."""

from __future__ import annotations

import pytest

from headroom.dialects.korder.quotaschema import quota_definition, with_quota
from headroom.wire.schema.notation import kubernetes
from headroom.wire.schema.validation import validate
from tests.dialects.korder.quota_cases import ODD, REFUSED, SOUND, Case

CATALOGUE = with_quota(kubernetes())


@pytest.mark.parametrize("case", [*SOUND, *ODD], ids=lambda case: case.name)
def test_what_korder_takes_is_taken(case: Case) -> None:
    assert validate(case.quota(), "Quota", CATALOGUE) == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_korder_refuses_is_refused_before_it_is_stored(case: Case) -> None:
    problems = validate(case.quota(), "Quota", CATALOGUE)
    assert problems
    assert case.blames.partition("[")[0] in problems[0].path


def test_the_kind_is_cluster_scoped_and_has_a_status_of_its_own() -> None:
    definition = quota_definition()
    assert definition["metadata"]["name"] == "quotas.core.korder.dev"
    assert definition["spec"]["scope"] == "Cluster"
    (version,) = definition["spec"]["versions"]
    assert version["subresources"] == {"status": {}}


def test_limits_that_are_left_out_are_korders_own() -> None:
    schema = quota_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = schema["properties"]["spec"]["properties"]
    assert spec["hard"]["default"] == {
        "orders": "100",
        "tickets": "1k",
        "reserved.cpu": "1k",
        "reserved.memory": "2000Gi",
        "max-duration": "604800",
    }
    assert spec["scope"]["properties"]["type"]["default"] == "Cluster"
