"""The simulated Karpenter beside the real one: the same pods and pools in, the same machines out.

The pods of a case wait before Karpenter may order anything, so that it sees them all at once, as
the simulated one does. What is compared is how many machines of which type are ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import DAEMON_SETS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter
from tests.e2e.installing import until
from tests.sim.packing_cases import CASES, TYPE, simulated

pytestmark = pytest.mark.e2e
LONG_S = 120


@pytest.fixture(scope="module")
def karpenter(karpenter_program: Path) -> Iterator[tuple[ControlPlane, Karpenter]]:
    """A Karpenter without a NodePool; without the program everything here is skipped, loudly."""
    with ControlPlane.start(kwok=True) as plane:
        made = Karpenter.start(plane, Fleet(boot_delay_s=0, when_empty_only=True))
        made.clear()
        yield plane, made


def ordered(plane: ControlPlane, made: Karpenter, things: list[Json]) -> list[str]:
    """The types of the machines that the real one orders, once all that fits has a machine."""
    for thing in things:
        resource = DAEMON_SETS if thing["kind"] == "DaemonSet" else PODS
        plane.api.create(resource.path("default"), thing)
    names = [each["metadata"]["name"] for each in things if each["kind"] == "Pod"]
    until("all pods wait", lambda: all(_told(plane, name) for name in names))
    made.offer()
    fitting = [name for name in names if not name.startswith("huge")]
    until("they are placed", lambda: all(_placed(plane, name) for name in fitting), seconds=LONG_S)
    types = [node["metadata"]["labels"][TYPE] for node in made.nodes()]
    assert len(types) == len(made.claims())
    return sorted(types)


def _told(plane: ControlPlane, name: str) -> bool:
    status = plane.api.get(PODS.path("default", name)).get("status") or {}
    return any(each.get("reason") == "Unschedulable" for each in status.get("conditions") or ())


def _placed(plane: ControlPlane, name: str) -> bool:
    return bool(plane.api.get(PODS.path("default", name))["spec"].get("nodeName"))


@pytest.mark.parametrize("case", CASES)
def test_both_order_the_same_machines(karpenter: tuple[ControlPlane, Karpenter], case: str) -> None:
    plane, made = karpenter
    things, machines = CASES[case]
    assert simulated(things) == machines
    try:
        assert ordered(plane, made, things) == machines
    finally:
        for resource in (DAEMON_SETS, PODS):
            plane.api.delete(resource.path("default"), {"gracePeriodSeconds": 0})
        made.clear()
        until("no pod is left", lambda: not plane.api.items(PODS.path("default")), seconds=LONG_S)
