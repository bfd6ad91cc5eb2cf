"""Scenarios with standing headrooms: a night in which the clocks are set, machines that are bought.

Files as people write them for `headroom simulate`, played with the real operator.
"""

from __future__ import annotations

from pathlib import Path

from headroom.cli.embedded import embedded_operator
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.scenarios.report import Result

MORNING = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: morning}
spec:
  start: "2027-03-27T22:00:00+01:00"   # The clocks go forward in this night.
  until: 12h
  pools:
    - {name: w, count: 2, max: 4, cpu: "2", bootDelay: 60s}
  autoscaler: {enabled: true, scaleDownAfter: 10m}
  steps:
    - {at: 8h49m, expect: {kind: Headroom, name: morning, where: {status.desired: 0}}}
    - {at: 8h50m2s, expect: {kind: Headroom, name: morning, where: {status.held: 4}}}
    - {at: 8h59m, expect: {kind: Headroom, name: morning, where: {status.held: 6}}}
    - {at: 9h59m, expect: {kind: Node, count: 3}}
    - {at: 10h2s, expect: {kind: Headroom, name: morning, where: {status.desired: 0}}}
    - {at: 11h, expect: {kind: Node, count: 2}}
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: morning}
spec:
  slot: {template: {resources: {requests: {cpu: "1"}}}}
  size: {replicas: 6}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
  schedule: [{start: "0 8 * * *", duration: 1h, timeZone: Europe/Zurich, leadTime: 10m}]
"""

DRAIN = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: drain}
spec:
  until: 10m
  pools: [{name: w, count: 3, cpu: "2"}]
  steps:
    - {at: 10s, expect: {kind: Headroom, name: room, where: {status.held: 3}}}
    - {at: 20s, drain: w-0}
    - {at: 30s, expect: {kind: Headroom, name: room, where: {status.desired: 2, status.held: 2}}}
    - {at: 40s, patch: {kind: Node, name: w-0}, with: {spec: {unschedulable: false}}}
    - {at: 60s, expect: {kind: Headroom, name: room, where: {status.held: 3}}}
    - {at: 70s, kubelet: w-1, state: stopped}
    - {at: 140s, expect: {kind: Headroom, name: room, where: {status.desired: 3}}}
    - {at: 160s, expect: {kind: Headroom, name: room, where: {status.desired: 2}}}
    - {at: 200s, kubelet: w-1, state: running}
    - {at: 300s, expect: {kind: Headroom, name: room, where: {status.held: 3}}}
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: room}
spec:
  slot: {template: {resources: {requests: {cpu: "1"}}}}
  size: {perNode: {slots: 1}}
  owners: [{priorityAtLeast: 1000}]
"""


def played(folder: Path, text: str) -> Result:
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return run_scenario(load_scenario([path]), embedded_operator)


def test_room_is_ready_at_eight_also_when_the_clocks_were_set_and_machines_had_to_come(
    tmp_path: Path,
) -> None:
    result = played(tmp_path, MORNING)
    assert result.failures == ()
    assert result.violations == ()


def test_slots_follow_a_drain_and_a_silence(tmp_path: Path) -> None:
    result = played(tmp_path, DRAIN)
    assert result.failures == ()
    assert result.violations == ()
