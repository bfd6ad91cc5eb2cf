"""Extended resources (GPUs and other devices) are shown wherever CPU and memory are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headroom.wire.yamls import load
from tests.cli.commands import headroom

GPU = "nvidia.com/gpu"
HOLD = """
apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: train, namespace: ml, creationTimestamp: "2027-01-04T08:00:00Z"}
spec:
  template:
    spec: {containers: [{name: m, resources: {requests: {cpu: "1", nvidia.com/gpu: "2"}}}]}
  owners: [{labelSelector: {matchLabels: {app: train}}}]
"""
CLUSTER = f"""
apiVersion: v1
kind: Node
metadata: {{name: a}}
status:
  allocatable:
    {{cpu: "8", memory: 64Gi, pods: "110", nvidia.com/gpu: "4", ephemeral-storage: 100Gi}}
  conditions: [{{type: Ready, status: "True"}}]
---
apiVersion: v1
kind: Pod
metadata:
  name: keeper
  namespace: ml
  labels: {{headroom.dev/role: guardian}}
  annotations: {{headroom.dev/parent: Hold/ml/train}}
spec:
  nodeName: a
  containers: [{{name: p, resources: {{requests: {{cpu: "1", nvidia.com/gpu: "2"}}}}}}]
status: {{phase: Running}}
---
apiVersion: v1
kind: Pod
metadata: {{name: big, namespace: ml}}
spec: {{containers: [{{name: p, resources: {{requests: {{nvidia.com/gpu: "3"}}}}}}]}}
---
{HOLD}
status: {{phase: Available, nodeName: a}}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    done = headroom(capsys, *arguments)
    assert done.code == 0, done.err
    return [line.split() for line in done.out.splitlines() if line]


def test_nodes_show_their_devices_used_held_and_free(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    heading, everything, node = table(capsys, "get", "nodes", "--from", cluster)
    assert heading[9:] == ["NVIDIA.COM/GPU", "USED", "HELD", "FREE", "STATE"]
    assert everything[9:13] == node[9:13] == ["4", "0", "2", "2"]
    assert "EPHEMERAL-STORAGE" not in heading  # Every node has it, and nobody asks for it.


@pytest.mark.parametrize("kind", ["holds", "guardians"])
def test_lists_show_the_devices_that_are_asked_for(
    capsys: pytest.CaptureFixture[str], cluster: str, kind: str
) -> None:
    heading, row = table(capsys, "get", kind, "--from", cluster)
    assert row[heading.index("NVIDIA.COM/GPU")] == "2"


def test_top_shows_devices_of_holders_and_nodes(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    done = headroom(capsys, "top", "--from", cluster)
    assert done.out.count("NVIDIA.COM/GPU") == 2
    holder = done.out.splitlines()[1].split()
    assert holder[-2:] == ["2", "50%"]


def test_a_plan_shows_the_devices_it_would_hold(
    capsys: pytest.CaptureFixture[str], cluster: str, tmp_path: Path
) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(HOLD.replace("name: train", "name: more"))
    heading, row = table(capsys, "plan", str(file), "--from", cluster)[1:]
    assert (heading[-1], row[-1]) == ("NVIDIA.COM/GPU", "2")
    told = json.loads(headroom(capsys, "plan", str(file), "--from", cluster, "-o", "json").out)
    assert told["items"][0]["slots"][0]["requests"] == {"cpu": 1000, GPU: 2}


def test_a_description_says_what_is_kept_and_what_nodes_have_free(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    held = headroom(capsys, "describe", "hold/train", "-n", "ml", "--from", cluster)
    assert "shape   cpu 1, nvidia.com/gpu 2" in held.out
    waits = headroom(capsys, "describe", "pod/big", "-n", "ml", "--from", cluster)
    assert "asks for   nvidia.com/gpu 3" in waits.out
    assert "NVIDIA.COM/GPU FREE" in waits.out


def test_reserve_takes_devices_labels_of_nodes_and_taints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = headroom(
        capsys,
        *("reserve", "night", "--request", "nvidia.com/gpu=2", "--request", "cpu=4"),
        *("--owner", "app=train", "--node-selector", "pool=gpu", "--node-selector", "disk=ssd"),
        *("--toleration", "gpu", "--toleration", "team=ml:NoSchedule", "--dry-run"),
    )
    assert done.code == 0, done.err
    ((manifest,),) = [[each.data for each in load(done.out, "out")]]
    pod = manifest["spec"]["template"]["spec"]
    assert pod["containers"][0]["resources"]["requests"] == {"cpu": "4", GPU: "2"}
    assert pod["nodeSelector"] == {"pool": "gpu", "disk": "ssd"}
    assert pod["tolerations"] == [
        {"key": "gpu", "operator": "Exists"},
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
    ]


@pytest.mark.parametrize("text", ["", "=x", "key:Never", ":NoSchedule"])
def test_a_toleration_that_is_none_is_refused(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    done = headroom(
        capsys, "reserve", "x", "--cpu", "1", "--owner", "a=b", "--toleration", text, "--dry-run"
    )
    assert done.code == 2
    assert "KEY=VALUE:EFFECT" in done.err
