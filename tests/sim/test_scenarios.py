"""Scenarios: played in their time, told in a journal, summed up, and always the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import Play, run_scenario
from headroom.sim.scenarios.report import Result

STORIES = Path(__file__).parents[2] / "src/headroom/cli/stories"

STEPS = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: steps}
spec:
  start: "2027-01-04T07:55:00+01:00"
  until: 5m
  seed: 3
  pools:
    - {name: w, count: 2, cpu: "4", memory: 8Gi, labels: {tier: web}, price: 0.30}
  steps:
    - {at: 10s, apply: [more.yaml]}
    - at: 20s
      expect: {kind: Pod, labelSelector: app=web, count: 2, where: {status.phase: Running}}
    - {at: 30s, scale: {kind: Deployment, name: web}, replicas: 4}
    - {at: 40s, expect: {kind: Pod, labelSelector: "app in (web)", count: 4}}
    - {at: 50s, patch: {kind: Node, name: w-1}, with: {spec: {unschedulable: true}}}
    - at: 60s
      expect:
        {kind: Node, where: {"spec.taints[0].key": node.kubernetes.io/unschedulable}, count: 1}
    - {at: 70s, finish: {kind: Pod, name: single}, phase: Failed}
    - {at: 80s, expect: {kind: Pod, name: single, count: 1, where: {status.phase: Failed}}}
    - {at: 90s, delete: {kind: Pod, name: single}}
    - {at: 100s, expect: {kind: Pod, name: single, count: 0}}
    - {at: 110s, kubelet: w-0, state: stopped}
    - at: 160s
      expect: {kind: Node, name: w-0, where: {"status.conditions[Ready].status": Unknown}}
    - {at: 170s, kubelet: w-0, state: running}
    - at: 180s
      expect: {kind: Node, name: w-0, where: {"status.conditions[Ready].status": "True"}}
---
apiVersion: v1
kind: Pod
metadata: {name: single}
spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""

MORE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
"""


def written(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def played(folder: Path, text: str) -> Result:
    main, _ = written(folder, main=text, more=MORE)
    return run_scenario(load_scenario([main]), None)


def scenario(steps: str, **spec: Any) -> str:
    head = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
    fields = "".join(f"  {name}: {json.dumps(value)}\n" for name, value in spec.items())
    return f"{head}{fields}  pools: [{{name: w, count: 1}}]\n  steps:\n{steps}"


def test_every_kind_of_step_is_done_in_its_time(tmp_path: Path) -> None:
    result = played(tmp_path, STEPS)
    assert result.failures == ()
    assert result.ok
    assert (result.start, result.end) == ("2027-01-04T06:55:00Z", "2027-01-04T07:00:00Z")
    met = [entry["at"] for entry in result.journal if entry["what"] == "expectation_met"]
    assert met == [20.0, 40.0, 60.0, 80.0, 100.0, 160.0, 180.0]


def test_the_result_has_the_form_of_the_contract(tmp_path: Path) -> None:
    document = played(tmp_path, STEPS).document()
    assert list(document) == [
        "apiVersion",
        "kind",
        "scenario",
        "seed",
        "start",
        "end",
        "dialects",
        "objects",
        "events",
        "journal",
        "summary",
    ]
    assert (document["kind"], document["scenario"], document["seed"]) == ("Result", "steps", 3)
    kinds = {item["kind"] for item in document["objects"]}
    assert {"Node", "Pod", "Deployment", "ReplicaSet", "PriorityClass", "Namespace"} <= kinds
    assert all(event["count"] >= 1 and event["involvedObject"] for event in document["events"])
    bound = [entry for entry in document["journal"] if entry["what"] == "pod_bound"]
    assert bound[0]["object"] == "Pod/default/single"
    assert bound[0]["node"].startswith("w-")
    summary = document["summary"]
    assert summary["pods"]["started"] == 5
    assert summary["cost"] == pytest.approx(2 * 0.30 * 5 / 60, abs=1e-4)
    assert (summary["held"], summary["claims"], summary["violations"]) == ({}, 0, [])
    json.dumps(document)


def test_a_failed_expectation_says_what_was_there_instead(tmp_path: Path) -> None:
    text = scenario(
        "    - {at: 1s, apply: [more.yaml]}\n"
        "    - {at: 9s, expect: {kind: Pod, labelSelector: app=web, count: 3,"
        " where: {status.phase: Running, spec.nodeName: w-0}}}\n"
        "    - {at: 9s, expect: {kind: Pod, count: 0, where: {status.phase: Pending}}}\n"
        "    - {at: 9s, expect: {kind: Hold}}\n"
    )
    result = played(tmp_path, text)
    assert not result.ok
    first, second = result.failures
    assert "expected 3 Pod with app=web where spec.nodeName=w-0, status.phase=Running" in first
    assert first.endswith("found 2")
    assert "main.yaml:8" in first
    assert second.endswith("expected at least 1 Hold, found 0")


def test_a_step_that_cannot_be_done_is_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    text = scenario(
        "    - {at: 1s, delete: {kind: Pod, name: nobody}}\n"
        "    - {at: 2s, kubelet: nowhere, state: stopped}\n"
        "    - {at: 3s, apply: [more.yaml]}\n"
    )
    result = played(tmp_path, text)
    assert [failure.partition(": ")[2] for failure in result.failures] == [
        'pods "nobody" not found',
        "there is no node nowhere",
    ]
    assert result.summary["pods"]["started"] == 2


def test_without_an_end_a_run_stops_when_nothing_more_would_happen(tmp_path: Path) -> None:
    result = played(tmp_path, scenario("    - {at: 10s, apply: [more.yaml]}\n"))
    assert result.end < "2027-01-04T07:00:30Z"


def test_a_pool_that_cannot_grow_is_mentioned(tmp_path: Path) -> None:
    text = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
    result = played(tmp_path, text + "spec: {pools: [{name: burst, count: 0, max: 3}]}\n")
    assert "the autoscaler is off: pools stay at their count: burst" in result.notes


def test_objects_that_nothing_acts_on_are_mentioned(tmp_path: Path) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    result = played(tmp_path, settings)
    assert result.summary["notes"] == [
        "skipped 1 that do not affect where pods are placed: ConfigMap 1"
    ]


def test_a_play_can_be_watched_on_its_way(tmp_path: Path) -> None:
    main, _ = written(tmp_path, main=STEPS, more=MORE)
    play = Play(load_scenario([main]), None)
    try:
        play.run_to(5)
        assert len(play.objects("Pod")) == 1
        play.run_to(25)
        assert len(play.objects("Pod")) == 3
        assert play.finish().ok
    finally:
        play.close()


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    def text(seed: int) -> str:
        return json.dumps(played(tmp_path, STEPS.replace("seed: 3", f"seed: {seed}")).document())

    assert text(3) == text(3)
    assert text(3) != text(4)


@pytest.mark.e2e
@pytest.mark.parametrize("story", ["thief", "crash"])
def test_another_process_with_another_hash_seed_gives_the_same_bytes(story: str) -> None:
    def bytes_of(hash_seed: str) -> bytes:
        code = (
            "import json, pathlib, sys; from headroom.cli.embedded import embedded_operator;"
            "from headroom.sim.scenarios.loader import load_scenario;"
            "from headroom.sim.scenarios.play import run_scenario;"
            "scenario = load_scenario([pathlib.Path(sys.argv[1])]);"
            "print(json.dumps(run_scenario(scenario, embedded_operator).document()))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(STORIES / f"{story}.yaml")],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
        )
        return done.stdout

    assert bytes_of("1") == bytes_of("2")
