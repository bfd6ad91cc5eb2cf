"""`headroom compare`: the same world under several configurations, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.analysis.comparisons import short_names
from headroom.cli.analysis.configurations import MOST, configurations
from headroom.cli.analysis.runs import Promise, promises
from headroom.cli.errors import Misuse
from headroom.sim.scenarios.model import Scenario
from tests.cli.commands import Finished, headroom

WORLD = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: small}
spec:
  until: 5m
  seed: 4
  pools:
    - {name: base, count: 1, cpu: "2", memory: 8Gi, price: 0.1}
    - {name: burst, count: 0, max: 4, cpu: "2", memory: 8Gi, price: 0.2, bootDelay: 60s}
  autoscaler: {enabled: true, scaleDownAfter: 10m}
  arrivals:
    - trace: jobs.csv
      duration: 90s
      template:
        metadata: {labels: {app: job}}
        spec:
          schedulingGates: [{name: headroom.dev/claim}]
          containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}}}]
"""
HEADROOM = """
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: jobs}
spec:
  slot: {template: {resources: {requests: {cpu: "1", memory: 1Gi}}}}
  size: {replicas: REPLICAS}
  owners: [{labelSelector: {matchLabels: {app: job}}}]
"""
TRACE = "second,pods\n100,4\n200,2\n"


def files(folder: Path) -> dict[str, str]:
    """A world that needs two more nodes at second 100, and configurations for it."""
    (folder / "jobs.csv").write_text(TRACE)
    (folder / "world.yaml").write_text(WORLD)
    for name, replicas in (("few", "1"), ("many", "4")):
        (folder / f"{name}.yaml").write_text(HEADROOM.replace("REPLICAS", replicas))
    return {name: str(folder / f"{name}.yaml") for name in ("world", "few", "many")}


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    finished = headroom(capsys, "compare", *arguments, "-o", "json")
    assert finished.code == 0, finished.err
    found = json.loads(finished.out)
    assert found["kind"] == "Comparison"
    return {entry["name"]: entry for entry in found["configurations"]}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    finished = headroom(capsys, "compare", *arguments)
    assert finished.code == 2, finished.err
    return finished


def test_files_with_headrooms_are_compared_in_the_same_world(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at, page = files(tmp_path), tmp_path / "page.html"
    found = compared(capsys, at["world"], at["few"], at["many"], "--html", str(page))
    assert list(found) == ["few", "many"]
    few, many = found["few"], found["many"]
    assert few["pods"]["created"] == many["pods"]["created"] == 6
    assert few["promise"]["achieved"] < 1.0
    assert many["promise"] == {"ratio": 0.99, "startWithin": 2.0, "achieved": 1.0, "kept": True}
    assert many["hits"] == 6
    assert many["misses"] == 0
    assert few["idleSlotHours"] < many["idleSlotHours"]
    assert set(many["costByPool"]) == {"base", "burst"}
    workload = many["workloads"]["Trace/default/jobs"]
    assert workload["p99_wait_s"] < 2.0 < few["workloads"]["Trace/default/jobs"]["p99_wait_s"]
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "http" not in text.replace("http-equiv", "")


def test_one_configuration_is_compared_with_nothing_held(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = files(tmp_path)
    finished = headroom(capsys, "compare", at["world"], at["many"])
    assert finished.code == 0, finished.err
    lines = finished.out.splitlines()
    assert lines[0] == "The same world under 2 configurations, seed 4."
    assert lines[3].startswith("nothing held")
    assert lines[3].endswith("broken")
    assert lines[4].startswith("many")
    assert lines[4].endswith("kept")


def test_values_of_a_field_are_compared_with_the_same_seeds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = files(tmp_path)
    arguments = (at["world"], at["few"], "--vary", "spec.size.replicas=0,4", "--seeds", "2")
    found = compared(capsys, *arguments)
    assert list(found) == ["spec.size.replicas=0", "spec.size.replicas=4"]
    assert found["spec.size.replicas=4"]["pods"]["created"] == 12
    assert found["spec.size.replicas=4"]["hits"] == 6.0
    assert found == compared(capsys, *arguments)


def test_each_pair_of_values_of_two_fields_is_played_and_has_a_short_name_in_pictures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at, page = files(tmp_path), tmp_path / "page.html"
    boots = "Scenario:spec.pools[1].bootDelay=10s,20s"
    flags = ("--vary", "spec.size.replicas=0,4", "--vary", boots, "--html", str(page))
    finished = headroom(capsys, "compare", at["world"], at["few"], *flags)
    assert finished.code == 0, finished.err
    name = "spec.size.replicas=4, spec.pools[1].bootDelay=20s"
    lines = [line for line in finished.out.splitlines() if line.startswith(name)]
    assert len(lines) == 2  # One of them is the cost by pool.
    text = page.read_text()
    assert "replicas=4, bootDelay=20s" in text
    assert "Varied: spec.size.replicas, spec.pools[1].bootDelay." in text


def test_short_names_stay_long_where_they_would_be_the_same() -> None:
    assert short_names(["a.b=1", "a.b=2"]) == ["b=1", "b=2"]
    assert short_names(["a.b=1", "c.b=1"]) == ["a.b=1", "c.b=1"]
    assert short_names(["few", "many"]) == ["few", "many"]


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        (["spec.size.replicas"], "cannot be understood"),
        (["=1,2"], "cannot be understood"),
        (["spec.size.replicas="], "cannot be understood"),
        (["spec..replicas[x]=1,2"], "cannot be understood"),
        (["Deployment:spec.replicas=1,2"], "there is no Deployment in the files"),
        (["Headroom/other:spec.size.replicas=1,2"], "there is no Headroom/other in the files"),
        (["spec.size.replicas=1,few"], "spec.size.replicas=few: "),
        (["spec.size.replicas=1,["], "is no value"),
        (["spec.size.replicsa=1,2"], "did you mean replicas?"),
        (["Scenario:spec.pools[9].max=1,2"], "has no item 9"),
        (["Scenario:spec.until.more=1,2"], "there is no field 'more'"),
        (["spec.size.replicas=1"], "only one configuration"),
        ([f"spec.size.replicas={','.join(map(str, range(MOST + 1)))}"], "too many; at most"),
    ],
)
def test_what_cannot_be_varied_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, vary: list[str], words: str
) -> None:
    at = files(tmp_path)
    flags = [word for each in vary for word in ("--vary", each)]
    assert words in refused(capsys, at["world"], at["few"], *flags).err


