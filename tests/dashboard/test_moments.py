"""A run looked back on: each moment as it was, with the misses and promises of the statuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from headroom.dashboard.frames import Frames
from headroom.dashboard.timeline import FIELDS
from tests.cli.commands import headroom
from tests.dashboard.differences import applied

SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: misses}
spec:
  start: "2027-01-04T08:00:00Z"
  until: 3h
  pools: [{name: general, count: 1, cpu: "2", memory: 16Gi}]
  steps:
    - {at: 60m, scale: {kind: Deployment, namespace: default, name: web}, replicas: 2}
    - {at: 90m, scale: {kind: Deployment, namespace: default, name: web}, replicas: 4}
---
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {headroom.dev/gate: "true"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulingGates: [{name: headroom.dev/claim}]
      containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: spare, namespace: default}
spec:
  slot: {template: {resources: {requests: {cpu: "1", memory: 1Gi}}}}
  size: {replicas: 2}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
"""


@pytest.fixture
def page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The data of the page that a run is written into."""
    file, html = tmp_path / "run.yaml", tmp_path / "run.html"
    file.write_text(SCENARIO)
    done = headroom(capsys, "simulate", str(file), "--html", str(html), "--allow-invalid")
    assert done.code == 0, done.err
    found = re.search(r'id="data">(.*?)</script>', html.read_text(), re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def moments(page: dict[str, Any]) -> list[tuple[float, dict[str, Any]]]:
    """The frames as the page puts them together."""
    found: list[tuple[float, dict[str, Any]]] = []
    for frame in page["frames"]:
        if "whole" in frame:
            document = frame["whole"]
        elif frame["change"] is not None:
            document = applied(found[-1][1], frame["change"])
        else:
            document = found[-1][1]
        found.append((frame["elapsed"], document))
    return found


def test_a_moment_is_shown_as_it_was_from_then_on(page: dict[str, Any]) -> None:
    found = moments(page)

    def claimed(elapsed: float) -> int:
        shown = [document for moment, document in found if moment <= elapsed][-1]
        used: int = shown["nodes"]["general-0"]["claimed"].get("cpu", 0)
        return used

    assert claimed(59 * 60) == 0
    assert claimed(62 * 60) == 2000  # The owners came two minutes before.
    assert claimed(89 * 60) == 2000
    assert len(found) < 60


def test_misses_and_promises_of_a_run_are_those_of_its_statuses(page: dict[str, Any]) -> None:
    rows = list(page["snapshot"]["objects"].values())
    last = dict(zip(FIELDS, list(page["snapshot"]["timeline"].values())[-1], strict=True))
    assert last["misses"] == sum(row["misses"] for row in rows) > 0
    owners, late = rows[0]["achieved"]["hour"]
    assert (last["owners"], last["late"]) == (owners, late)
    assert late > 0
    first = dict(zip(FIELDS, next(iter(page["snapshot"]["timeline"].values())), strict=True))
    assert first["misses"] == 0


def test_frames_of_a_standing_picture_are_small() -> None:
    frames = Frames()
    rows = {f"node-{number}": {"used": number} for number in range(1000)}
    for second in range(50):
        frames.add(second, {"at": str(second), "nodes": rows})
    assert len(json.dumps(frames.changes())) < 2 * len(json.dumps(rows))
