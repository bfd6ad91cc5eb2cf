"""A hundred owners at once onto a hundred holds: nobody is lost; the time is told, not judged."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headroom.wire.kinds import HOLDS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import Lookout, Sight
from tests.e2e.processes import OperatorProcess
from tests.stories.things import NAMESPACE, hold, pod

pytestmark = pytest.mark.e2e
OWNERS = 100
NODES = 10
PER_NODE = OWNERS // NODES
NOW = {"gracePeriodSeconds": 0}
WAYS = {
    "plain pods": {},
    "owners through gated": {"gated": True},
    "owners through ours": {"ours": True},
}


@dataclass
class Field:
    plane: ControlPlane
    lookout: Lookout

    def create_all(self, path: str, bodies: list[Json]) -> None:
        self.plane.api.for_each(lambda body: self.plane.api.create(path, body), bodies)

    def hold_everything(self, names: list[str]) -> None:
        """Fill every node to the brim with holds."""
        self.create_all(HOLDS.path(NAMESPACE), [hold(name, app="web") for name in names])
        self.lookout.until(
            "all are held", lambda now: all(now.hold_phase(name) == "Available" for name in names)
        )

    def clear(self) -> None:
        self.plane.api.delete(HOLDS.path(NAMESPACE))
        self.plane.api.delete(PODS.path(NAMESPACE), NOW)
        self.lookout.until("all is gone", lambda now: not now.pods and not now.holds)


@pytest.fixture(scope="module")
def field(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    work = tmp_path_factory.mktemp("many")
    with ControlPlane.start(work / "plane", kwok=True) as plane:
        install(plane, our_objects())
        plane.add_fake_nodes(NODES, cpu=str(PER_NODE))
        plane.wait_nodes_ready(NODES)
        with OperatorProcess(plane.kubeconfig, work / "operator.log"):
            lookout = Lookout(plane.api)
            yield Field(plane, lookout)
            lookout.close()


def test_a_hundred_owners_at_once(field: Field) -> None:
    names = [f"hold-{number}" for number in range(OWNERS)]
    owners = [f"owner-{number}" for number in range(OWNERS)]

    def all_run(now: Sight) -> bool:
        return all(now.phase(owner) == "Running" for owner in owners)

    for way, spec in WAYS.items():
        if spec:
            field.hold_everything(names)
        began = time.monotonic()
        field.create_all(PODS.path(NAMESPACE), [pod(name, app="web", **spec) for name in owners])
        seen = field.lookout.until(f"all {way} run", all_run)
        print(f"\n{OWNERS} {way}: all running after {time.monotonic() - began:.2f} s")
        if spec:
            assert_each_has_its_own(seen, owners, names)
            field.lookout.until("nothing is left", lambda now: not now.ours("latch") + now.gated())
        field.clear()


def assert_each_has_its_own(seen: Sight, owners: list[str], holds: list[str]) -> None:
    """Every owner got a hold, and no hold was given twice."""
    claims = [seen.pods[name]["metadata"]["annotations"]["headroom.dev/claimed"] for name in owners]
    assert sorted(claims) == sorted(f"Hold/{NAMESPACE}/{name}" for name in holds)
    nodes = [seen.node(name) for name in owners]
    assert {nodes.count(node) for node in set(nodes)} == {PER_NODE}