def test_a_bad_file_is_told_with_file_and_line_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = files(tmp_path)
    (tmp_path / "many.yaml").write_text(HEADROOM.replace("REPLICAS", "lots"))
    told = refused(capsys, at["world"], at["few"], at["many"]).err
    assert "many.yaml:7: document 1: spec.size.replicas: an integer is expected" in told
    assert (
        "gone.yaml: cannot be read" in refused(capsys, at["world"], str(tmp_path / "gone.yaml")).err
    )
    assert "--promise" in refused(capsys, at["world"], at["few"], "--promise", "1.5").err
    assert "--start-within" in refused(capsys, at["world"], at["few"], "--start-within", "-1s").err


def test_files_are_sorted_into_the_world_and_configurations() -> None:
    texts = {
        "a/world.yaml": "kind: Scenario\n",
        "b/world.yaml": "kind: Scenario\n",
        "web.yaml": "kind: Deployment\n",
        "hr.yaml": "apiVersion: headroom.dev/v1alpha1\nkind: Headroom\n",
        "both.yaml": "apiVersion: headroom.dev/v1alpha1\nkind: Headroom\n---\nkind: Node\n",
    }

    def found(*names: str, vary: tuple[str, ...] = ()) -> list[tuple[str, list[str]]]:
        chosen = configurations(
            [Path(name) for name in names],
            vary,
            lambda path: texts[str(path)],
            lambda version, kind: False,
        )
        return [(each.name, [str(path) for path in each.files]) for each in chosen]

    assert found("a/world.yaml", "b/world.yaml", "web.yaml") == [
        ("a/world.yaml", ["web.yaml", "a/world.yaml"]),
        ("b/world.yaml", ["web.yaml", "b/world.yaml"]),
    ]
    assert found("web.yaml", "hr.yaml") == [
        ("nothing held", ["web.yaml"]),
        ("hr", ["web.yaml", "hr.yaml"]),
    ]
    assert [
        name for name, _ in found("both.yaml", vary=("spec.size={replicas: 1},{percent: 5}",))
    ] == [
        'spec.size={"replicas": 1}',
        'spec.size={"percent": 5}',
    ]
    with pytest.raises(Misuse, match="only one configuration"):
        found("both.yaml")


def test_configurations_that_promise_nothing_are_measured_by_those_that_do() -> None:
    adaptive = {"startWithin": "5s", "ratio": 0.9}
    wish = {"kind": "Headroom", "spec": {"size": {"adaptive": adaptive}}}
    asked, told = Promise(0.99, 2.0), Promise(0.9, 5.0)
    both = {"none": Scenario(), "some": Scenario(objects=(wish,))}
    assert promises(both, asked) == {"none": told, "some": told}
    assert promises({"none": Scenario()}, asked) == {"none": asked}
