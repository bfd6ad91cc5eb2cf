"""`headroom install` and `headroom run --dialect korder` on a real cluster, with kubectl beside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.controlplane import ControlPlane
from testbed.nodes import fake_node
from tests.e2e.installing import until
from tests.e2e.processes import HeadroomProcess

pytestmark = pytest.mark.e2e
MANIFESTS = Path(__file__).parents[1] / "dialects/korder/manifests"
NODES = ("one", "two", "three")


@pytest.fixture(scope="module")
def serving(
    binaries: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ControlPlane, HeadroomProcess]]:
    home = tmp_path_factory.mktemp("korder")
    with ControlPlane.start(home, kwok=True) as plane:
        room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        for name in NODES:
            plane.api.create("/api/v1/nodes", fake_node(name, room, {"kubernetes.io/os": "linux"}))
        plane.wait_nodes_ready(len(NODES), names=list(NODES))
        access = ("--dialect", "korder", "--kubeconfig", str(plane.kubeconfig))
        subprocess.run([sys.executable, "-m", "headroom", "install", *access], check=True)
        with HeadroomProcess(home / "operator.log", "run", *access) as operator:
            yield plane, operator


def phases(plane: ControlPlane) -> dict[str, str]:
    items = json.loads(plane.kubectl("get", "tickets", "-o", "json"))["items"]
    return {item["metadata"]["name"]: item.get("status", {}).get("phase", "") for item in items}


def order_line(plane: ControlPlane) -> list[str]:
    """What kubectl prints of the one order."""
    return plane.kubectl("get", "orders").splitlines()[1].split()


def test_an_order_of_korders_guide_lives_its_life(
    serving: tuple[ControlPlane, HeadroomProcess],
) -> None:
    plane, _ = serving
    ready = {f"every-node-{name}": "Ready" for name in NODES}
    plane.kubectl("apply", "-f", str(MANIFESTS / "every-node.yaml"))
    until("a ticket is ready on each node", lambda: phases(plane) == ready)
    counts = ["every-node", "OneTime", "3", "3"]
    until("kubectl shows the counts", lambda: order_line(plane)[:4] == counts)
    agent = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "agent",
            "annotations": {"korder.dev/ticket-request": "name:every-node-two"},
        },
        "spec": {"containers": [{"name": "main", "image": "app"}]},
    }
    dry = "/api/v1/namespaces/default/pods?dryRun=All"
    until(  # An API server takes a while to know a new policy.
        "pods that ask are gated",
        lambda: "schedulingGates" in plane.api.create(dry, agent)["spec"],
    )
    plane.kubectl("apply", "-f", "-", input=json.dumps(agent))
    until("the pod has its ticket", lambda: phases(plane).get("every-node-two") == "Claimed")
    pod = plane.api.get("/api/v1/namespaces/default/pods/agent")
    assert pod["spec"]["nodeName"] == "two"
    assert pod["metadata"]["annotations"]["korder.dev/ticket-claimed"] == "every-node-two"
    until("its ticket is replaced", lambda: phases(plane).get("every-node-two-1") == "Ready")
    plane.kubectl("delete", "order", "every-node", "--wait=true")
    until("nothing is left but the pod", lambda: not phases(plane))
    assert plane.kubectl("get", "pods", "-o", "name").split() == ["pod/agent"]
