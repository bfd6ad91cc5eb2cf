"""`headroom recommend`: from traces, dumps and results; what is wrong is told in plain words."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from headroom.wire.times import format_time
from headroom.wire.yamls import load
from tests.cli.commands import Finished, headroom

HOUR, DAY = 3600, 86400
WORLD = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: large}
spec: {pools: [{name: w, count: 9, cpu: "16", memory: 64Gi}]}
"""


def trace(folder: Path, days: float = 2.0, seed: int = 3, more: str = "") -> Path:
    """A small synthetic trace: one pod in about ten seconds by day, in a hundred by night."""
    chance = Random(seed)
    lines = [f"second,pods{',cpu,memory,duration' if more else ''}"]
    for second in range(0, int(days * DAY), 10):
        rate = 0.9 if 8 <= second % DAY // HOUR < 18 else 0.1
        if chance.random() < rate:
            lines.append(f"{second},{chance.choice((1, 1, 2))}{more}")
    path = folder / "jobs.csv.gz"
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return path


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    finished = headroom(capsys, "recommend", *arguments, "-o", "json")
    assert finished.code == code, finished.err
    return json.loads(finished.out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    finished = headroom(capsys, "recommend", *arguments)
    assert finished.code == 2, finished.err
    return finished


@pytest.mark.e2e
def test_a_trace_gives_rows_a_curve_and_a_headroom_to_paste(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = trace(tmp_path, more=",250m,1Gi,90s")
    found = answered(
        capsys, "--trace", str(path), "--promise", "95%", "--name", "web", "-n", "shop"
    )
    assert found["kind"] == "Recommendation"
    assert [row["policy"] for row in found["rows"]] == [
        *("static", "percent", "scheduled", "adaptive")
    ]
    for row in found["rows"]:
        assert {"policy", "hits", "idle", "slots", "worstDayHits"} <= set(row)
    assert [each["promise"] for each in found["curve"]] == [0.9, 0.95, 0.99, 0.999]
    made = found["recommended"]
    assert made["metadata"] == {"name": "web", "namespace": "shop"}
    requests = made["spec"]["slot"]["template"]["resources"]["requests"]
    assert requests == {"cpu": "250m", "memory": "1Gi"}
    assert found["judged"]["from"] == pytest.approx(DAY, abs=60)
    assert found["promiseKept"] is True


@pytest.mark.e2e
def test_the_answer_for_people_ends_with_a_manifest_that_simulate_accepts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = trace(tmp_path)
    for policy in ("static", "scheduled"):
        finished = headroom(
            capsys, "recommend", "--trace", str(path), "--policy", policy, "--promise", "0.9"
        )
        assert finished.code == 0, finished.err
        assert "How sure: " in finished.out
        manifest = finished.out[finished.out.index("apiVersion:") :]
        (tmp_path / "made.yaml").write_text(manifest)
        assert load(manifest, "made.yaml")[0].data["kind"] == "Headroom"
        (tmp_path / "world.yaml").write_text(WORLD)
        files = [str(tmp_path / name) for name in ("world.yaml", "made.yaml")]
        assert headroom(capsys, "simulate", *files, "--until", "1m").code == 0


@pytest.mark.e2e
def test_sizes_over_time_and_one_page_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, series, page = trace(tmp_path), tmp_path / "s.csv", tmp_path / "p.html"
    arguments = ("--trace", str(path), "--promise", "0.9", "--train-until", str(DAY))
    finished = headroom(
        capsys, "recommend", *arguments, "--series", str(series), "--html", str(page)
    )
    assert finished.code == 0, finished.err
    lines = series.read_text().splitlines()
    assert lines[0] == "second,slots"
    seconds = [float(line.split(",")[0]) for line in lines[1:]]
    assert seconds == sorted(seconds)
    assert seconds[0] < DAY < seconds[-1]
    slots = [int(line.split(",")[1]) for line in lines[1:]]
    assert all(a != b for a, b in pairwise(slots))
    text = page.read_text()
    assert text.count("<svg") == 3
    assert "default-src 'none'" in text


def test_the_pods_of_a_dump_are_arrivals(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    start = datetime(2027, 1, 4, tzinfo=UTC)

    def pod(index: int, **more: Any) -> dict[str, Any]:
        made = format_time(start + timedelta(seconds=30 * index))
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"p{index}",
                "namespace": "default",
                "uid": f"u{index}",
                "creationTimestamp": made,
                "labels": {"app": "web"},
                **more,
            },
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]},
        }

    agent = {"kind": "DaemonSet", "name": "agent", "apiVersion": "apps/v1", "uid": "d"}
    ours = {"labels": {"headroom.dev/role": "guardian"}}
    objects = [pod(index) for index in range(100)]
    objects += [pod(200, ownerReferences=[{**agent, "controller": True}]), pod(201, **ours)]
    whole = {"apiVersion": "headroom.dev/v1alpha1", "kind": "Dump", "objects": objects}
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(whole))
    found = answered(capsys, "--from", str(path), "-l", "app=web", "--promise", "0.9")
    assert found["trained"]["pods"] + found["judged"]["pods"] == 100
    assert found["recommended"]["spec"]["slot"]["template"]["resources"]["requests"]["cpu"] == "2"
    owners = found["recommended"]["spec"]["owners"]
    assert owners == [{"labelSelector": {"matchLabels": {"app": "web"}}}]
    assert any("only pods that still exist" in note for note in found["notes"])
    none = refused(capsys, "--from", str(path), "-l", "app=other")
    assert "no pods arrived" in none.err


