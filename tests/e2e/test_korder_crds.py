"""The real API server takes korder's kinds, refuses bad ones by the field, on updates as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headroom.dialects.korder import KORDER
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.dialects.korder.things import order, ticket
from tests.e2e.installing import install

pytestmark = pytest.mark.e2e
ROOT = "/apis/core.korder.dev/v1alpha1/namespaces/default"
GPU: dict[str, Any] = {
    "daemonSet": True,
    "strategy": {"type": "Recurring", "schedule": "0 */6 * * *", "refreshPolicy": "Always"},
    "template": {
        "metadata": {"labels": {"app": "web"}, "annotations": {"korder.dev/ticket-group": "g"}},
        "spec": {
            "duration": "8h",
            "resources": {
                "requests": {"cpu": "500m", "memory": "1Gi"},
                "limits": {"cpu": "1000m", "memory": "2Gi"},
            },
            "nodeSelector": {"accelerator": "nvidia-tesla-k80", "kubernetes.io/os": "linux"},
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
            ],
        },
    },
}
LATEST: dict[str, Any] = {
    "paused": False,
    "replicas": 1,
    "refreshPolicy": "OnClaim",
    "minReadySeconds": 60,
    "selector": {"matchLabels": {"app": "web"}},
    "template": {
        "spec": {
            "window": {"startTime": "", "timeZone": "", "duration": "3600s"},
            "lifecycle": {"ttlSecondsAfterFinished": 10},
        }
    },
}


def shape(**spec: Any) -> dict[str, Any]:
    return {"template": {"spec": spec}}


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "policies": (
        {"refreshPolicy": "Always", "strategy": {"type": "OneTime", "refreshPolicy": "Never"}},
        "spec.refreshPolicy",
        "disagree",
    ),
    "durations": (
        shape(duration="1h", window={"duration": "2h"}),
        "spec.template.spec.duration",
        "disagree",
    ),
    "starts": (
        shape(startTime="2027-01-04T08:00:00Z", window={"startTime": "2027-01-04T08:00:00+01:00"}),
        "spec.template.spec.startTime",
        "disagree",
    ),
    "no-time": (shape(duration="0s"), "spec.template.spec.duration", "must be longer than 0"),
    "no-duration": (shape(duration="1 day"), "spec.template.spec.duration", "must be a duration"),
    "window-no-time": (
        shape(window={"duration": "0"}),
        "spec.template.spec.window.duration",
        "must be longer than 0",
    ),
    "one-time-with-schedule": (
        {"strategy": {"type": "OneTime", "schedule": "@daily"}},
        "spec.strategy.schedule",
        "OneTime takes none",
    ),
    "scheduled-without": (
        {"strategy": {"type": "Scheduled"}},
        "spec.strategy.schedule",
        "need a schedule",
    ),
    "no-cron": (
        {"strategy": {"type": "Recurring", "schedule": "61 * * * *"}},
        "spec.strategy.schedule",
        "not a cron expression",
    ),
    "negative-ttl": (
        shape(lifecycle={"ttlSecondsAfterFinished": -1}),
        "spec.template.spec.lifecycle.ttlSecondsAfterFinished",
        "greater than or equal to 0",
    ),
    "request-above-limit": (
        shape(resources={"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}),
        "spec.template.spec.resources.requests",
        "larger than its limit",
    ),
    "negative-request": (
        shape(resources={"requests": {"cpu": "-1"}}),
        "spec.template.spec.resources.requests.cpu",
        "should match",
    ),
    "empty-selector": ({"selector": {}}, "spec.selector", "empty selector"),
    "negative-replicas": ({"replicas": -1}, "spec.replicas", "greater than or equal to 0"),
}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, with korder's CRDs established."""
    install(control_plane, KORDER.definitions())
    yield control_plane
    for plural in ("orders", "tickets"):
        control_plane.kubectl("delete", f"{plural}.core.korder.dev", "--all", "--ignore-not-found")


def written(thing: dict[str, Any]) -> dict[str, Any]:
    """The object as a person writes it, for the namespace of the test."""
    return {**thing, "metadata": {"name": thing["metadata"]["name"]}}


