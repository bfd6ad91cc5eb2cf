"""A simulation that goes on from what a real cluster told: nothing is made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headroom.wire.yamls import dump
from tests.cli.commands import headroom

Json = dict[str, Any]
CLUSTER = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: live}
spec: {until: 2m, pools: [{name: g, count: 2, cpu: "8"}]}
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: burst}
spec:
  slot: {template: {resources: {requests: {cpu: "1"}}}}
  size: {replicas: 2}
  owners: [{labelSelector: {matchLabels: {app: burst}}}]
"""
WORKLOAD = """---
apiVersion: apps/v1
kind: KIND
metadata: {name: web, annotations: {deprecated.daemonset.template.generation: "1"}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: m, image: web, resources: {requests: {cpu: "1"}}}]}
"""
HASHES = ("pod-template-hash", "controller-revision-hash")


def places(objects: list[Json]) -> list[tuple[str, str, str]]:
    """Every pod, by its uid, with its node."""
    return sorted(
        (each["metadata"]["name"], each["metadata"]["uid"], each["spec"].get("nodeName", ""))
        for each in objects
        if each["kind"] == "Pod"
    )


def as_elsewhere(text: str) -> str:
    """The same objects with the hashes that another controller would have made."""
    found = {
        value
        for each in json.loads(text)["objects"]
        for name, value in (each["metadata"].get("labels") or {}).items()
        if name in HASHES
    }
    for value in found:
        text = text.replace(value, "86965c46fb")
    return text


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
@pytest.mark.parametrize("form", ["dump", "list"])
def test_pods_of_another_clusters_controllers_stay(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str, form: str
) -> None:
    file = tmp_path / "world.yaml"
    file.write_text(CLUSTER + WORKLOAD.replace("KIND", kind))
    first = headroom(capsys, "simulate", str(file), "-o", "json")
    assert first.code == 0, first.err
    told = json.loads(as_elsewhere(first.out))
    objects = [each for each in told["objects"] if each["kind"] != "Event"]
    listed: Json = {"apiVersion": "v1", "kind": "List", "items": objects}
    file.write_text(json.dumps(told) if form == "dump" else dump(listed))
    done = headroom(capsys, "simulate", str(file), "--until", "5m", "-o", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert places(result["objects"]) == places(objects)
    assert result["summary"]["slots"]["held"] == 2
    assert ("the newest time in the objects" in done.err) == (form == "list")


def test_a_manifest_without_a_servers_fields_is_applied_as_ever(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "world.yaml"
    file.write_text(CLUSTER + WORKLOAD.replace("KIND", "Deployment"))
    done = headroom(capsys, "simulate", str(file), "-o", "json")
    assert json.loads(done.out)["summary"]["pods"]["created"] == 1
