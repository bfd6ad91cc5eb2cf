"""`headroom simulate` with the profile Karpenter: machines come as a real one would order them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import headroom

EXAMPLE = Path(__file__).parents[2] / "examples" / "schedulinggate" / "manifests.yaml"
POOLS = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: karpenter}
spec:
  until: 10m
  autoscaler: {enabled: true, profile: Karpenter, scaleDownAfter: 1m}
  pools:
    - {name: two, count: 0, max: 20, cpu: 1900m, memory: 8Gi, bootDelay: 20s, price: 0.1}
    - {name: four, count: 0, max: 20, cpu: 3900m, memory: 16Gi, bootDelay: 20s, price: 0.2}
    - {name: eight, count: 0, max: 20, cpu: 7900m, memory: 32Gi, bootDelay: 20s, price: 0.4}
"""
ORDINARY = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ordinary}
spec:
  replicas: 16
  selector: {matchLabels: {app: ordinary}}
  template:
    metadata: {labels: {app: ordinary}}
    spec: {containers: [{name: c, image: web, resources: {requests: {cpu: 1500m}}}]}
"""
SLOTS = """
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: every}
spec:
  slot: {template: {resources: {requests: {cpu: 500m}}}}
  size: {perNode: {slots: 1}}
  owners: [{labelSelector: {matchLabels: {app: burst}}}]
"""
DAEMONS = """
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: keeper}
spec:
  selector: {matchLabels: {app: keeper}}
  template:
    metadata: {labels: {app: keeper}}
    spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: 500m}}}]}
"""


def played(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str, *more: str
) -> list[dict[str, Any]]:
    file = folder / "scenario.yaml"
    file.write_text(text)
    finished = headroom(capsys, "simulate", str(file), *more, "-o", "json")
    assert finished.code == 0, finished.err
    objects: list[dict[str, Any]] = json.loads(finished.out)["objects"]
    return objects


def nodes(objects: list[dict[str, Any]]) -> list[str]:
    return [each["metadata"]["name"] for each in objects if each["kind"] == "Node"]


def test_a_gated_workload_gets_a_machine_for_itself_and_its_helper(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    flags = (str(EXAMPLE), "--dialect", "schedulinggate")
    assert nodes(played(capsys, tmp_path, POOLS, *flags)) == ["four-0"]


def test_slots_on_every_node_take_as_few_nodes_as_a_daemon_set(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    blueprint = nodes(played(capsys, tmp_path, POOLS + ORDINARY + DAEMONS))
    objects = played(capsys, tmp_path, POOLS + ORDINARY + SLOTS)
    assert len(nodes(objects)) == len(blueprint) == 4
    role = "headroom.dev/role"
    guardians = [each for each in objects if role in (each["metadata"].get("labels") or {})]
    assert sorted(each["spec"]["nodeName"] for each in guardians) == sorted(nodes(objects))
