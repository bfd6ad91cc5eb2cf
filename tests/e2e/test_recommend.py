"""`headroom recommend` from the pods of a real cluster: when each was created, and its requests."""

from __future__ import annotations

import json
import time

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.test_cli import headroom

pytestmark = pytest.mark.e2e
HOME = "recommended"
PODS = 4


def test_the_pods_of_a_cluster_are_arrivals(control_plane: ControlPlane) -> None:
    plane = control_plane
    plane.api.create("/api/v1/namespaces", {"metadata": {"name": HOME}})
    try:
        for index in range(PODS):
            plane.api.create(f"/api/v1/namespaces/{HOME}/pods", _pod(index))
            time.sleep(1.1)  # Kubernetes tells the time of creation in whole seconds.
        flags = ("-n", HOME, "-l", "app=shop", "--promise", "0.5", "-o", "json")
        done = headroom(plane.kubeconfig, "recommend", *flags)
        assert done.returncode in (0, 1), done.stderr
        found = json.loads(done.stdout)
        assert found["trained"]["pods"] + found["judged"]["pods"] == PODS - 1
        requests = found["recommended"]["spec"]["slot"]["template"]["resources"]["requests"]
        assert requests["cpu"] == "50m"
        assert found["sure"]["level"] == "low"
        nobody = headroom(plane.kubeconfig, "recommend", "-n", HOME, "-l", "app=nobody")
        assert nobody.returncode == 2
        assert "no pods arrived" in nobody.stderr
    finally:
        plane.kubectl("delete", "namespace", HOME, "--wait=false")


def _pod(index: int) -> dict[str, object]:
    app = "shop" if index else "other"
    container = {"name": "main", "image": "shop", "resources": {"requests": {"cpu": "50m"}}}
    return {
        "metadata": {"name": f"p{index}", "labels": {"app": app}},
        "spec": {"containers": [container], "automountServiceAccountToken": False},
    }
