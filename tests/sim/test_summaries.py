"""The summary of a run: everybody counts, also who never started, by workload and by right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.embedded import embedded_operator
from headroom.cli.views.results import result_table, waited
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.scenarios.report import Result
from tests.sim.things import deployment, pod, priority_class

Json = dict[str, Any]
GPU = "example.com/gpu"
GATED: Json = {"schedulingGates": [{"name": "headroom.dev/claim"}]}
HOLD = {
    "apiVersion": "headroom.dev/v1alpha1",
    "kind": "Hold",
    "metadata": {"name": "kept", "namespace": "default"},
}


def hold(name: str, app: str, **requests: str) -> Json:
    container = {"name": "main", "resources": {"requests": requests}}
    return {
        **HOLD,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "template": {"spec": {"containers": [container]}},
            "owners": [{"labelSelector": {"matchLabels": {"app": app}}}],
        },
    }


def played(folder: Path, spec: Json, *objects: Json) -> Result:
    head = {
        "apiVersion": "sim.headroom.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": spec,
    }
    file = folder / "s.yaml"
    file.write_text("\n---\n".join(json.dumps(each) for each in (head, *objects)))
    return run_scenario(load_scenario([file]), embedded_operator)


def test_who_never_started_counts_with_the_time_waited_so_far(tmp_path: Path) -> None:
    spec = {"until": "24h", "pools": [{"name": "g", "count": 1, "cpu": "4"}]}
    result = played(tmp_path, spec, deployment("web", 100, "2"))
    pods = result.summary["pods"]
    assert (pods["created"], pods["started"], pods["waiting"]) == (100, 2, 98)
    assert pods["p50_wait_s"] == pytest.approx(86400, abs=10)
    assert pods["p95_wait_s"] <= pods["p99_wait_s"] <= 86400
    assert "100 created, 2 started, never started 98" in result_table(result)


def test_a_pod_deleted_while_it_waits_counts_until_then(tmp_path: Path) -> None:
    steps = [{"at": "50s", "delete": {"kind": "Pod", "name": "large"}}]
    spec = {"until": "10m", "pools": [{"name": "g", "count": 1, "cpu": "4"}], "steps": steps}
    pods = played(tmp_path, spec, pod("large", "8")).summary["pods"]
    assert (pods["created"], pods["started"], pods["waiting"]) == (1, 0, 0)
    assert pods["p99_wait_s"] == 50.0


def test_waits_are_told_by_the_topmost_workload(tmp_path: Path) -> None:
    spec = {"until": "5m", "pools": [{"name": "g", "count": 1, "cpu": "4"}]}
    result = played(tmp_path, spec, deployment("web", 2), pod("alone", "8"))
    workloads = result.summary["workloads"]
    assert list(workloads) == ["Deployment/default/web", "Pod/default/alone"]
    assert workloads["Deployment/default/web"]["started"] == 2
    assert workloads["Pod/default/alone"]["waiting"] == 1
    assert workloads["Pod/default/alone"]["p50_wait_s"] == pytest.approx(300, abs=1)


def test_owners_are_told_beside_all_others(tmp_path: Path) -> None:
    late = [{"at": "60s", "objects": [pod("owner", "2", {"app": "o"}, **GATED)]}]
    spec = {"until": "5m", "pools": [{"name": "g", "count": 1, "cpu": "4"}], "steps": late}
    result = played(tmp_path, spec, hold("kept", "o", cpu="2"), deployment("web", 3))
    owners, others = result.summary["owners"], result.summary["others"]
    assert (owners["created"], owners["started"]) == (1, 1)
    assert owners["p99_wait_s"] < 5
    assert (others["created"], others["started"], others["waiting"]) == (3, 2, 1)
    assert others["p99_wait_s"] == pytest.approx(300, abs=1)
    table = result_table(result)
    assert "owners of held room " in table
    assert "all others " in table


def test_evicted_preempted_and_failed_pods_are_counted_apart(tmp_path: Path) -> None:
    on_a = {"sim.headroom.dev/pool": "a"}
    boss = pod("boss", "4", priorityClassName="high", nodeSelector=on_a)
    steps = [
        {"at": "30s", "objects": [boss]},
        {"at": "60s", "drain": "b-0"},
        {"at": "90s", "finish": {"kind": "Pod", "name": "bad"}, "phase": "Failed"},
    ]
    pools = [{"name": name, "count": 1, "cpu": "4"} for name in ("a", "b", "c")]
    here = [
        pod(name, cpu, nodeSelector={"sim.headroom.dev/pool": pool})
        for name, cpu, pool in (("low", "3", "a"), ("drained", "1", "b"), ("bad", "1", "c"))
    ]
    spec = {"until": "5m", "pools": pools, "steps": steps}
    pods = played(tmp_path, spec, priority_class("high", 1000), *here).summary["pods"]
    assert (pods["preempted"], pods["evicted"], pods["failed"]) == (1, 1, 1)
    assert (pods["created"], pods["started"], pods["waiting"]) == (4, 4, 0)


def test_slots_wished_for_stand_beside_slots_held(tmp_path: Path) -> None:
    headroom = {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": "burst", "namespace": "default"},
        "spec": {
            "slot": {"template": {"resources": {"requests": {"cpu": "1"}}}},
            "size": {"replicas": 6},
            "owners": [{"priorityAtLeast": 100}],
        },
    }
    spec = {"until": "5m", "pools": [{"name": "g", "count": 1, "cpu": "4"}]}
    result = played(tmp_path, spec, headroom)
    slots = result.summary["slots"]
    assert (slots["wished"], slots["held"]) == (6, 4)
    assert slots["objects"] == {"Headroom/default/burst": {"wished": 6, "held": 4}}
    assert "6 wanted, 4 held at the end" in result_table(result)


def test_devices_are_held_like_cpu_and_memory_and_cost_is_told_by_pool(tmp_path: Path) -> None:
    pools = [
        {"name": "gpu", "count": 1, "resources": {GPU: "4"}, "price": 3.0},
        {"name": "plain", "count": 2, "price": 0.5},
        {"name": "free", "count": 1},
    ]
    wish = hold("kept", "o", **{GPU: "2", "memory": "1Gi"})
    result = played(tmp_path, {"until": "2h", "pools": pools}, wish)
    held = result.summary["held"]
    assert held["resource_hours"][GPU] == pytest.approx(4, abs=0.01)
    assert held["memory_gib_hours"] == pytest.approx(2, abs=0.01)
    assert result.summary["cost"] == 8.0
    assert result.summary["cost_by_pool"] == {"gpu": 6.0, "plain": 2.0}
    table = result_table(result)
    assert f"hours of {GPU}" in table
    assert "8.0 (gpu 6.0, plain 2.0)" in table


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.012, "0.012 s"),
        (90.5, "90.5 s"),
        (725.0, "12m5s"),
        (12000.0, "3h20m"),
        (93600.0, "1d2h"),
    ],
)
def test_waits_are_written_as_people_say_them(seconds: float | None, words: str) -> None:
    assert waited(seconds) == words
