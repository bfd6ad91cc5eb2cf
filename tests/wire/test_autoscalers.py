"""HorizontalPodAutoscalers, as far as a learnt size reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headroom.core.headrooms.announced_pods import PodAutoscaler
from headroom.core.objects import Key
from headroom.wire.errors import DecodeError
from headroom.wire.objects.workloads import decode_autoscaler

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def read(status: dict[str, Any], most: Any = 10, **metadata: Any) -> PodAutoscaler:
    thing = {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", **metadata},
        "spec": {"scaleTargetRef": TARGET, "maxReplicas": most},
        "status": status,
    }
    return decode_autoscaler(json.dumps(thing).encode())


def test_an_autoscaler_says_how_many_pods_it_wants_of_what() -> None:
    made = read({"desiredReplicas": 4})
    assert made == PodAutoscaler(Key("shop", "web"), "Deployment", "web", 4, 10, uid="u")


def test_a_new_one_wants_nothing_yet() -> None:
    assert read({}).desired == 0


@pytest.mark.parametrize(("told", "counted"), [(99, 10), (-3, 0)])
def test_a_status_that_makes_no_sense_is_bounded(told: int, counted: int) -> None:
    assert read({"desiredReplicas": told}).desired == counted


def test_one_that_is_being_deleted_wants_nothing() -> None:
    gone = read({"desiredReplicas": 4}, deletionTimestamp="2027-01-01T00:00:00Z")
    assert (gone.desired, gone.most) == (0, 0)


def test_what_cannot_be_read_names_its_object() -> None:
    with pytest.raises(DecodeError, match="HorizontalPodAutoscaler/shop/web"):
        read({}, most="many")
