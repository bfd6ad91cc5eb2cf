"""The flags of proactive scale-up on a real cluster: what is made when they are on, and goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.dialects import chosen
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
HEADROOM = f"/apis/headroom.dev/v1alpha1/namespaces/{HOME}/headrooms"
LABEL = "karpenter.azure.com/proactive-scaleup%3Dplaceholder"
PODS = f"/api/v1/namespaces/{HOME}/pods?labelSelector={LABEL}"
FLAGS = ("--enable-proactive-scaleup", "--proactive-scaleup-threshold=0.5")


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane, installed with the dialect, and a pod that uses one CPU."""
    installation = Installation("example.com/headroom:1", replicas=0, codecs=chosen(["proactive"]))
    install(control_plane, install_objects(installation))
    container = {"name": "m", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    made = {"metadata": {"name": "in-use"}, "spec": {"containers": [container]}}
    control_plane.api.create("/api/v1/namespaces/default/pods", made)
    yield control_plane
    control_plane.api.delete("/api/v1/namespaces/default/pods/in-use")


def operator(plane: ControlPlane, folder: Path, *flags: str) -> OperatorProcess:
    account = plane.service_account_kubeconfig(HOME, "headroom-operator")
    return OperatorProcess(account, folder / "log", *flags)


def placeholders(plane: ControlPlane) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plane.api.items(PODS)
    return found


def test_switched_on_placeholders_stand_and_switched_off_all_go(
    plane: ControlPlane, tmp_path: Path
) -> None:
    with operator(plane, tmp_path, *FLAGS) as running:
        until("as much is held as is used", lambda: len(placeholders(plane)) >= 2, seconds=60)
        (made,) = plane.api.items(HEADROOM)
        assert made["spec"]["limits"] == {"pods": 5000, "nodes": 15000}
        assert {each["spec"]["priority"] for each in placeholders(plane)} == {-1000}
        assert "not_settled" not in running.log()
    with operator(plane, tmp_path, *FLAGS, "--pod-injection-limit=3"):
        until(
            "the limit is in line",
            lambda: plane.api.items(HEADROOM)[0]["spec"]["limits"]["pods"] == 3,
        )
    with operator(plane, tmp_path, "--dialect=proactive", "--enable-proactive-scaleup=false"):
        until("the object is gone", lambda: not plane.api.items(HEADROOM), seconds=60)
        until("and every placeholder", lambda: not placeholders(plane), seconds=60)
