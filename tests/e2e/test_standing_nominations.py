"""How long the nomination of a latch counts: not longer than the kube-scheduler that saw it.

This is why no latch stands by for handovers to come: docs/decisions/0132.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from bench.contested import election
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import until
from tests.versions import has

pytestmark = [pytest.mark.e2e, pytest.mark.every_version]
PODS = "/api/v1/namespaces/default/pods"
SCHEDULER = "kube-scheduler"
NODES = 5
LEASE_S = 15
GATES: Json = {"schedulingGates": [{"name": "example.com/latch"}]}


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of our own, because we restart its scheduler. It elects a leader."""
    place = tmp_path_factory.mktemp("nominations")
    with ControlPlane.start(place, kwok=True, scheduler_args=election(LEASE_S)) as plane:
        plane.wait_nodes_ready(NODES, plane.add_fake_nodes(NODES, cpu="1"))
        plane.wait_nodes_ready(1, plane.add_fake_nodes(1, cpu="200m", prefix="probe"))
        yield plane


def pod(name: str, cpu: str = "800m", **spec: object) -> Json:
    needs = {"requests": {"cpu": cpu}}
    main = {"name": "main", "image": "app", "resources": needs}
    return {"metadata": {"name": name}, "spec": {"containers": [main], **spec}}


def node_of(plane: ControlPlane, name: str) -> str:
    return str(plane.api.get(f"{PODS}/{name}")["spec"].get("nodeName", ""))


def latched(plane: ControlPlane, run: str) -> None:
    """Nodes that are full, each with a latch that is nominated to it."""
    for number in range(NODES):
        node = f"fake-{number}"
        plane.api.create(PODS, pod(f"{run}-guardian-{number}", nodeName=node))
        plane.api.create(PODS, pod(f"{run}-latch-{number}", **GATES))
        nominate(plane, run, number)


def nominate(plane: ControlPlane, run: str, number: int) -> None:
    status = {"status": {"nominatedNodeName": f"fake-{number}"}}
    plane.api.patch(f"{PODS}/{run}-latch-{number}/status", status)


def let_in(plane: ControlPlane, run: str) -> int:
    """How many rivals get a node once the guardians are gone and the latches are not."""
    for number in range(NODES):
        plane.api.create(PODS, pod(f"{run}-rival-{number}"))
    sleep(2)
    for number in range(NODES):
        plane.api.delete(f"{PODS}/{run}-guardian-{number}", {"gracePeriodSeconds": 0})
    sleep(5)
    placed = [node_of(plane, f"{run}-rival-{number}") for number in range(NODES)]
    for kind in ("rival", "latch"):
        for number in range(NODES):
            path = f"{PODS}/{run}-{kind}-{number}"
            plane.api.delete(path, {"gracePeriodSeconds": 0})
    return sum(map(bool, placed))


def restarted(plane: ControlPlane, run: str) -> float:
    """Restart kube-scheduler as an upgrade does; say how soon after its start it places a pod."""
    probe = pod(f"{run}-probe", "100m", nodeSelector={"kubernetes.io/hostname": "probe-5"})
    plane.stop_component(SCHEDULER)
    plane.api.create(PODS, probe)
    began = monotonic()
    plane.start_component(SCHEDULER)
    until("kube-scheduler works", lambda: bool(node_of(plane, f"{run}-probe")))
    return monotonic() - began


def test_a_nomination_that_kube_scheduler_has_seen_keeps_the_room(plane: ControlPlane) -> None:
    latched(plane, "seen")
    assert let_in(plane, "seen") == 0


def test_a_nomination_that_it_finds_at_its_start_does_not_before_1_37(plane: ControlPlane) -> None:
    """One that is asked to end releases its lease, so that the next one places pods at once."""
    latched(plane, "found")
    assert restarted(plane, "found") < LEASE_S
    assert let_in(plane, "found") == (0 if has("kept-nominations") else NODES)


def test_one_that_is_written_again_does(plane: ControlPlane) -> None:
    latched(plane, "again")
    restarted(plane, "again")
    for number in range(NODES):
        plane.api.patch(f"{PODS}/again-latch-{number}", {"metadata": {"annotations": {"a": "b"}}})
    assert let_in(plane, "again") == 0
