"""A running pod grows in place into the room held for it: real kubelets give it, rivals do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.manifests import Installation, install_objects
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess
from tests.stories.things import NAMESPACE, hold, pod

pytestmark = pytest.mark.e2e
NOW = {"gracePeriodSeconds": 0}


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    work = tmp_path_factory.mktemp("growing")
    with ControlPlane.start(work / "plane", hollow_nodes=1) as plane:
        install(plane, install_objects(Installation("example.com/headroom:1", replicas=0)))
        with OperatorProcess(plane.operator_kubeconfig(), work / "operator.log"):
            yield plane


def found(plane: ControlPlane, name: str) -> Json:
    return plane.api.get(PODS.path(NAMESPACE, name))


def resized(plane: ControlPlane, name: str, cpu: str) -> None:
    wanted = {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    change = json.dumps({"spec": wanted})
    plane.kubectl("patch", "pod", name, "--subresource", "resize", "--patch", change)


def given(plane: ControlPlane, name: str) -> str:
    """What the kubelet has given the pod."""
    statuses: list[dict[str, Any]] = found(plane, name)["status"].get("containerStatuses", [])
    return str(statuses[0].get("allocatedResources", {}).get("cpu", "")) if statuses else ""


@pytest.mark.parametrize("once", [True, False])
def test_a_pod_grows_into_the_room_held_for_it_and_no_rival_gets_it(
    plane: ControlPlane, once: bool
) -> None:
    name, where = f"web-{once}".lower(), "hollow-0"
    plane.api.create(PODS.path(NAMESPACE), pod(name, cpu="200m", app=name))
    until("it runs", lambda: found(plane, name)["status"].get("phase") == "Running")
    kept = hold(name, cpu="700m", app=name, allocateOnce=once)
    plane.api.create(HOLDS.path(NAMESPACE), kept)
    path = HOLDS.path(NAMESPACE, name)
    until(
        "it is held",
        lambda: plane.api.get(path).get("status", {}).get("phase") == "Available",
    )
    for number in range(3):
        plane.api.create(PODS.path(NAMESPACE), pod(f"{name}-rival-{number}", cpu="300m"))
    resized(plane, name, "800m")
    until("the kubelet has given it", lambda: given(plane, name) == "800m", seconds=90)
    thing = found(plane, name)
    assert thing["metadata"]["annotations"]["headroom.dev/claimed"] == f"Hold/default/{name}"
    assert thing["spec"]["nodeName"] == where
    phase = "Succeeded" if once else "Available"
    until("it is told", lambda: plane.api.get(path)["status"].get("allocated") == {"cpu": "600m"})
    assert plane.api.get(path)["status"]["phase"] == phase
    rivals = [found(plane, f"{name}-rival-{number}") for number in range(3)]
    assert [each["spec"].get("nodeName") for each in rivals] == [None] * 3
    for each in (name, *(f"{name}-rival-{number}" for number in range(3))):
        plane.api.delete(PODS.path(NAMESPACE, each), NOW)
    plane.api.delete(path)
