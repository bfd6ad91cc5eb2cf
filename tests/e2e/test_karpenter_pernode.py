"""Slots per node beside the DaemonSet that they replace, with a real autoscaler that consolidates.

The same 16 ordinary pods come to an empty cluster twice: once beside a DaemonSet that keeps half a
CPU on every node, once beside a Headroom of one such slot on every node. A machine of eight CPU has
room for five of the pods, or for four and the slot: whoever forgets the slot orders too little, and
the smallest machine has room for a pod or for the slot, never for both. The same with tickets of an
Order on every node. The operator starts before Karpenter does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from headroom.dialects.korder import KORDER
from headroom.dialects.korder.kinds import ORDERS
from headroom.wire.kinds import DAEMON_SETS, DEPLOYMENTS, HEADROOMS, PODS, PRIORITY_CLASSES
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter
from tests.e2e.installing import install, our_objects, until
from tests.e2e.processes import OperatorProcess
from tests.patience import TookTooLong
from tests.stories.korder.things import order
from tests.stories.things import headroom, priority_class, workload

pytestmark = pytest.mark.e2e
ORDINARY = 16
ORDINARY_CPU = "1500m"
SLOT_CPU = "500m"
LONG_S = 400
QUIET_S = 30


@dataclass
class Cloud:
    """A cluster without nodes but those that Karpenter orders, and our operator on it."""

    plane: ControlPlane
    karpenter: Karpenter

    def pods(self, label: str, value: str) -> list[Json]:
        found: list[Json] = self.plane.api.items(PODS.path("default"))
        alive = [each for each in found if "deletionTimestamp" not in each["metadata"]]
        return [each for each in alive if each["metadata"].get("labels", {}).get(label) == value]

    def nodes(self) -> list[str]:
        return [str(node["metadata"]["name"]) for node in self.karpenter.nodes()]

    def places(self, label: str, value: str) -> list[str]:
        return sorted(str(each["spec"].get("nodeName", "")) for each in self.pods(label, value))

    def counted(self, name: str) -> None:
        """Wait until Karpenter is told what the slots of an object keep on each node."""

        def so() -> bool:
            found: list[Json] = self.plane.api.items(DAEMON_SETS.path("default"))
            owners = [each["metadata"]["ownerReferences"][0]["name"] for each in found]
            return owners == [name]

        until("a DaemonSet shows the slots", so, seconds=LONG_S)

    def load(self) -> None:
        made = workload("Deployment", "ordinary", cpu=ORDINARY_CPU, replicas=ORDINARY)
        self.plane.api.create(DEPLOYMENTS.path("default"), made)

    def settled(self, label: str, value: str) -> int:
        """How many nodes there are when all pods run, each node has its slot and nothing moves."""
        try:
            until("it settles", Settling(self, label, value), seconds=LONG_S)
        except TookTooLong:
            kinds = "nodeclaims,nodes,pods,daemonsets,headrooms"
            print(self.plane.kubectl("get", kinds, "-n", "default", "-o", "wide"))
            print(self.plane.kubectl("get", "events", "-A", "--sort-by=.lastTimestamp")[-4000:])
            raise
        return len(self.nodes())

    def nodes_with(self, path: str, wish: Json, label: str, value: str) -> int:
        """How many nodes it takes beside such slots; nothing is left for another try."""
        name = str(wish["metadata"]["name"])
        self.plane.api.create(path, wish)
        try:
            self.counted(name)
            self.load()
            return self.settled(label, value)
        finally:
            self.plane.api.delete(f"{path}/{name}")
            self.clear()

    def clear(self) -> None:
        """Take the ordinary pods away, and wait until the machines have gone with them."""
        for found in self.plane.api.items(DEPLOYMENTS.path("default")):
            self.plane.api.delete(DEPLOYMENTS.path("default", found["metadata"]["name"]))
        until("all machines are gone", lambda: not self.karpenter.claims(), seconds=LONG_S)


class Settling:
    """True when what is there is complete and has not changed for a while."""

    def __init__(self, cloud: Cloud, label: str, value: str) -> None:
        self._cloud, self._label, self._value = cloud, label, value
        self._seen: object = None
        self._since = time.monotonic()

    def __call__(self) -> bool:
        nodes = sorted(self._cloud.nodes())
        ordinary = self._cloud.places("app", "ordinary")
        slots = self._cloud.places(self._label, self._value)
        claims = len(self._cloud.karpenter.claims())
        if (nodes, ordinary, slots, claims) != self._seen:
            self._seen, self._since = (nodes, ordinary, slots, claims), time.monotonic()
        complete = len(ordinary) == ORDINARY and all(ordinary) and slots == nodes
        return complete and time.monotonic() > self._since + QUIET_S


@pytest.fixture(scope="module")
def cloud(karpenter_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Karpenter and the operator; without Karpenter everything here is skipped, loudly."""
    folder = tmp_path_factory.mktemp("karpenter-pernode")
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane.start(kwok=True))
        install(plane, [*our_objects(), *KORDER.definitions()])
        # The operator is there first, and finds out by itself that Karpenter has come.
        access = plane.kubeconfig_for("operator", ("system:masters",))
        log = folder / "operator.log"
        stack.enter_context(OperatorProcess(access, log, "--dialect", "korder"))
        karpenter = Karpenter.start(plane, Fleet(boot_delay_s=2, consolidate_after_s=3))
        yield Cloud(plane, karpenter)


@pytest.fixture(scope="module")
def blueprint(cloud: Cloud) -> int:
    """How many nodes it takes beside a DaemonSet that keeps the same room."""
    cloud.plane.api.ensure(PRIORITY_CLASSES.path(), priority_class("room", 900_000_000))
    above = {"priorityClassName": "room"}
    keeper = workload("DaemonSet", "keeper", cpu=SLOT_CPU, pods=above)
    cloud.plane.api.create(DAEMON_SETS.path("default"), keeper)
    cloud.load()
    count = cloud.settled("app", "keeper")
    cloud.plane.api.delete(DAEMON_SETS.path("default", "keeper"))
    cloud.clear()
    return count


def test_slots_on_every_node_take_as_few_nodes_as_the_daemon_set_that_they_replace(
    cloud: Cloud, blueprint: int
) -> None:
    wish = headroom("every", cpu=SLOT_CPU, size={"perNode": {"slots": 1}})
    native = cloud.nodes_with(HEADROOMS.path("default"), wish, "headroom.dev/for", "every")
    print(f"{ORDINARY} pods: DaemonSet {blueprint} nodes, Headroom {native} nodes")
    assert native <= blueprint


def test_tickets_on_every_node_take_as_few_nodes_as_the_daemon_set_that_they_replace(
    cloud: Cloud, blueprint: int
) -> None:
    wish = order("ticketed", cpu=SLOT_CPU, daemonSet=True, replicas=1)
    tickets = cloud.nodes_with(ORDERS.path("default"), wish, "headroom.dev/role", "guardian")
    print(f"{ORDINARY} pods: DaemonSet {blueprint} nodes, Order {tickets} nodes")
    assert tickets <= blueprint


def test_karpenter_has_no_word_about_slots_that_wait(cloud: Cloud) -> None:
    told = cloud.plane.kubectl("get", "events", "-A", "-o", "jsonpath={.items[*].message}")
    assert "matchFields" not in told
