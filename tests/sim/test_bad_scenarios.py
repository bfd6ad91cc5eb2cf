"""Files that cannot be run are refused before anything runs, with file, line, document and path."""

from __future__ import annotations

from pathlib import Path

import pytest

from headroom.sim.scenarios.loader import ScenarioError, load_scenario

HEAD = "apiVersion: sim.headroom.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"


def problems(folder: Path, *texts: str) -> list[str]:
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    with pytest.raises(ScenarioError) as refused:
        load_scenario(paths)
    assert refused.value.exit_code == 2
    return [text.removeprefix(f"{folder}/") for text in refused.value.problems]


@pytest.mark.parametrize(
    ("spec", "where", "words"),
    [
        ("untill: 5m", "spec.untill", "until"),
        ("until: soon", "spec.until", "not a duration"),
        ("start: yesterday", "spec.start", "a time such as"),
        ("seed: seven", "spec.seed", "an integer"),
        ("pools: [{count: 3}]", "spec.pools[0]", "name"),
        ("pools: [{name: a, count: -1}]", "spec.pools[0].count", "0"),
        ("pools: [{name: a, cpu: lots}]", "spec.pools[0].cpu", "quantity"),
        ("pools: [{name: a, count: 3, max: 2}]", "spec.pools[0].max", "less than count"),
        ("pools: [{name: a}, {name: a}]", "spec.pools[1].name", "second pool"),
        ("pools: [{name: a, taints: [{key: k, effect: No}]}]", "taints[0].effect", "NoSchedule"),
        ("steps: [{operator: running}]", "spec.steps[0]", "at"),
        ("steps: [{at: 1s}]", "spec.steps[0]", "exactly one of"),
        (
            "steps: [{at: 1s, operator: running, kubelet: a, state: running}]",
            "spec.steps[0]",
            "exactly one of",
        ),
        ("steps: [{at: 1s, operator: dead}]", "spec.steps[0].operator", "killed"),
        ("steps: [{at: 1s, kubelet: a}]", "spec.steps[0]", "kubelet needs `state`"),
        ("steps: [{at: 1s, operator: running, state: running}]", "state", "only kubelet takes"),
        ("steps: [{at: -1s, operator: running}]", "spec.steps[0].at", "negative"),
        ("until: 5s\n  steps: [{at: 6s, operator: running}]", "spec.steps[0].at", "after the end"),
        ("steps: [{at: 1s, delete: {kind: Pood, name: x}}]", "delete.kind", "not a kind"),
        ("steps: [{at: 1s, delete: {kind: CronJob, name: x}}]", "delete.kind", "not a kind"),
        ("steps: [{at: 1s, delete: {kind: Pod}}]", "spec.steps[0].delete", "name"),
        (
            "steps: [{at: 1s, scale: {kind: Pod, name: x}, replicas: 2}]",
            "scale.kind",
            "takes Deployment or Headroom or Hold or ReplicaSet or SlotSet or StatefulSet",
        ),
        (
            "steps: [{at: 1s, expect: {kind: Pod, labelSelector: 'a ~ b'}}]",
            "expect.labelSelector",
            "no selector",
        ),
        ("steps: [{at: 1s, apply: [missing.yaml]}]", "missing.yaml", "cannot be read"),
        (
            "steps: [{at: 1s, objects: [{apiVersion: v1, kind: Pod, spek: {}}]}]",
            "spec.steps[0].objects[0].spek",
            "spec",
        ),
        (
            "steps: [{at: 1s, objects: [{apiVersion: batch/v1, kind: Job, metadata: {name: j}}]}]",
            "spec.steps[0].objects[0]",
            "",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_path(
    tmp_path: Path, spec: str, where: str, words: str
) -> None:
    found = problems(tmp_path, f"{HEAD}spec:\n  {spec}\n")
    assert any(where in text and words in text for text in found), found
    assert all(text.startswith("0.yaml") or "missing.yaml" in text for text in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: Pod\n", "apiVersion"),
        ("apiVersion: v1\nkind: Poddy\nmetadata: {name: x}\n", "not a kind"),
        ("apiVersion: apps/v2\nkind: Deployment\nmetadata: {name: x}\n", "apps/v1/Deployment"),
        (f"{POD}spec: {{containers: [], replicas: 3}}\n", "spec.replicas"),
        (
            f"{POD}spec: {{containers: [{{name: c, resources: {{requests: {{cpu: many}}}}}}]}}\n",
            "spec.containers[0].resources.requests.cpu",
        ),
        ("apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c}]}\n", "metadata.name"),
        ("a: [1, 2\n", "not YAML"),
        ("a: 1\na: 2\n", "twice"),
        ("- 1\n", "not an object"),
    ],
)
def test_a_bad_manifest_is_named_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    found = problems(tmp_path, text)
    assert any(words in problem for problem in found), found
    assert found[0].startswith("0.yaml")


@pytest.mark.parametrize(
    ("kind", "policy", "words"),
    [
        ("apps/v1/DaemonSet", "Never", 'supported values: "Always"'),
        ("apps/v1/StatefulSet", "OnFailure", 'supported values: "Always"'),
        ("batch/v1/Job", "Always", 'valid values: "OnFailure", "Never"'),
    ],
)
def test_a_workload_whose_pods_restart_wrongly_stops_the_run(
    tmp_path: Path, kind: str, policy: str, words: str
) -> None:
    version, _, name = kind.rpartition("/")
    pod = f"{{restartPolicy: {policy}, containers: [{{name: c}}]}}"
    template = f"{{metadata: {{labels: {{a: b}}}}, spec: {pod}}}"
    spec = f"{{selector: {{matchLabels: {{a: b}}}}, template: {template}}}"
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: x}}\nspec: {spec}\n"
    found = problems(tmp_path, text)
    assert "spec.template.spec.restartPolicy" in found[0]
    assert words in found[0]


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, f"{HEAD}spec: {{untill: 5m, seeed: 1}}\n", "kind: Pod\n")
    assert len(found) == 3


def test_two_scenarios_are_one_too_many(tmp_path: Path) -> None:
    found = problems(tmp_path, HEAD, HEAD)
    assert "a second Scenario" in found[0]
    assert found[0].startswith("1.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as refused:
        load_scenario([tmp_path / "nothing.yaml"])
    assert "nothing.yaml: cannot be read: No such file" in refused.value.problems[0]


def test_a_file_of_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="not a text file"):
        load_scenario([path])
