"""`headroom get` on files: tables for people, objects for programs, and a clear no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom

MANIFESTS = """
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {unschedulable: true}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata:
  name: keeper
  namespace: shop
  labels: {headroom.dev/role: guardian}
  annotations: {headroom.dev/parent: Hold/shop/checkout}
spec: {nodeName: a, containers: [{name: p, resources: {requests: {cpu: 1500m, memory: 3Gi}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, annotations: {headroom.dev/claimed: Hold/shop/old}}
spec: {nodeName: a, containers: [{name: p, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
---
apiVersion: headroom.dev/v1alpha1
kind: Hold
metadata: {name: checkout, namespace: shop, creationTimestamp: "2027-01-04T08:00:00Z"}
spec:
  template: {spec: {containers: [{name: main, resources: {requests: {cpu: 1500m, memory: 3Gi}}}]}}
  owners: [{labelSelector: {matchLabels: {app: checkout}}}]
  ttl: 1h
status: {phase: Available, nodeName: a}
"""


@pytest.fixture
def manifests(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFESTS)
    return str(file)


def test_nodes_show_what_is_used_held_and_free(
    capsys: pytest.CaptureFixture[str], manifests: str
) -> None:
    finished = headroom(capsys, "get", "nodes", "--from", manifests)
    assert finished.code == 0
    assert [line.split() for line in finished.out.splitlines()] == [
        ["NODE", "CPU", "USED", "HELD", "FREE", "MEMORY", "USED", "HELD", "FREE", "STATE"],
        ["*", "4", "1", "1.5", "1.5", "16Gi", "0", "3Gi", "13Gi", "-"],
        ["a", "4", "1", "1.5", "1.5", "16Gi", "0", "3Gi", "13Gi", "Cordoned"],
    ]


def test_a_result_of_a_simulation_is_asked_at_its_own_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, manifests: str
) -> None:
    as_json = headroom(capsys, "get", "holds", "-o", "json", "--from", manifests)
    result = {
        "apiVersion": "sim.headroom.dev/v1alpha1",
        "kind": "Result",
        "end": "2027-01-04T08:20:00Z",
        "objects": json.loads(as_json.out)["items"],
    }
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result))
    finished = headroom(capsys, "get", "--from", str(file))
    row = finished.out.splitlines()[1].split()
    assert row == ["shop", "checkout", "Available", "a", "1.5", "3Gi", "-", "40m", "-"]


def test_guardians_and_claims_name_their_hold(
    capsys: pytest.CaptureFixture[str], manifests: str
) -> None:
    guardians = headroom(capsys, "get", "guardians", "--from", manifests)
    assert "Hold/shop/checkout" in guardians.out
    claims = headroom(capsys, "get", "claims", "--from", manifests)
    assert "Hold/shop/old" in claims.out


def test_objects_come_out_as_they_went_in(
    capsys: pytest.CaptureFixture[str], manifests: str
) -> None:
    finished = headroom(capsys, "get", "holds", "checkout", "-o", "json", "--from", manifests)
    hold = json.loads(finished.out)
    assert hold["kind"] == "Hold"
    assert hold["spec"]["ttl"] == "1h"


def test_rooms_are_versioned_numbers_for_programs(
    capsys: pytest.CaptureFixture[str], manifests: str
) -> None:
    finished = headroom(capsys, "get", "nodes", "-o", "json", "--from", manifests)
    rooms = json.loads(finished.out)
    assert (rooms["apiVersion"], rooms["kind"]) == ("headroom.dev/v1alpha1", "NodeRoomList")
    assert rooms["items"][0]["free"]["cpu"] == 1500


@pytest.mark.parametrize("what", [("holds", "nope"), ("nodes", "nope"), ("claims", "nope")])
def test_what_is_not_there_is_a_no_with_the_next_step(
    capsys: pytest.CaptureFixture[str], manifests: str, what: tuple[str, str]
) -> None:
    finished = headroom(capsys, "get", *what, "--from", manifests)
    assert (finished.code, finished.out) == (1, "")
    assert "nope" in finished.err
    assert f"headroom get {what[0]}" in finished.err


def test_another_namespace_has_none_of_it(
    capsys: pytest.CaptureFixture[str], manifests: str
) -> None:
    finished = headroom(capsys, "get", "holds", "-n", "other", "--from", manifests)
    assert (finished.code, finished.out, finished.err) == (0, "", "no holds in namespace other\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"a: [", "not YAML"),
        (b'{"kind": "Result", "end": "yesterday"}', "yesterday"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_trouble(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes | None, message: str
) -> None:
    file = tmp_path / "odd.yaml"
    if content is not None:
        file.write_bytes(content)
    for command in (("get", "--from", str(file)), ("view", str(file))):
        finished = headroom(capsys, *command)
        assert finished.code == 2
        assert f"headroom: {file}:" in finished.err  # No flag that nobody gave.
        assert message in finished.err


def test_an_object_that_cannot_be_decoded_does_not_hide_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, manifests: str
) -> None:
    odd = tmp_path / "odd.yaml"
    odd.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: odd}\nspec: {containers: 7}\n")
    finished = headroom(capsys, "get", "nodes", "--from", manifests, "--from", str(odd))
    assert finished.code == 0
    assert "odd" in finished.err


def test_a_missing_kubeconfig_is_said_with_the_way_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    finished = headroom(capsys, "get", "--kubeconfig", str(tmp_path / "none"))
    assert finished.code == 2
    assert "no such file" in finished.err
    assert "--kubeconfig" in finished.err
