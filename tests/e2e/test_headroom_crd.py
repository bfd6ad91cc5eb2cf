"""The real API server takes our Headroom CRD, refuses bad ones by the field, and can scale them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from headroom.wire.crds import crds
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane, KubectlFailed
from tests.e2e.installing import install, until
from tests.wire.headroom_cases import BAD, GOOD, RIGHT, Case

pytestmark = pytest.mark.e2e
HEADROOMS = "/apis/headroom.dev/v1alpha1/namespaces/default/headrooms"


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, with our CRDs established."""
    install(control_plane, crds())
    yield control_plane
    control_plane.kubectl("delete", "headrooms.headroom.dev", "--all", "--ignore-not-found")


def judged(plane: ControlPlane, case: Case) -> dict[str, Any]:
    """Have the API server judge a Headroom as kubectl would ask it to, without keeping it."""
    return plane.api.create(f"{HEADROOMS}?dryRun=All&fieldValidation=Strict", case.headroom())


def made(plane: ControlPlane, name: str, **spec: Any) -> dict[str, Any]:
    """Create a Headroom that is kept."""
    return plane.api.create(HEADROOMS, Case(name, spec).headroom())


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_headroom_is_refused_with_the_field_named(plane: ControlPlane, case: Case) -> None:
    with pytest.raises(ApiFailure) as refused:
        judged(plane, case)
    said = str(refused.value)
    assert case.blames in said
    assert case.says in said


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_sound_headroom_is_taken(plane: ControlPlane, case: Case) -> None:
    assert judged(plane, case)["metadata"]["name"] == case.name


def test_what_is_left_out_gets_its_default(plane: ControlPlane) -> None:
    windows = [{"start": "@daily", "duration": "1h"}]
    spec = judged(plane, Case("defaults", {"schedule": windows}))["spec"]
    assert (spec["mode"], spec["refill"]) == ("Locked", "OnClaim")
    assert spec["schedule"][0]["timeZone"] == "UTC"
    assert spec["slot"]["template"]["schedulerName"] == "default-scheduler"


def test_kubectl_scale_changes_the_replicas(plane: ControlPlane) -> None:
    made(plane, "scaled")
    plane.kubectl("scale", "hr", "scaled", "--replicas=7")
    assert plane.api.get(f"{HEADROOMS}/scaled")["spec"]["size"] == {"replicas": 7}
    status = {"held": 4, "selector": "headroom.dev/for=scaled"}
    plane.api.patch(f"{HEADROOMS}/scaled/status", {"status": status})
    scale = plane.api.get(f"{HEADROOMS}/scaled/scale")
    assert scale["spec"] == {"replicas": 7}
    assert scale["status"] == {"replicas": 4, "selector": "headroom.dev/for=scaled"}


def test_an_autoscaler_of_pods_scales_a_headroom_too(plane: ControlPlane) -> None:
    made(plane, "autoscaled", size={"replicas": 1})
    status = {"held": 1, "selector": "headroom.dev/for=autoscaled"}
    plane.api.patch(f"{HEADROOMS}/autoscaled/status", {"status": status})
    target = {"apiVersion": "headroom.dev/v1alpha1", "kind": "Headroom", "name": "autoscaled"}
    autoscaler = {
        "metadata": {"name": "autoscaled"},
        "spec": {"scaleTargetRef": target, "minReplicas": 3, "maxReplicas": 5},
    }
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    plane.api.create(path, autoscaler)
    until(
        "as many as the autoscaler wants",
        lambda: plane.api.get(f"{HEADROOMS}/autoscaled")["spec"]["size"] == {"replicas": 3},
        seconds=60,
    )
    plane.api.delete(f"{path}/autoscaled")


def test_what_has_no_replicas_is_not_scaled(plane: ControlPlane) -> None:
    made(plane, "everywhere", size={"perNode": {"slots": 1}})
    with pytest.raises(KubectlFailed):
        plane.kubectl("scale", "hr", "everywhere", "--replicas=7")
    assert plane.api.get(f"{HEADROOMS}/everywhere")["spec"]["size"] == {"perNode": {"slots": 1}}


def test_the_status_is_written_apart_and_checked_too(plane: ControlPlane) -> None:
    given = {**GOOD, "metadata": {"name": "with-status"}, "status": {"held": 1}}
    assert "status" not in plane.api.create(HEADROOMS, given)
    path = f"{HEADROOMS}/with-status/status"
    written = plane.api.patch(path, {"status": {"held": 2}, "spec": {"paused": True}})
    assert written["status"]["held"] == 2
    assert "paused" not in written["spec"]
    with pytest.raises(ApiFailure, match=r"status\.held"):
        plane.api.patch(path, {"status": {"held": "many"}})


def test_the_columns_tell_how_a_headroom_stands(plane: ControlPlane) -> None:
    made(plane, "columns")
    ready = {
        "type": "Ready",
        "status": "False",
        "reason": "Holding",
        "message": "1 of 5 on its way",
        "lastTransitionTime": "2027-01-01T00:00:00Z",
    }
    status = {
        "desired": 5,
        "held": 4,
        "pending": 1,
        "claimed": 17,
        "nextStart": "2027-01-04T07:00:00Z",
        "conditions": [ready],
    }
    plane.api.patch(f"{HEADROOMS}/columns/status", {"status": status})
    head, row = plane.kubectl("get", "hr", "columns").splitlines()
    assert head.split() == ["NAME", "READY", "HELD", "DESIRED", "PENDING", "CLAIMED", "NEXT", "AGE"]
    assert row.split()[:7] == ["columns", "False", "4", "5", "1", "17", "2027-01-04T07:00:00Z"]
    assert "1 of 5 on its way" in plane.kubectl("get", "headrooms", "columns", "-o", "wide")


def test_kubectl_finds_one_by_the_name_of_its_kind(plane: ControlPlane) -> None:
    made(plane, "by-kind")
    shown = json.loads(plane.kubectl("get", "headroom", "by-kind", "-o", "json"))
    assert shown["kind"] == "Headroom"
    assert "headroom.headroom.dev/by-kind" in plane.kubectl("get", "headroom-all")


def _explains(plane: ControlPlane, kind: str) -> bool:
    """Say whether kubectl can explain a kind; the API server documents new ones a moment later."""
    try:
        return bool(plane.kubectl("explain", kind))
    except KubectlFailed:
        return False


def test_kubectl_explains_the_fields(plane: ControlPlane) -> None:
    until("kubectl knows the kind", lambda: _explains(plane, "headrooms"))
    told = plane.kubectl("explain", "headrooms.spec.schedule")
    assert "A name of the IANA database" in told


def test_the_definition_has_no_complaints(plane: ControlPlane) -> None:
    crd = plane.api.get(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/headrooms.headroom.dev"
    )
    conditions = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"
