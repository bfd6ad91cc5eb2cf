"""The embedded kubelet beside a real one (hollow: real code, no containers): the same answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.sim.world import SimWorld
from testbed.controlplane import ControlPlane
from tests.patience import deadline_after, keep_waiting
from tests.sim.things import pod

PODS = "/api/v1/namespaces/default/pods"
PATIENCE = 30.0


def scene(node: str) -> list[dict[str, Any]]:
    """Pods put on one node of 1 CPU, one after the other: some run, some must be rejected."""
    port = [{"containerPort": 80, "hostPort": 80}]
    with_port = {"name": "main", "image": "app", "ports": port}
    gates = [{"conditionType": "example.com/never"}]
    return [
        pod("kubelet-runs", cpu="800m", nodeName=node),
        pod("kubelet-cpu", cpu="800m", nodeName=node),
        pod("kubelet-selector", cpu="10m", nodeName=node, nodeSelector={"no": "such"}),
        pod("kubelet-gate", cpu="10m", nodeName=node, readinessGates=gates),
        pod("kubelet-port", nodeName=node, containers=[with_port]),
        pod("kubelet-same-port", nodeName=node, containers=[with_port]),
    ]


def answer(stored: dict[str, Any]) -> dict[str, Any]:
    """What a kubelet has to say of a pod."""
    status = stored["status"]
    conditions = [
        (each["type"], each["status"], each.get("reason"), each.get("message"))
        for each in status.get("conditions", ())
    ]
    told = {name: status.get(name) for name in ("phase", "reason", "message", "qosClass")}
    return {**told, "conditions": conditions}


@pytest.fixture
def plane(binaries: Path, tmp_path: Path) -> Iterator[ControlPlane]:
    with ControlPlane.start(tmp_path / "plane", hollow_nodes=1) as started:
        yield started


@pytest.mark.e2e
def test_both_kubelets_say_the_same(plane: ControlPlane, world: SimWorld) -> None:
    api = plane.api
    node = api.items("/api/v1/nodes")[0]
    name = node["metadata"]["name"]
    world.apply({**node, "apiVersion": "v1", "kind": "Node", "spec": {}})
    world.run_for(1)
    for given in scene(name):
        which = given["metadata"]["name"]
        api.create(PODS, given)
        deadline = deadline_after(PATIENCE)
        while api.get(f"{PODS}/{which}")["status"]["phase"] == "Pending":
            keep_waiting(deadline, f"{which} is not Pending")
            time.sleep(0.1)  # a real kubelet takes real time
        world.apply(given)
        world.run_for(3)
        theirs = answer(api.get(f"{PODS}/{which}"))
        ours = answer(dict(world.get("Pod", "default", which) or {}))
        assert (which, ours) == (which, theirs)
    for given in scene(name):
        api.delete(f"{PODS}/{given['metadata']['name']}", {"gracePeriodSeconds": 0})
