"""`simulate` and `plan` say no when an object is invalid or cannot be served, and say where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Finished, headroom

Json = dict[str, Any]
GPU = "example.com/gpu"
POOLS = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: red}
spec:
  until: 5m
  pools: [{name: g, count: 1, cpu: "4", resources: {example.com/gpu: 4}}]
"""
BURST = """apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: burst}
spec:
  slot: {template: {resources: {requests: {cpu: 500m}}}}
  size: {replicas: 2}
  owners: [{priorityAtLeast: 100}]
"""
HOLD = """apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: kept}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: "2"}}}]}}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
"""
TIGHT = """apiVersion: v1
kind: ResourceQuota
metadata: {name: tight}
spec: {hard: {requests.cpu: 1}}
"""
SOURCE = "{from: {apiVersion: apps/v1, kind: Deployment, name: nope}}"
BAD = [
    pytest.param(
        BURST + '  schedule: [{start: "61 * * * *", duration: 1h}]\n',
        ":8: Headroom/default/burst:",
        "spec.schedule[0].start: '61 * * * *' is not a cron expression",
        id="cron",
    ),
    pytest.param(
        BURST + '  schedule: [{start: "1 * * * *", duration: 1h, timeZone: Mars/Olympus}]\n',
        ":8: Headroom/default/burst:",
        "spec.schedule[0].timeZone: 'Mars/Olympus' is not a time zone",
        id="zone",
    ),
    pytest.param(
        BURST.replace("{template: {resources: {requests: {cpu: 500m}}}}", SOURCE),
        ":5: Headroom/default/burst:",
        "spec.slot.from: there is no Deployment/nope in this namespace",
        id="workload",
    ),
    pytest.param(
        BURST.replace("replicas: 2", "replicas: 20"),
        ":1: Headroom/default/burst:",
        "1 Insufficient cpu",
        id="room",
    ),
    pytest.param(
        HOLD.replace('cpu: "2"', f"{GPU}: 500m"),
        "Hold/default/kept:",
        "500m must be an integer",
        id="half a device",
    ),
    pytest.param(TIGHT + "---\n" + HOLD, ":6: Hold/default/kept:", "tight", id="quota"),
    pytest.param(HOLD, "", "", id="sound"),
]