def test_every_pod_of_a_run_is_an_arrival_also_those_that_have_ended(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "few.csv").write_text("second\n" + "".join(f"{10 * n}\n" for n in range(1, 40)))
    world = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: few}
spec:
  until: 10m
  pools: [{name: w, cpu: "16"}]
  arrivals: [{trace: few.csv, duration: 5s}]
"""
    (tmp_path / "world.yaml").write_text(world)
    ran = headroom(capsys, "simulate", str(tmp_path / "world.yaml"), "-o", "json")
    (tmp_path / "run.json").write_text(ran.out)
    found = answered(capsys, "--from", str(tmp_path / "run.json"), "--promise", "0.9")
    assert found["trained"]["pods"] + found["judged"]["pods"] == 39


def test_a_length_of_time_without_a_unit_is_seconds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("second\n" + "".join(f"{10 * n}\n" for n in range(60)))
    found = answered(capsys, "--trace", str(path), "--lead-time", "45", "--start-within", "1.5")
    assert (found["leadTime"], found["promise"]["startWithin"]) == (45.0, 1.5)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--promise", "0"], "--promise '0': write a part between 0 and 1"),
        (["--promise", "1"], "write a part between 0 and 1"),
        (["--promise", "1.5"], "write a part between 0 and 1"),
        (["--promise", "NaN"], "write a part between 0 and 1"),
        (["--promise", "-1"], "write a part between 0 and 1"),
        (["--promise", "most"], "write a part between 0 and 1"),
        (["--promise", "0.9999999"], "can be told from all"),
        (["--start-within", "-2s"], "--start-within -2s: less than nothing"),
        (["--start-within", "5m"], "a pod that may wait for a node needs no headroom"),
        (["--start-within", "soon"], "'soon' is not a duration"),
        (["--lead-time", "0"], "need no headroom"),
        (["--lead-time", "-5s"], "less than nothing"),
        (["--lead-time", "long"], "'long' is not a duration"),
        (["--lead-time", "1e3"], "'1e3' is not a duration"),
        (["--lead-time", "."], "'.' is not a duration"),
        (["--duration", "-5s"], "less than nothing"),
        (["--train-until", "never"], "--train-until 'never': write a second of the trace"),
        (["--train-until", "nan"], "pods must come before and after it"),
        (["--train-until", "99999999"], "pods must come before and after it"),
        (["--train-until", "0"], "pods must come before and after it"),
        (["--price", "-1"], "--price"),
        (["--price", "nan"], "--price"),
        (["--policy", "percent"], "needs a workload to follow"),
        (["--query", "up"], "--query is for --prometheus"),
        (["--from", "x.json"], "one source at a time"),
        (["--prometheus", "http://x"], "one source at a time"),
        (["--series", "/no/such/folder/s.csv"], "cannot write"),
        (["--html", "/no/such/folder/s.html"], "cannot write"),
    ],
)
def test_flags_that_make_no_sense_are_told_with_what_to_write(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flags: list[str], words: str
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("second\n" + "".join(f"{10 * n}\n" for n in range(60)))
    assert words in refused(capsys, "--trace", str(path), *flags).err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "there are no arrivals in it"),
        ("second,pods\n5,0\n", "every line says 0"),
        ("second,pods\n5,100\n", "all pods arrived at once"),
        ("second,pods\n5,1\n4,1\n", "few.csv:3: earlier than the line before"),
        ("second,pods\n5,one\n", "few.csv:2: 'one' is not a number of pods"),
    ],
)
def test_traces_that_say_nothing_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "few.csv"
    path.write_text(content)
    assert words in refused(capsys, "--trace", str(path)).err


@pytest.mark.parametrize("first", [10, 15, 18, 19])
def test_three_pods_within_three_seconds_are_enough_for_a_guess(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, first: int
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("second,pods\n" + "".join(f"{first + n},1\n" for n in range(3)))
    finished = headroom(capsys, "recommend", "--trace", str(path), "--promise", "0.5")
    assert finished.code in (0, 1), finished.err
    assert "How sure: low" in finished.out


def test_a_promise_that_would_not_have_been_kept_is_a_no(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bursts.csv"
    path.write_text("second,pods\n" + "".join(f"{7000 * n},{n * n}\n" for n in range(1, 12)))
    finished = headroom(capsys, "recommend", "--trace", str(path))
    assert finished.code == 1
    assert re.search(
        r"would not have kept the promise: \S+% of the pods found a slot", finished.err
    )
    assert "How sure: low" in finished.out


def test_a_trace_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = refused(capsys, "--trace", str(tmp_path / "gone.csv"))
    assert "gone.csv: cannot be read: No such file or directory" in missing.err
