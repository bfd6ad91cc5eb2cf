"""Pods made from a trace: in their time, one moment after another, and the same for a seed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from headroom.sim.replay.arrivals import PodTrace
from headroom.sim.scenarios.loader import ScenarioError, load_scenario
from headroom.sim.scenarios.play import Play, run_scenario

START = datetime(2027, 1, 4, 7, tzinfo=UTC)
WORLD = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {{name: replay}}
spec:
  seed: 5
  pools: [{{name: w, count: 2, cpu: "16", memory: 64Gi}}]
  {more}
  arrivals:
    - {{trace: {trace}, {fields}}}
"""


def written(folder: Path, trace: str, fields: str = "", more: str = "") -> Path:
    """A scenario with one trace, beside its file."""
    (folder / "jobs.csv").write_text(trace)
    path = folder / "world.yaml"
    path.write_text(WORLD.format(trace="jobs.csv", fields=fields, more=more))
    return path


def problems(folder: Path, trace: str, fields: str = "", more: str = "") -> str:
    with pytest.raises(ScenarioError) as told:
        load_scenario([written(folder, trace, fields, more)])
    return told.value.message


def made(play: Play) -> list[tuple[float, str]]:
    return [
        (entry["at"], entry["object"])
        for entry in play.journal.entries
        if entry["what"] == "pod_created"
    ]


def test_pods_come_when_the_trace_says_so_and_not_before(tmp_path: Path) -> None:
    path = written(tmp_path, "second,pods\n5,1\n20,2\n7200,1\n", "duration: 30s")
    play = Play(load_scenario([path]), None)
    play.run_to(10.0)
    assert [name for _, name in made(play)] == ["Pod/default/jobs-0"]
    result = play.finish()
    play.close()
    assert [at for at, _ in made(play)] == [5.0, 20.0, 20.0, 7200.0]
    numbers = result.summary["workloads"]["Trace/default/jobs"]
    assert (numbers["created"], numbers["started"]) == (4, 4)


def test_pods_that_have_run_their_time_are_cleared_away(tmp_path: Path) -> None:
    trace = "second,pods\n" + "".join(f"{second},2\n" for second in range(0, 100, 2))
    play = Play(load_scenario([written(tmp_path, trace, "duration: 5s")]), None)
    most = 0
    for moment in range(0, 100, 10):
        play.run_to(float(moment))
        most = max(most, len(play.objects("Pod")))
    result = play.finish()
    play.close()
    assert result.summary["pods"]["created"] == 100
    assert most < 40
    assert [obj for obj in result.objects if obj["kind"] == "Pod"] == []


def test_what_a_line_says_of_its_pods_goes_before_the_template(tmp_path: Path) -> None:
    trace = "second,class,cpu,memory,duration\n1,big,2,4Gi,50s\n2,,,,\n"
    spec = "{containers: [{name: c, resources: {requests: {cpu: 250m}}}]}"
    template = f"{{metadata: {{labels: {{app: job}}, namespace: batch}}, spec: {spec}}}"
    path = written(tmp_path, trace, f"name: night, duration: 90s, template: {template}")
    (each,) = load_scenario([path]).arrivals
    big, plain = [each.pod(index, it) for index, (_, it) in enumerate(each.due(START, 0))]
    assert big["metadata"]["name"] == "night-0"
    assert big["metadata"]["namespace"] == "batch"
    assert big["metadata"]["labels"]["app"] == "job"
    assert big["metadata"]["labels"]["sim.headroom.dev/class"] == "big"
    asked = [pod["spec"]["containers"][0]["resources"]["requests"] for pod in (big, plain)]
    assert asked == [{"cpu": "2", "memory": "4Gi"}, {"cpu": "250m"}]
    times = [
        pod["metadata"]["annotations"]["sim.headroom.dev/complete-after"] for pod in (big, plain)
    ]
    assert times == ["50.000s", "90.000s"]
    names = [pod["metadata"]["annotations"]["sim.headroom.dev/workload"] for pod in (big, plain)]
    assert names == ["Trace/batch/night/big", "Trace/batch/night"]


def test_a_share_of_a_trace_is_chosen_by_the_seed(tmp_path: Path) -> None:
    trace = "second,pods\n" + "".join(f"{second},3\n" for second in range(1000))
    (each,) = load_scenario([written(tmp_path, trace, "scale: 0.1")]).arrivals

    def chosen(seed: int) -> list[tuple[float, int]]:
        return [(at, it.pods) for at, it in each.due(START, seed)]

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)
    assert 250 < sum(pods for _, pods in chosen(1)) < 350
    (more,) = load_scenario([written(tmp_path, trace, "scale: 2.5")]).arrivals
    assert 7300 < sum(it.pods for _, it in more.due(START, 1)) < 7700


