"""Which LimitRange refuses a pod, worked out from the API server's words."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.wire.objects.limitranges import is_about_limits, with_limit_range


def limit_range(name: str, kind: str = "Container", **bounds: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"limits": [{"type": kind, **bounds}]}}


RANGES = [
    limit_range("most", max={"cpu": "5m", "memory": "1Gi"}),
    limit_range("least", min={"cpu": "1"}),
    limit_range("whole", "Pod", max={"cpu": "5m"}),
    limit_range("ratio", maxLimitRequestRatio={"cpu": "2"}),
    limit_range("given", default={"memory": "64Mi"}),
]
FORBIDDEN = 'pods "g" is forbidden: '


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("maximum cpu usage per Container is 5m, but limit is 10m", "most"),
        ("maximum cpu usage per Container is 5m.  No limit is specified", "most"),
        ("maximum cpu usage per Pod is 5m, but limit is 10m", "whole"),
        ("minimum cpu usage per Container is 1, but request is 10m", "least"),
        ("cpu max limit to request ratio per Container is 2, but provided ratio is 4", "ratio"),
        (
            'requests: Invalid value: "1Gi": must be less than or equal to memory limit of 64Mi',
            "given",
        ),
        ('requests: Invalid value: "1": must be less than or equal to cpu limit of 5m', "most"),
    ],
)
def test_the_limit_range_whose_bound_is_told_is_named(words: str, name: str) -> None:
    told = with_limit_range(FORBIDDEN + words, "shop", RANGES)
    assert is_about_limits(words)
    assert told == f"{FORBIDDEN}{words} (LimitRange {name} of namespace shop)"


def test_several_are_all_named_and_others_never() -> None:
    most = "maximum cpu usage per Container is 5m, but limit is 2"
    least = "minimum cpu usage per Container is 1, but request is 0"
    words = f"[{most}, {least}]"
    assert with_limit_range(words, "shop", RANGES).endswith(
        "(LimitRanges least, most of namespace shop)"
    )
    unknown = "maximum cpu usage per Container is 7m, but limit is 10m"
    assert with_limit_range(unknown, "shop", RANGES) == unknown
    assert not is_about_limits(
        "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
    )


@pytest.mark.parametrize("odd", [{}, {"spec": 3}, {"metadata": [], "spec": {"limits": [7, {}]}}])
def test_odd_limit_ranges_are_passed_over(odd: dict[str, Any]) -> None:
    words = "maximum cpu usage per Container is 5m, but limit is 10m"
    assert with_limit_range(words, "shop", [odd]) == words
