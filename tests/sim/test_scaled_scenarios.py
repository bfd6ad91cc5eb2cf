"""Scenarios with pools and an autoscaler: machines come, cost and go, as CONTRACT.md has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from headroom.sim.scenarios.loader import ScenarioError, load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.scenarios.report import Result

BURST = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: burst}
spec:
  until: 1h
  pools:
    - {name: general, count: 1, cpu: "4", memory: 16Gi, price: 0.20}
    - {name: burst, count: 0, max: 10, cpu: "8", memory: 32Gi, bootDelay: 90s, price: 0.60}
  autoscaler: {enabled: true, scaleDownAfter: 10m}
  steps:
    - {at: 30s, scale: {kind: Deployment, name: web}, replicas: 20}
    - {at: 1m, expect: {kind: Node, count: 1}}
    - at: 3m
      expect: {kind: Pod, labelSelector: app=web, count: 20, where: {status.phase: Running}}
    - {at: 3m, expect: {kind: Node, labelSelector: sim.headroom.dev/pool=burst, count: 2}}
    - {at: 10m, scale: {kind: Deployment, name: web}, replicas: 2}
    - {at: 19m, expect: {kind: Node, count: 3}}
    - {at: 25m, expect: {kind: Node, count: 1}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: web, resources: {requests: {cpu: "1"}}}]}
"""

LOW = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: placeholder}
value: -1000
---
apiVersion: v1
kind: Pod
metadata: {name: placeholder}
spec:
  priorityClassName: placeholder
  containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]
"""


def played(folder: Path, text: str) -> Result:
    file = folder / "main.yaml"
    file.write_text(text, encoding="utf-8")
    return run_scenario(load_scenario([file]), None)


def scaled(autoscaler: str) -> str:
    pool = '{name: m, count: 0, max: 3, cpu: "4", bootDelay: 5s}'
    spec = f"spec: {{until: 5m, pools: [{pool}], autoscaler: {autoscaler}}}"
    head = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: x}\n"
    return head + spec + LOW


def machines(result: Result) -> int:
    return sum(item["kind"] == "Node" for item in result.objects)


def test_a_burst_brings_machines_that_go_again_and_are_paid_for(tmp_path: Path) -> None:
    result = played(tmp_path, BURST)
    assert result.failures == ()
    seconds = {"general-0": 3600.0}
    for entry in result.journal:
        if entry["what"] in ("node_added", "node_removed") and "burst" in entry["object"]:
            name = entry["object"].removeprefix("Node/")
            sign = -1 if entry["what"] == "node_added" else 1
            seconds[name] = seconds.get(name, 0) + sign * entry["at"]
    assert sorted(seconds) == ["burst-0", "burst-1", "general-0"]
    prices = {name: 0.2 if name == "general-0" else 0.6 for name in seconds}
    paid = sum(seconds[name] * prices[name] / 3600 for name in seconds)
    assert result.summary["cost"] == pytest.approx(paid, abs=1e-3)
    assert 0.2 < result.summary["cost"] < 0.7


@pytest.mark.parametrize(
    ("autoscaler", "count"),
    [
        ("{enabled: true}", 0),
        ("{enabled: true, profile: ClusterAutoscaler}", 0),
        ("{enabled: true, priorityCutoff: -2000}", 1),
        ("{enabled: true, profile: Karpenter}", 1),
        ("{enabled: false, profile: Karpenter}", 0),
    ],
)
def test_who_serves_placeholders_of_very_low_priority(
    tmp_path: Path, autoscaler: str, count: int
) -> None:
    assert machines(played(tmp_path, scaled(autoscaler))) == count


@pytest.mark.parametrize(
    ("autoscaler", "path"),
    [
        ("{enabled: true, profile: Ours}", "spec.autoscaler.profile"),
        ("{enabled: true, priorityCutoff: low}", "spec.autoscaler.priorityCutoff"),
        ("{enabled: true, scaleDownAfter: 10}", "spec.autoscaler.scaleDownAfter"),
        ("{enabled: true, expander: price}", "spec.autoscaler.expander"),
    ],
)
def test_what_is_wrong_with_an_autoscaler_is_told_with_its_path(
    tmp_path: Path, autoscaler: str, path: str
) -> None:
    with pytest.raises(ScenarioError, match=path):
        played(tmp_path, scaled(autoscaler))
