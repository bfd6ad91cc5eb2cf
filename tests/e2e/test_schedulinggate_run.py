"""Mountpoint's gate on a real cluster: an operator as installed, and one that is just run."""

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
from tests.stories.followers import claim, gated, volume

pytestmark = pytest.mark.e2e
DIALECT = "schedulinggate"
DRIVER = "s3.csi.aws.com"
GATE = f"{DRIVER}/reserve-headroom-for-mppod"
PODS = "/api/v1/namespaces/default/pods"
HEADROOM = "/apis/headroom.dev/v1alpha1/namespaces/mount-s3/headrooms/mountpoint"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane with the dialect installed, and a bound volume."""
    installation = Installation("example.com/headroom:1", replicas=0, codecs=chosen([DIALECT]))
    install(control_plane, install_objects(installation))
    control_plane.api.create(VOLUMES, volume("s3-pv", DRIVER))
    control_plane.api.create(CLAIMS, claim("s3-pvc", "s3-pv"))
    yield control_plane
    for path in (f"{CLAIMS}/s3-pvc", f"{VOLUMES}/s3-pv"):
        control_plane.api.patch(path, {"metadata": {"finalizers": None}})
        control_plane.api.delete(path)
    control_plane.kubectl("delete", "namespace", "mount-s3", "--wait=false")


def serve_one(plane: ControlPlane) -> None:
    """Let a gated workload come, and see it through."""
    plane.api.create(PODS, gated("workload", "s3-pvc", gates=(GATE,)))

    def workload() -> dict[str, Any]:
        return dict(plane.api.get(f"{PODS}/workload"))

    until("it runs", lambda: workload()["status"]["phase"] == "Running", seconds=60)
    until(
        "its headroom pod is gone",
        lambda: plane.api.items("/api/v1/namespaces/mount-s3/pods") == [],
    )
    plane.api.delete(f"{PODS}/workload", {"gracePeriodSeconds": 0})


def test_the_rights_that_install_gives_are_enough(plane: ControlPlane, tmp_path: Path) -> None:
    account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
    with OperatorProcess(account, tmp_path / "log", "--dialect", DIALECT) as running:
        serve_one(plane)
        assert "not_prepared" not in running.log()
        assert "missing" not in running.log()


def test_an_operator_that_is_just_run_makes_what_is_missing(
    plane: ControlPlane, tmp_path: Path
) -> None:
    plane.api.delete(HEADROOM)
    plane.kubectl("delete", "priorityclass", "mount-s3-headroom")
    with OperatorProcess(plane.kubeconfig, tmp_path / "log", "--dialect", DIALECT):
        serve_one(plane)
    assert plane.api.get(HEADROOM)["spec"]["mode"] == "Preemptible"