@pytest.fixture
def empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What a simulation of the pools alone comes to, for `plan --from`."""
    file, result = tmp_path / "pools.yaml", tmp_path / "empty.json"
    file.write_text(POOLS)
    result.write_text(headroom(capsys, "simulate", str(file), "-o", "json").out)
    return result


def simulated(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *flags: str) -> Finished:
    scenario, wish = folder / "pools.yaml", folder / "wish.yaml"
    scenario.write_text(POOLS)
    wish.write_text(text)
    return headroom(capsys, "simulate", str(scenario), str(wish), *flags)


@pytest.mark.parametrize(("text", "where", "why"), BAD)
def test_an_object_that_cannot_be_served_is_red_in_simulate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, where: str, why: str
) -> None:
    done = simulated(capsys, tmp_path, text)
    assert done.code == bool(where)
    assert where in done.err
    assert why in done.err
    accepted = simulated(capsys, tmp_path, text, "--allow-invalid")
    assert accepted.code == 0
    assert why in accepted.err


@pytest.mark.parametrize(("text", "where", "why"), BAD)
def test_an_object_that_cannot_be_served_is_red_in_plan(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    empty: Path,
    text: str,
    where: str,
    why: str,
) -> None:
    file = tmp_path / "wish.yaml"
    file.write_text(text)
    done = headroom(capsys, "plan", str(file), "--from", str(empty))
    assert done.code == bool(where)
    assert where in done.err
    assert why in done.err
    accepted = headroom(capsys, "plan", str(file), "--from", str(empty), "--allow-invalid")
    assert accepted.code == 0
    assert why in accepted.err


def test_the_result_lists_what_was_not_served(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = BURST + '  schedule: [{start: "61 * * * *", duration: 1h}]\n'
    result = json.loads(simulated(capsys, tmp_path, text, "-o", "json").out)
    (found,) = result["summary"]["unserved"]
    assert (found["object"], found["reason"]) == ("Headroom/default/burst", "InvalidSpec")
    assert (found["field"], found["where"]) == (
        "spec.schedule[0].start",
        f"{tmp_path / 'wish.yaml'}:8",
    )


def waiting(capsys: pytest.CaptureFixture[str], folder: Path, spec: str, *parts: str) -> Finished:
    file = folder / "s.yaml"
    head = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n"
    file.write_text("---\n".join((head + spec, *parts)))
    return headroom(capsys, "simulate", str(file))


def test_a_hold_that_waits_for_a_node_which_boots_is_not_red(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pool = '  pools: [{name: b, count: 0, max: 1, cpu: "4", bootDelay: 2m}]\n'
    spec = "  until: %s\n" + pool + "  autoscaler: {enabled: true}\n"
    done = waiting(capsys, tmp_path, spec % "1m", HOLD)
    assert done.code == 0
    assert "Hold/default/kept ends short, though a node is on its way" in done.err
    assert waiting(capsys, tmp_path, spec % "5m", HOLD).code == 0
    small = spec.replace('cpu: "4"', 'cpu: "1"')
    assert waiting(capsys, tmp_path, small % "5m", HOLD).code == 1


def test_a_headroom_whose_slots_were_claimed_is_not_red(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gate = "schedulingGates: [{name: headroom.dev/claim}]"
    owner = (
        "    - at: 60s\n      objects:\n"
        "        - {apiVersion: v1, kind: Pod, metadata: {name: o, labels: {app: web}}, spec: {"
        + gate
        + ', containers: [{name: m, image: x, resources: {requests: {cpu: "2"}}}]}}\n'
    )
    spec = '  until: 5m\n  pools: [{name: g, count: 1, cpu: "2"}]\n  steps:\n' + owner
    wish = BURST.replace("cpu: 500m", 'cpu: "2"').replace("replicas: 2", "replicas: 1")
    wish = wish.replace("priorityAtLeast: 100", "labelSelector: {matchLabels: {app: web}}")
    done = waiting(capsys, tmp_path, spec, wish)
    assert done.code == 0, done.err
    assert "Headroom/default/burst ends short, though it was whole before" in done.err


def test_a_window_that_is_closed_is_not_red(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    closed = BURST + '  schedule: [{start: "0 3 * * *", duration: 1h}]\n'
    assert simulated(capsys, tmp_path, closed).code == 0


def test_an_object_in_a_step_is_named_by_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "late.yaml").write_text(BURST.replace("replicas: 2", "replicas: 20"))
    spec = "  until: 5m\n  pools: [{name: g, count: 1}]\n"
    spec += "  steps:\n    - {at: 5s, apply: [late.yaml]}\n"
    done = waiting(capsys, tmp_path, spec)
    assert done.code == 1
    assert f"{tmp_path / 'late.yaml'}:1: Headroom/default/burst: Unschedulable" in done.err


def test_a_dialects_object_is_judged_as_well(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    buffer = {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": "CapacityBuffer",
        "metadata": {"name": "spare", "namespace": "default"},
        "spec": {"podTemplateRef": {"name": "nope"}, "replicas": 2},
    }
    done = simulated(capsys, tmp_path, json.dumps(buffer), "--dialect", "capacitybuffer")
    assert done.code == 1
    assert "CapacityBuffer/default/spare: PodTemplateNotFound" in done.err


def test_plan_knows_slots_that_stand_although_the_file_leaves_defaults_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"
    result.write_text(simulated(capsys, tmp_path, BURST, "-o", "json").out)
    done = headroom(capsys, "plan", str(tmp_path / "wish.yaml"), "--from", str(result))
    assert "2 slots wanted; 2 are held already." in done.out
