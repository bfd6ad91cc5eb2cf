"""`headroom simulate --enable-proactive-scaleup` and its companions, as with `headroom run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Finished, headroom

LOAD = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: load}
spec:
  until: 10m
  pools: [{name: g, count: 1, max: 3, cpu: "4", memory: 16Gi, bootDelay: 30s}]
  autoscaler: {enabled: true, profile: PROFILE}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: m, image: web, resources: {requests: {cpu: 500m}}}]}
"""
SWITCH = "--enable-proactive-scaleup"


def played(
    capsys: pytest.CaptureFixture[str], folder: Path, *flags: str, profile: str = "Karpenter"
) -> Finished:
    file = folder / "load.yaml"
    file.write_text(LOAD.replace("PROFILE", profile))
    return headroom(capsys, "simulate", str(file), "-o", "json", *flags)


def counted(finished: Finished) -> tuple[int, int]:
    """How many nodes there are in the end, and how many placeholders."""
    assert finished.code == 0, finished.err
    objects: list[dict[str, Any]] = json.loads(finished.out)["objects"]
    nodes = [each for each in objects if each["kind"] == "Node"]
    label = "karpenter.azure.com/proactive-scaleup"
    pods = [each for each in objects if each["kind"] == "Pod"]
    return len(nodes), sum(label in each["metadata"]["labels"] for each in pods)


@pytest.mark.parametrize(
    "flags", [(SWITCH,), (f"{SWITCH}=true",), ("--dialect", "proactive")], ids=str
)
def test_placeholders_bring_a_node_before_it_is_needed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flags: tuple[str, ...]
) -> None:
    assert counted(played(capsys, tmp_path)) == (1, 0)
    nodes, placeholders = counted(played(capsys, tmp_path, *flags))
    assert nodes == 2
    assert placeholders > 0


@pytest.mark.parametrize(
    "flag",
    ["--pod-injection-limit=0", "--node-limit=0", "--proactive-scaleup-threshold=1"],
)
def test_its_companions_count(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flag: str
) -> None:
    assert counted(played(capsys, tmp_path, SWITCH, flag)) == (1, 0)


def test_an_autoscaler_that_overlooks_placeholders_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    deaf = played(capsys, tmp_path, SWITCH, profile="ClusterAutoscaler")
    (wish,) = [each for each in json.loads(deaf.out)["objects"] if each["kind"] == "Headroom"]
    assert "--proactive-scaleup-profile" in wish["metadata"]["annotations"]["headroom.dev/remark"]
    heard = played(
        capsys,
        tmp_path,
        SWITCH,
        "--proactive-scaleup-profile=clusterAutoscaler",
        profile="ClusterAutoscaler",
    )
    assert counted(heard)[0] == 2


def test_a_flag_that_makes_no_sense_is_misuse(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    done = played(capsys, tmp_path, SWITCH, "--node-limit=many")
    assert done.code == 2
    assert "--node-limit: 'many' is not an integer" in done.err


def test_owners_of_other_namespaces_are_served_where_that_is_allowed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hold = {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": "kept", "namespace": "platform"},
        "spec": {
            "template": {
                "spec": {
                    "containers": [{"name": "m", "resources": {"requests": {"cpu": "1"}}}],
                }
            },
            "owners": [{"object": {"namespace": "team", "name": "owner"}}],
        },
    }
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "owner", "namespace": "team"},
        "spec": {
            "schedulingGates": [{"name": "headroom.dev/claim"}],
            "containers": [
                {"name": "m", "image": "x", "resources": {"requests": {"cpu": "1"}}},
            ],
        },
    }
    scenario = {
        "apiVersion": "sim.headroom.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "across"},
        "spec": {
            "until": "2m",
            "pools": [{"name": "g", "count": 1, "cpu": "4"}],
            "steps": [{"at": "30s", "objects": [owner]}],
        },
    }
    file = tmp_path / "across.yaml"
    file.write_text("\n---\n".join(map(json.dumps, (scenario, hold))))
    refused = headroom(capsys, "simulate", str(file), "-o", "json")
    assert refused.code == 1
    assert "unless the operator runs with --allow-cross-namespace-owners" in refused.err
    allowed = headroom(
        capsys, "simulate", str(file), "-o", "json", "--allow-cross-namespace-owners"
    )
    assert allowed.code == 0, allowed.err
    summary = json.loads(allowed.out)["summary"]
    assert (summary["claims"], summary["owners"]["started"]) == (1, 1)
