"""`describe` shows all that is known of an object; `dump` writes what every verb can read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom as command
from tests.cli.test_get_headrooms import MANIFESTS

EVENT = """
---
apiVersion: v1
kind: Event
metadata: {name: e1, namespace: shop}
involvedObject: {kind: Headroom, namespace: shop, name: spare}
type: Normal
reason: PartiallyHeld
count: 3
message: 1 of 2 slots held
lastTimestamp: "2027-01-04T08:10:00Z"
---
apiVersion: v1
kind: Event
metadata: {name: e2, namespace: shop}
involvedObject: {kind: Pod, namespace: shop, name: other}
reason: Scheduled
message: about somebody else
"""
NOISY = """
---
apiVersion: v1
kind: Pod
metadata:
  name: noisy
  namespace: shop
  managedFields: [{manager: kubectl}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: s3cret, note: kept}
spec:
  containers:
    - name: main
      command: [run, --token=s3cret]
      env: [{name: PASSWORD, value: s3cret}]
      resources: {requests: {cpu: 100m}}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFESTS + EVENT + NOISY)
    return str(file)


def test_a_headroom_is_described_with_its_conditions_events_and_spec(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    done = command(capsys, "describe", "hr/spare", "-n", "shop", "--from", cluster)
    assert done.code == 0
    assert "headroom shop/spare wants 2 slots and has 1" in done.out
    assert "Ready       False    Holding" in done.out
    assert "PartiallyHeld   3       1 of 2 slots held" in done.out
    assert "about somebody else" not in done.out
    assert "perNode:" in done.out


def test_a_description_for_programs_has_all_parts(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    done = command(capsys, "describe", "hr/spare", "-n", "shop", "-o", "json", "--from", cluster)
    told = json.loads(done.out)
    assert told["kind"] == "Description"
    assert [event["reason"] for event in told["events"]] == ["PartiallyHeld"]
    assert told["object"]["metadata"]["name"] == "spare"
    assert told["explanation"]["slots"][0]["state"] == "held"


def test_what_is_not_there_cannot_be_described(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    assert command(capsys, "describe", "hr/nope", "--from", cluster).code == 1
    assert command(capsys, "describe", "node/a", "--from", cluster).code == 2


def test_a_dump_can_be_asked_like_the_cluster_it_was_taken_from(
    capsys: pytest.CaptureFixture[str], cluster: str, tmp_path: Path
) -> None:
    clock = tmp_path / "clock.json"
    clock.write_text(json.dumps({"kind": "Result", "end": "2027-01-04T08:20:00Z"}))
    done = command(capsys, "dump", "--from", cluster, "--from", str(clock))
    assert done.code == 0
    file = tmp_path / "dump.json"
    file.write_text(done.out)
    both = [
        command(capsys, "get", "slots", "--from", *sources).out
        for sources in ((str(file),), (cluster, "--from", str(clock)))
    ]
    assert both[0] == both[1]
    again = command(capsys, "describe", "hr/spare", "-n", "shop", "--from", str(file))
    assert "PartiallyHeld" in again.out


def test_a_dump_keeps_what_containers_are_told_to_itself(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    done = command(capsys, "dump", "-o", "yaml", "--from", cluster)
    assert "s3cret" not in done.out
    assert "managedFields" not in done.out
    assert "note: kept" in done.out
    assert "cpu: 100m" in done.out
