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
    speech = chosen(["capacitybuffer"])
    install(
        control_plane, install_objects(Installation("example.com/x:1", replicas=0, speech=speech))
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