def test_the_beginning_of_a_trace_can_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "second,pods\n5,1\n3600,2\n3700,1\n", "skip: 1h")
    (each,) = load_scenario([path]).arrivals
    assert [(at, it.pods) for at, it in each.due(START, 0)] == [(0.0, 2), (100.0, 1)]


def test_a_trace_with_times_of_the_clock_says_when_a_run_begins(tmp_path: Path) -> None:
    trace = "time\n2027-03-01T08:00:00Z\n2027-03-01T08:00:30Z\n"
    scenario = load_scenario([written(tmp_path, trace)])
    assert scenario.start == datetime(2027, 3, 1, 8, tzinfo=UTC)
    later = load_scenario([written(tmp_path, trace, more='start: "2027-03-01T08:00:10Z"')])
    (each,) = later.arrivals
    assert [at for at, _ in each.due(later.start, 0)] == [20.0]


def test_a_run_goes_on_until_the_last_pod_of_a_trace_has_come(tmp_path: Path) -> None:
    path = written(tmp_path, "second\n90000\n", "duration: 10s")
    result = run_scenario(load_scenario([path]), None)
    assert result.summary["pods"]["started"] == 1


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path) -> None:
    trace = "second,pods\n" + "".join(f"{second},3\n" for second in range(30))
    path = written(tmp_path, trace, "scale: 0.5, duration: 20s")
    one, two = (run_scenario(load_scenario([path]), None) for _ in range(2))
    assert json.dumps(one.document()) == json.dumps(two.document())


def test_a_trace_that_changes_during_a_run_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    path = written(tmp_path, "second\n5\n" + "60\n" * 9000)
    play = Play(load_scenario([path]), None)
    (tmp_path / "jobs.csv").write_text("second\n5\nsoon\n")
    fresh = Play(play.scenario, None)
    result = fresh.finish()
    fresh.close()
    play.close()
    assert "jobs.csv:3: 'soon' is not a time" in result.failures[0]


@pytest.mark.parametrize(
    ("trace", "fields", "words"),
    [
        ("second\n1\nx\n", "", "jobs.csv:3: 'x' is not a time"),
        ("", "", "jobs.csv: there are no arrivals in it"),
        ("second\n1\n", "duration: -5s", "duration: -5s is negative"),
        ("second\n1\n", "skip: -5s", "skip: -5s is negative"),
        ("second\n1\n", "skip: 1h", "skip: the trace ends before, at 1 s"),
        ("time\n2027-03-01T08:00:00Z\n", "skip: 1h", "set `start` to where to begin"),
        ("second,pods\n1,900000\n", "scale: 100", "scale: 900000 pods are more than a run takes"),
        ("second\n1\n", "scale: -1", "scale"),
        ("second\n1\n", "scale: .nan", "scale"),
        ("second\n1\n", "scale: .inf", "scale"),
        ("second\n1\n", "scale: many", "scale: a number is expected"),
        ("second\n1\n", "nmae: x", "did you mean name?"),
        ("second\n1\n", "name: Big_Jobs", "name: "),
        ("second\n1\n", "template: {spec: {containers: [{}]}}", "template.spec.containers[0]"),
        ("second\n1\n", "name: a}\n    - {trace: jobs.csv, name: a", "a second trace called 'a'"),
    ],
)
def test_what_is_wrong_with_arrivals_is_told_before_a_run(
    tmp_path: Path, trace: str, fields: str, words: str
) -> None:
    assert words in problems(tmp_path, trace, fields)


def test_a_trace_that_is_not_there_is_told_with_the_line_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "world.yaml"
    path.write_text(WORLD.format(trace="gone.csv", fields="", more=""))
    with pytest.raises(ScenarioError, match=r"gone.csv: cannot be read: No such file") as told:
        load_scenario([path])
    assert "world.yaml:10: document 1: spec.arrivals[0].trace" in told.value.message


def test_pods_that_the_cluster_refuses_are_told_a_few_times(tmp_path: Path) -> None:
    quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 1}}}"
    path = written(tmp_path, "second,pods\n5,20\n", more="until: 1m")
    (tmp_path / "quota.yaml").write_text(quota)
    result = run_scenario(load_scenario([path, tmp_path / "quota.yaml"]), None)
    assert 0 < len(result.failures) <= 5
    assert "exceeded quota" in result.failures[0]


def test_a_value_of_arrivals_needs_no_file_to_be_compared() -> None:
    one = PodTrace(Path("a.csv"), "a", {}, first=3.0, last=9.0)
    assert one.end(START) == 9.0
