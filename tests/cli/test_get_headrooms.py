"""`get headrooms` and `get slots` on files: what each wishes for, what stands, what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom

MANIFESTS = """
apiVersion: v1
kind: Node
metadata: {name: a}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Node
metadata: {name: b}
spec: {unschedulable: true}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: spare, namespace: shop, uid: u1}
spec:
  slot: {template: {resources: {requests: {cpu: 500m, memory: 1Gi}}}}
  size: {perNode: {slots: 2}}
  owners: [{priorityAtLeast: 1000}]
  schedule: [{start: "0 8 * * *", duration: 24h}]  # open at every hour: files have no clock
status:
  desired: 2
  held: 1
  pending: 1
  claimed: 17
  nextStart: "2027-01-05T08:00:00Z"
  conditions:
    - type: Ready
      status: "False"
      reason: Holding
      message: 1 of 2 slots held
      lastTransitionTime: "2027-01-04T08:00:00Z"
---
apiVersion: headroom.dev/v1alpha1
kind: Headroom
metadata: {name: unseen, namespace: shop}
spec:
  slot: {template: {resources: {requests: {cpu: "1"}}}}
  size: {replicas: 0}
  owners: [{labelSelector: {matchLabels: {app: web}}}]
---
apiVersion: v1
kind: Pod
metadata:
  name: keeper
  namespace: shop
  creationTimestamp: "2027-01-04T08:00:00Z"
  labels: {headroom.dev/role: guardian}
  annotations: {headroom.dev/parent: Headroom/shop/spare, headroom.dev/slot: a}
  ownerReferences:
    - {apiVersion: headroom.dev/v1alpha1, kind: Headroom, name: spare, uid: u1, controller: true}
spec: {nodeName: a, containers: [{name: p, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
status: {phase: Running}
"""
RESULT = {"kind": "Result", "end": "2027-01-04T08:20:00Z"}


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(MANIFESTS)
    clock = tmp_path / "clock.json"
    clock.write_text(json.dumps(RESULT))
    return str(file)


def ask(capsys: pytest.CaptureFixture[str], cluster: str, *arguments: str) -> list[list[str]]:
    clock = str(Path(cluster).with_name("clock.json"))
    finished = headroom(capsys, *arguments, "--from", cluster, "--from", clock)
    assert finished.code == 0, finished.err
    return [line.split() for line in finished.out.splitlines()]


@pytest.mark.parametrize("word", ["headrooms", "headroom", "hr"])
def test_headrooms_show_their_counts_and_why_they_are_not_ready(
    capsys: pytest.CaptureFixture[str], cluster: str, word: str
) -> None:
    heading, spare, unseen = ask(capsys, cluster, "get", word)
    assert heading[:6] == ["NAMESPACE", "NAME", "DESIRED", "HELD", "PENDING", "CLAIMED"]
    assert spare == ["shop", "spare", "2", "1", "1", "17", "in", "23h40m", "False", "Holding"]
    assert unseen == ["shop", "unseen", "-", "-", "-", "-", "-", "-", "-"]


def test_slots_show_where_each_stands(capsys: pytest.CaptureFixture[str], cluster: str) -> None:
    _, held, missing = ask(capsys, cluster, "get", "slots")
    assert held == ["shop", "spare", "a", "held", "a", "0.5", "1Gi", "20m", "-"]
    assert missing[:5] == ["shop", "spare", "a/1", "missing", "a"]


def test_slots_are_a_versioned_list_for_programs(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    finished = headroom(capsys, "get", "slots", "spare", "-o", "json", "--from", cluster)
    slots = json.loads(finished.out)
    assert (slots["apiVersion"], slots["kind"]) == ("headroom.dev/v1alpha1", "SlotList")
    assert [item["state"] for item in slots["items"]] == ["held", "missing"]
    assert slots["items"][0]["guardian"] == "keeper"


def test_a_headroom_comes_out_as_it_went_in(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    finished = headroom(capsys, "get", "hr", "spare", "-o", "json", "--from", cluster)
    assert json.loads(finished.out)["spec"]["size"] == {"perNode": {"slots": 2}}


def test_what_is_not_there_and_what_is_no_kind_are_told_apart(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    missing = headroom(capsys, "get", "hr", "nope", "--from", cluster)
    assert (missing.code, missing.out) == (1, "")
    assert "headroom get headrooms" in missing.err
    odd = headroom(capsys, "get", "things", "--from", cluster)
    assert odd.code == 2
    assert "holds, headrooms, slots, nodes, guardians, claims" in odd.err
    none = headroom(capsys, "get", "slots", "nope", "--from", cluster)
    assert (none.code, none.out) == (1, "")
    assert "there is no slot nope" in none.err
    empty = headroom(capsys, "get", "slots", "unseen", "--from", cluster)
    assert (empty.code, empty.out, empty.err) == (0, "", "no slots here\n")


def test_a_headroom_of_a_file_is_explained_by_its_short_name(
    capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    finished = headroom(capsys, "explain", "hr/spare", "-n", "shop", "--from", cluster)
    assert finished.code == 0
    assert "headroom shop/spare wants 2 slots and has 1" in finished.out
    assert "is cordoned" in finished.out
    alone = headroom(capsys, "explain", "hr/spare", "-n", "shop", "--node", "b", "--from", cluster)
    assert alone.out.splitlines()[0] == (
        "headroom shop/spare, node b: is cordoned (spec.unschedulable)."
    )
    nowhere = headroom(
        capsys, "explain", "hr/spare", "-n", "shop", "--node", "z", "--from", cluster
    )
    assert nowhere.code == 1
    misuse = headroom(capsys, "explain", "pod/x", "--node", "b", "--from", cluster)
    assert misuse.code == 2
