"""ResourceQuotas as they are read: amounts by the quota's own names, scopes of both spellings."""

from __future__ import annotations

import json
from typing import Any

from headroom.core.demand.resource_quotas import ResourceQuota, ScopeRule
from headroom.wire.objects.resourcequotas import decode_resource_quota


def read(**parts: Any) -> ResourceQuota:
    given = {"metadata": {"name": "team", "namespace": "shop"}, **parts}
    return decode_resource_quota(json.dumps(given).encode())


def test_amounts_count_in_the_units_of_what_they_are_about() -> None:
    hard = {"cpu": "5", "requests.cpu": "500m", "requests.memory": "1Gi", "pods": "3"}
    assert read(status={"hard": hard, "used": {"cpu": "100m"}}) == ResourceQuota(
        "team",
        {"cpu": 5000, "requests.cpu": 500, "requests.memory": 2**30, "pods": 3},
        {"cpu": 100},
        namespace="shop",
    )


def test_scopes_are_read_in_both_spellings() -> None:
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}
    spec = {"scopes": ["BestEffort"], "scopeSelector": {"matchExpressions": [expression]}}
    assert read(spec=spec).scopes == (
        ScopeRule("BestEffort"),
        ScopeRule("PriorityClass", "In", ("a",)),
    )


def test_a_quota_without_a_status_says_nothing_yet() -> None:
    assert read(spec={"hard": {"cpu": "5"}}).hard == {}
