"""`headroom simulate` and `explain` with a Reservation that waits for pods marked for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import headroom
from tests.dialects.koordinator.objects import container, reservation_json, template

DIALECT = ("--dialect", "koordinator")
ALLOWED = "--allow-cluster-preallocation"


@pytest.fixture
def files(tmp_path: Path) -> str:
    """A node of 4 CPU full of a marked pod, and a Reservation for its place."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "status": {"capacity": room, "allocatable": room},
    }
    labels = {"pod.koordinator.sh/is-pre-allocatable": "true"}
    running = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "labels": labels},
        "spec": {"nodeName": "a", "containers": [container(cpu="4")]},
    }
    wanted = reservation_json(
        {
            "template": template({"containers": [container(cpu="4")]}),
            "allocatePolicy": "Restricted",
            "preAllocation": True,
            "preAllocationPolicy": {"mode": "Cluster"},
        }
    )
    del wanted["metadata"]["uid"], wanted["metadata"]["creationTimestamp"]
    written = tmp_path / "all.yaml"
    written.write_text("\n---\n".join(map(json.dumps, (node, running, wanted))), encoding="utf-8")
    return str(written)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ((), "promises nothing: spec.preAllocationPolicy.mode: Cluster takes"),
        ((ALLOWED,), "Waiting"),
    ],
)
def test_marked_pods_are_waited_for_only_with_leave(
    files: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    says: str,
) -> None:
    played = headroom(capsys, "simulate", files, *DIALECT, *flags, "--until", "1m", "-o", "json")
    assert played.code == (0 if flags else 1)
    result = tmp_path / "result.json"
    result.write_text(played.out, encoding="utf-8")
    told = headroom(capsys, "explain", "reservation/r", "--from", str(result), *DIALECT, *flags)
    assert says in told.out
