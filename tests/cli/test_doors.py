"""Owners that come through no door are told by every verb that somebody would look with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom

CLUSTER = """apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: doors}
spec:
  until: 3m
  pools: [{name: g, count: 1, cpu: "8"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: m, image: web, resources: {requests: {cpu: "1"}}}]}
"""
BURST = """apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: burst}
spec:
  slot: {template: {resources: {requests: {cpu: "1"}}}}
  size: {replicas: 2}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
---
apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: kept}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
"""
RESERVATION = """apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata: {name: kept}
spec:
  template:
    spec:
      schedulerName: koord-scheduler
      containers: [{name: main, image: web, resources: {requests: {cpu: 100m}}}]
  owners: [{labelSelector: {matchLabels: {app: web}}}]
  ttl: 24h
"""
OPTED_IN = """apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {headroom.dev/claims: enabled}}
"""
REMEDIES = (
    "kubectl label namespace default headroom.dev/claims=enabled",
    "the scheduling gate headroom.dev/claim",
    "schedulerName: headroom-scheduler",
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"cluster": CLUSTER, "wish": BURST, "opted": OPTED_IN}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return {name: str(tmp_path / f"{name}.yaml") for name in texts}


def test_simulate_get_and_explain_tell_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, files: dict[str, str]
) -> None:
    table = headroom(capsys, "simulate", files["cluster"], files["wish"])
    assert table.code == 0
    for remedy in REMEDIES:
        assert remedy in table.out
    played = headroom(capsys, "simulate", files["cluster"], files["wish"], "-o", "json")
    told = json.loads(played.out)["summary"]["owners_without_door"]
    assert list(told) == ["Headroom/default/burst", "Hold/default/kept"]
    result = tmp_path / "result.json"
    result.write_text(played.out)
    for kind, name in (("hr", "burst"), ("hold", "kept")):
        listed = headroom(capsys, "get", kind, "--from", str(result))
        assert "OwnersWithoutDoor" in listed.out
        explained = headroom(capsys, "explain", f"{kind}/{name}", "--from", str(result))
        assert REMEDIES[0] in explained.out


def test_a_reservation_tells_of_it_in_a_condition_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, files: dict[str, str]
) -> None:
    wish, result = tmp_path / "reservation.yaml", tmp_path / "result.json"
    wish.write_text(RESERVATION)
    played = headroom(capsys, "simulate", files["cluster"], str(wish), "-o", "json")
    assert list(json.loads(played.out)["summary"]["owners_without_door"]) == ["Reservation/kept"]
    result.write_text(played.out)
    listed = headroom(capsys, "get", "reservations", "--from", str(result))
    assert "OwnersWithoutDoor" in listed.out, listed.out
    found = headroom(capsys, "get", "reservation/kept", "--from", str(result), "-o", "json")
    conditions = json.loads(found.out)["status"]["conditions"]
    assert [each["type"] for each in conditions] == ["Scheduled", "Ready", "OwnersWithoutDoor"]
    for verb in ("explain", "describe"):
        done = headroom(capsys, verb, "reservation/kept", "--from", str(result))
        assert REMEDIES[0] in done.out, done.out
    planned = headroom(capsys, "plan", str(wish), "--from", str(result))
    assert "OwnersWithoutDoor: pod default/web-" in planned.out


def test_plan_tells_of_it_beforehand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, files: dict[str, str]
) -> None:
    result = tmp_path / "result.json"
    result.write_text(headroom(capsys, "simulate", files["cluster"], "-o", "json").out)
    planned = headroom(capsys, "plan", files["wish"], "--from", str(result))
    assert planned.code == 0
    assert planned.out.count("OwnersWithoutDoor: pod default/web-") == 2


def test_a_namespace_that_opted_in_says_nothing(
    capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    done = headroom(capsys, "simulate", *files.values(), "-o", "json")
    assert json.loads(done.out)["summary"]["owners_without_door"] == {}
