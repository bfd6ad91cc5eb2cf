"""`simulate --journal FILE`: what a long run would keep in memory goes into a file instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import headroom

WORLD = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: long}
spec:
  until: 6h
  pools: [{name: w, count: 1, max: 3, cpu: "4", memory: 16Gi}]
  autoscaler: {enabled: true}
  arrivals: [{trace: jobs.csv, name: job, duration: 20m}]
  steps:
    - at: 0s
      objects:
        - apiVersion: headroom.dev/v1alpha1
          kind: Headroom
          metadata: {name: reserve}
          spec:
            slot: {template: {resources: {requests: {cpu: "1"}}}}
            size: {replicas: 2}
            owners: [{labelSelector: {matchLabels: {app: ci}}}]
"""


def played(
    folder: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result of the run, and the lines of its file."""
    (folder / "jobs.csv").write_text(
        "second,pods\n" + "".join(f"{60 * each},{1 + each % 3}\n" for each in range(0, 180, 7))
    )
    world, journal = folder / "world.yaml", folder / "journal.jsonl"
    world.write_text(WORLD)
    done = headroom(capsys, "simulate", str(world), "-o", "json", *more)
    lines = journal.read_text().splitlines() if journal.exists() else []
    return json.loads(done.out), [json.loads(line) for line in lines]


def test_the_run_is_the_same_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, none = played(tmp_path, capsys)
    result, lines = played(tmp_path, capsys, "--journal", str(tmp_path / "journal.jsonl"))
    assert none == []
    assert [line for line in lines if "event" not in line] == kept["journal"]
    assert result["journal"] == []
    past = [line["event"] for line in lines if "event" in line]
    assert len(past) > 20
    assert sorted([*past, *result["events"]], key=uid) == sorted(kept["events"], key=uid)
    without = ("journal", "events")
    assert {key: value for key, value in result.items() if key not in without} == {
        key: value for key, value in kept.items() if key not in without
    }


def uid(event: dict[str, Any]) -> str:
    return str(event["metadata"]["uid"])


def test_pictures_need_the_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = tmp_path / "world.yaml"
    world.write_text(WORLD.replace("arrivals", "# arrivals"))
    page, file = str(tmp_path / "page.html"), str(tmp_path / "journal.jsonl")
    done = headroom(capsys, "simulate", str(world), "--html", page, "--journal", file)
    assert done.code == 2
    assert "--journal" in done.err
    assert not Path(page).exists()


def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = tmp_path / "world.yaml"
    world.write_text(WORLD.replace("arrivals", "# arrivals"))
    file = tmp_path / "missing" / "journal.jsonl"
    done = headroom(capsys, "simulate", str(world), "--journal", str(file))
    assert done.code == 2
    assert f"cannot write {file}" in done.err
