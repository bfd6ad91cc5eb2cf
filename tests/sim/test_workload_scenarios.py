"""A scenario with every kind of workload: nodes come and go, and it is always the same run."""

from __future__ import annotations

import json
from pathlib import Path

from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.scenarios.report import Result

SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: workloads}
spec:
  until: 10m
  seed: 5
  pools: [{name: w, count: 3, cpu: "4"}]
  steps:
    - {at: 30s, expect: {kind: DaemonSet, name: agent, where: {status.numberReady: 3}}}
    - {at: 30s, expect: {kind: StatefulSet, name: db, where: {status.readyReplicas: 2}}}
    - {at: 40s, scale: {kind: StatefulSet, name: db}, replicas: 1}
    - {at: 50s, patch: {kind: Node, name: w-0}, with: {spec: {unschedulable: true}}}
    - {at: 60s, expect: {kind: DaemonSet, name: agent, where: {status.numberReady: 3}}}
    - {at: 70s, delete: {kind: Node, name: w-0}}
    - at: 80s
      objects:
        - {apiVersion: v1, kind: Node, metadata: {name: late}, status: {capacity: {cpu: "2"}}}
    - {at: 100s, expect: {kind: Job, name: work, where: {status.succeeded: 2}}}
    - {at: 120s, kubelet: w-1, state: stopped}
    - {at: 180s, expect: {kind: DaemonSet, name: agent, where: {status.numberReady: 2}}}
    - {at: 500s, expect: {kind: Pod, labelSelector: app=agent, count: 3}}
    - {at: 510s, kubelet: w-1, state: running}
    - {at: 540s, expect: {kind: DaemonSet, name: agent, where: {status.numberReady: 3}}}
    - {at: 550s, expect: {kind: StatefulSet, name: db, where: {status.readyReplicas: 1}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 2
  template:
    metadata:
      annotations: {sim.headroom.dev/complete-after: 20s}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
"""


def played(folder: Path) -> Result:
    path = folder / "workloads.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return run_scenario(load_scenario([path]), None)


def test_workloads_follow_the_nodes_that_come_and_go(tmp_path: Path) -> None:
    result = played(tmp_path)
    assert result.failures == ()
    assert result.violations == ()
    assert all(" is not modelled" not in note for note in result.notes)


def test_the_same_scenario_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (json.dumps(played(tmp_path).document()) for _ in range(2))
    assert first == second