def judged(plane: ControlPlane, thing: dict[str, Any]) -> dict[str, Any]:
    """Have the API server judge an object as kubectl would ask it to, without keeping it."""
    path = f"{ROOT}/{thing['kind'].lower()}s?dryRun=All&fieldValidation=Strict"
    return plane.api.create(path, written(thing))


@pytest.mark.parametrize("spec", [GPU, LATEST], ids=["first-fields", "latest-fields"])
def test_both_historical_field_sets_are_taken(plane: ControlPlane, spec: dict[str, Any]) -> None:
    made = judged(plane, order("sound", **spec))["spec"]
    for field in ("daemonSet", "strategy", "refreshPolicy", "selector"):
        assert made.get(field) == spec.get(field)
    assert made["template"].get("metadata") == spec["template"].get("metadata")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_order_is_refused_with_the_field_named(plane: ControlPlane, name: str) -> None:
    spec, blames, says = BAD[name]
    with pytest.raises(ApiFailure) as refused:
        judged(plane, order(name, **spec))
    assert blames in str(refused.value)
    assert says in str(refused.value)


def test_an_update_is_judged_as_a_creation_is(plane: ControlPlane) -> None:
    plane.api.create(f"{ROOT}/orders", written(order("updated", **GPU)))
    path = f"{ROOT}/orders/updated?fieldValidation=Strict"
    for change, says in (
        ({"template": {"spec": {"duration": "0s"}}}, "must be longer than 0"),
        ({"selector": {}}, "empty selector"),
        ({"strategy": {"type": "Scheduled"}}, "cannot be changed"),
        ({"strategy": None}, "cannot be changed"),
    ):
        with pytest.raises(ApiFailure, match=says):
            plane.api.patch(path, {"spec": change})
    plane.api.patch(path, {"spec": {"strategy": {"schedule": "@hourly"}}})


def test_the_node_of_a_ticket_is_set_once(plane: ControlPlane) -> None:
    plane.api.create(f"{ROOT}/tickets", written(ticket("pinned")))
    path = f"{ROOT}/tickets/pinned"
    plane.api.patch(path, {"spec": {"nodeName": "node-a", "duration": "2h"}})
    for other in ("node-b", None):
        with pytest.raises(ApiFailure, match="cannot be changed"):
            plane.api.patch(path, {"spec": {"nodeName": other}})
    plane.api.patch(path, {"spec": {"duration": "3h"}})


def test_a_ticket_is_judged_as_an_orders_template_is(plane: ControlPlane) -> None:
    for spec, says in (
        ({"duration": "0"}, "must be longer than 0"),
        ({"duration": "1h", "window": {"duration": "2h"}}, "disagree"),
        ({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}, "larger than"),
    ):
        with pytest.raises(ApiFailure, match=says):
            judged(plane, ticket("bad", **spec))


def test_the_status_is_written_apart(plane: ControlPlane) -> None:
    plane.api.create(f"{ROOT}/tickets", written(ticket("shown")))
    plane.api.patch(f"{ROOT}/tickets/shown/status", {"status": {"phase": "Reserved"}})
    assert plane.api.get(f"{ROOT}/tickets/shown")["status"] == {"phase": "Reserved"}


def test_the_columns_are_those_that_korder_prints(plane: ControlPlane) -> None:
    plane.api.create(f"{ROOT}/tickets", written(ticket("printed")))
    status = {"phase": "Claimed", "claimedPod": "default/p", "nodeName": "node-a"}
    plane.api.patch(f"{ROOT}/tickets/printed/status", {"status": status})
    header, row = plane.kubectl("get", "ticket", "printed").splitlines()
    assert header.split() == ["NAME", "PHASE", "CLAIMED-BY", "AGE"]
    assert row.split()[:3] == ["printed", "Claimed", "default/p"]
    wide = plane.kubectl("get", "ticket", "printed", "-o", "wide").splitlines()[0].split()
    assert wide == [
        "NAME",
        "PHASE",
        "NODE",
        "CLAIMED-BY",
        "GUARDIAN-POD",
        "EXPIRATION",
        "AGE",
    ]
