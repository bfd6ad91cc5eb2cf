"""The operator with a dialect, as installed: its own account, its own rights, a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.dialects import chosen
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, remove_asking_policy, until
from tests.e2e.processes import OperatorProcess
from tests.versions import has

pytestmark = pytest.mark.e2e
SHOP = "dialect-shop"
KORDER = f"/apis/core.korder.dev/v1alpha1/namespaces/{SHOP}"
GATE = "headroom.dev/claim"
PODS = f"/api/v1/namespaces/{SHOP}/pods"
ORDER = {
    "apiVersion": "core.korder.dev/v1alpha1",
    "kind": "Order",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "strategy": {"type": "OneTime", "refreshPolicy": "OnClaim"},
        "template": {"spec": {"duration": "1h", "resources": {"requests": {"cpu": "100m"}}}},
    },
}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The shared control plane, korder installed, and an operator at work with its own rights."""
    installation = Installation("example.com/headroom:1", replicas=0, codecs=chosen(["korder"]))
    install(control_plane, install_objects(installation))
    control_plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": SHOP}})
    log = Path(tmp_path_factory.mktemp("operator")) / "log"
    account = control_plane.service_account_kubeconfig("headroom-system", "headroom-operator")
    with OperatorProcess(account, log, "--dialect", "korder") as running:
        yield control_plane
        assert "missing" not in running.log()
        control_plane.kubectl("delete", "orders.core.korder.dev", "--all", "-n", SHOP)
    remove_asking_policy(control_plane)


def phases(plane: ControlPlane) -> list[str]:
    tickets = plane.api.items(f"{KORDER}/tickets")
    return sorted(str((ticket.get("status") or {}).get("phase")) for ticket in tickets)


def gates(plane: ControlPlane, path: str) -> list[str]:
    """Which gates a new owner gets."""
    container = {"name": "m", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"name": "owner", "annotations": {"korder.dev/order-request": "web"}}
    spec: dict[str, Any] = {"containers": [container]}
    if not has("mutating-policy"):  # Then the manifest has to say it.
        spec["schedulingGates"] = [{"name": GATE}]
    made = plane.api.create(path, {"metadata": metadata, "spec": spec})
    return [gate["name"] for gate in made["spec"].get("schedulingGates") or ()]


def test_an_order_is_kept_and_a_pod_that_asks_gets_its_ticket(plane: ControlPlane) -> None:
    plane.api.create(f"{KORDER}/orders", ORDER)
    until("both tickets are ready", lambda: phases(plane) == ["Ready", "Ready"], seconds=60)
    until("pods that ask are gated", lambda: gates(plane, f"{PODS}?dryRun=All") == [GATE])
    assert gates(plane, PODS) == [GATE]

    def owner() -> dict[str, Any]:
        return plane.api.get(f"{PODS}/owner")

    until("the owner has its place", lambda: bool(owner()["spec"].get("nodeName")))
    assert owner()["metadata"]["annotations"]["headroom.dev/claimed"].startswith("Ticket/")
    until(
        "what was claimed is kept anew",
        lambda: phases(plane) == ["Claimed", "Ready", "Ready"],
        seconds=60,
    )
    plane.api.delete(f"{PODS}/owner")
