"""LimitRanges of the embedded cluster: defaults are filled in, bounds are kept to in real words."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.sim.api.limitranges import refusal, with_defaults
from headroom.sim.api.values import Json


def pod(**resources: Any) -> Json:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"resources": resources}]}}


def bounds(kind: str = "Container", **more: Any) -> list[Json]:
    return [{"metadata": {"name": "r"}, "spec": {"limits": [{"type": kind, **more}]}}]


def filled(given: Json, ranges: list[Json]) -> Any:
    return with_defaults(given, ranges)["spec"]["containers"][0]["resources"]


def test_a_container_that_says_nothing_gets_what_the_range_says() -> None:
    ranges = bounds(max={"cpu": "2"}, default={"memory": "1Gi"}, defaultRequest={"memory": "64Mi"})
    assert filled(pod(), ranges) == {
        "limits": {"cpu": "2", "memory": "1Gi"},
        "requests": {"cpu": "2", "memory": "64Mi"},
    }
    own = {"requests": {"cpu": "1"}, "limits": {"cpu": "1", "memory": "2Gi"}}
    assert filled(pod(**own), ranges)["limits"] == own["limits"]
    assert filled(pod(), bounds(min={"cpu": "1m"})) == {"requests": {"cpu": "1m"}}
    assert with_defaults(pod(), bounds("Pod", max={"cpu": "2"})) == pod()


@pytest.mark.parametrize(
    ("kind", "bound", "resources", "words"),
    [
        (
            "Container",
            {"max": {"cpu": "1"}},
            {"limits": {"cpu": "1500m"}},
            "is 1, but limit is 1500m",
        ),
        ("Container", {"max": {"cpu": "1"}}, {}, "is 1.  No limit is specified"),
        (
            "Container",
            {"min": {"cpu": "1"}},
            {"requests": {"cpu": "1m"}},
            "is 1, but request is 1m",
        ),
        (
            "Pod",
            {"max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "per Pod is 1, but limit is 2000m",
        ),
        (
            "Container",
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "ratio per Container is 2, but provided ratio is 3.0",
        ),
    ],
)
def test_what_is_beyond_a_bound_is_refused(
    kind: str, bound: Json, resources: Json, words: str
) -> None:
    refused = refusal(pod(**resources), bounds(kind, **bound))
    assert refused is not None
    assert words in str(refused)


def test_what_keeps_to_its_bounds_is_taken() -> None:
    most: dict[str, Any] = {
        "max": {"cpu": "2"},
        "min": {"cpu": "1"},
        "maxLimitRequestRatio": {"cpu": "2"},
    }
    fits = pod(requests={"cpu": "1"}, limits={"cpu": "2"})
    assert refusal(fits, bounds(**most)) is None
    assert refusal(fits, bounds("PersistentVolumeClaim", max={"storage": "1"})) is None
