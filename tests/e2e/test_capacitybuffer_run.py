"""The operator with CapacityBuffers, as installed: its own account and rights, a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headroom.cli.dialects import chosen
from headroom.wire.manifests import Installation, install_objects
from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess

pytestmark = pytest.mark.e2e
SHOP = "buffer-shop"
BUFFERS = f"/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{SHOP}/capacitybuffers"
OLDER = BUFFERS.replace("v1beta1", "v1alpha1")
CONTAINER = {"name": "m", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
CHUNK: dict[str, Any] = {"podTemplateRef": {"name": "chunk"}}


def buffer(name: str, version: str = "v1beta1", **spec: Any) -> dict[str, Any]:
    group = f"autoscaling.x-k8s.io/{version}"
    metadata = {"name": name}
    return {"apiVersion": group, "kind": "CapacityBuffer", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane, installed with the dialect, and the shape of a chunk."""
    codecs = chosen(["capacitybuffer"])
    install(
        control_plane, install_objects(Installation("example.com/x:1", replicas=0, codecs=codecs))
    )
    control_plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": SHOP}})
    template = {"metadata": {"name": "chunk"}, "template": {"spec": {"containers": [CONTAINER]}}}
    control_plane.api.create(f"/api/v1/namespaces/{SHOP}/podtemplates", template)
    return control_plane


def test_a_buffer_of_either_version_is_held_with_the_operators_own_rights(
    plane: ControlPlane, tmp_path: Path
) -> None:
    account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
    with OperatorProcess(account, tmp_path / "log", "--dialect", "capacitybuffer") as running:
        plane.api.create(BUFFERS, buffer("new", **CHUNK, replicas=2))
        plane.api.create(OLDER, buffer("old", version="v1alpha1", **CHUNK, replicas=1))

        def standing() -> dict[str, Any]:
            conditions = {
                item["metadata"]["name"]: (item.get("status") or {}).get("conditions") or []
                for item in plane.api.items(BUFFERS)
            }
            return {
                name: [each["status"] for each in told if each["type"] == "Provisioning"]
                for name, told in conditions.items()
            }

        until("both stand", lambda: standing() == {"new": ["True"], "old": ["True"]}, seconds=60)
        assert "missing" not in running.log()
        for name in ("new", "old"):
            plane.api.delete(f"{BUFFERS}/{name}")
        pods = f"/api/v1/namespaces/{SHOP}/pods"
        until("and go with their buffers", lambda: not plane.api.items(pods), seconds=60)


@pytest.mark.parametrize(
    "spec",
    [
        CHUNK,
        {**CHUNK, "percentage": 20},
        {**CHUNK, "scalableRef": {"kind": "Deployment", "name": "web"}, "replicas": 1},
        {**CHUNK, "replicas": -1},
    ],
    ids=["no-size", "percentage-alone", "both-refs", "negative"],
)
def test_the_api_server_refuses_what_the_community_refuses(
    plane: ControlPlane, spec: dict[str, Any]
) -> None:
    with pytest.raises(ApiFailure, match=r"422: .*spec"):
        plane.api.create(BUFFERS, buffer("wrong", **spec))


GROUP = "shops.example.com"
WIDGETS = f"/apis/{GROUP}/v1/namespaces/{SHOP}/widgets"
PODS = f"/api/v1/namespaces/{SHOP}/pods"
RBAC = "rbac.authorization.k8s.io"


def widget_definition() -> dict[str, Any]:
    """A kind of somebody else's, which says by its scale how many pods it has and which."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}
        },
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.size",
                "statusReplicasPath": ".status.size",
                "labelSelectorPath": ".status.pods",
            },
        },
    }
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def may_see_widgets(plane: ControlPlane) -> None:
    rules = [
        {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [GROUP], "resources": ["widgets/scale"], "verbs": ["get"]},
    ]
    named = {"metadata": {"name": "headroom-widgets"}}
    plane.api.create(f"/apis/{RBAC}/v1/clusterroles", {**named, "rules": rules})
    account = {"kind": "ServiceAccount", "name": "headroom-operator"}
    binding = {
        **named,
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "headroom-widgets"},
        "subjects": [{**account, "namespace": "headroom-system"}],
    }
    plane.api.create(f"/apis/{RBAC}/v1/clusterrolebindings", binding)


def widget_sized(plane: ControlPlane, size: int) -> None:
    status = {"status": {"size": size, "pods": "app=widget"}}
    plane.api.patch(f"{WIDGETS}/w/status", status)


def test_a_kind_with_a_scale_is_copied_once_the_operator_may_see_it(
    plane: ControlPlane, tmp_path: Path
) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    plane.api.ensure(definitions, widget_definition())
    until("widgets are served", lambda: _is_served(plane), seconds=60)
    made = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "w"}}
    plane.api.create(WIDGETS, {**made, "spec": {"size": 4}})
    resources = {"requests": {"cpu": "300m"}}
    pod = {
        "metadata": {"name": "w-0", "labels": {"app": "widget"}},
        "spec": {"containers": [{"name": "m", "image": "x", "resources": resources}]},
    }
    plane.api.create(PODS, pod)
    widget_sized(plane, 4)
    ref = {"apiGroup": GROUP, "kind": "Widget", "name": "w"}
    plane.api.create(BUFFERS, buffer("scaled", scalableRef=ref, percentage=50))

    def told(kind: str) -> str:
        conditions = (plane.api.get(f"{BUFFERS}/scaled").get("status") or {}).get("conditions")
        found = [each for each in conditions or () if each["type"] == kind]
        return f"{found[0]['status']} {found[0]['message']}" if found else ""

    def chunks() -> list[str]:
        made = [
            each
            for each in plane.api.items(PODS)
            if each["metadata"].get("labels", {}).get("headroom.dev/for") == "scaled"
        ]
        return [each["spec"]["containers"][0]["resources"]["requests"]["cpu"] for each in made]

    account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
    with OperatorProcess(account, tmp_path / "log", "--dialect", "capacitybuffer"):
        needs = "the operator needs get, list and watch on widgets.shops.example.com"
        until("it says what is missing", lambda: needs in told("ReadyForProvisioning"), seconds=60)
        may_see_widgets(plane)
        until("half of four", lambda: chunks() == ["300m"] * 2, seconds=90)
        widget_sized(plane, 6)
        until("half of six", lambda: chunks() == ["300m"] * 3, seconds=60)
        plane.api.delete(f"{BUFFERS}/scaled")
        until("all go", lambda: not chunks(), seconds=60)


def _is_served(plane: ControlPlane) -> bool:
    try:
        plane.api.items(WIDGETS)
    except ApiFailure:
        return False
    return True
