"""Standing headrooms with a real autoscaler: machines come before the burst, and go with the wish.

One Karpenter and one operator for all tests here, which follow each other. A slot of 1900m fits
four times on the largest machine and leaves no room for a fifth, so whatever does not find held
room has to wait for a machine to boot. What is judged is where pods went, never how fast.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench import audit
from headroom.wire.kinds import HEADROOMS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter
from tests.e2e.installing import install, our_objects, until
from tests.e2e.processes import OperatorProcess
from tests.stories.things import headroom, pod, workload

pytestmark = pytest.mark.e2e
BOOT_S = 5
LONG_S = 90
QUIET_S = 4
CPU = "1900m"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
NODE_POOLS = "/apis/karpenter.sh/v1/nodepools"
DISRUPTED = "karpenter.sh/disrupted"


@dataclass
class Cloud:
    """A cluster without nodes but those that Karpenter orders, and our operator on it."""

    plane: ControlPlane
    karpenter: Karpenter
    writes: audit.AuditLog

    def pods(self) -> list[Json]:
        found: list[Json] = self.plane.api.items(PODS.path("default"))
        return [each for each in found if "deletionTimestamp" not in each["metadata"]]

    def named(self, *names: str) -> list[Json]:
        return [each for each in self.pods() if each["metadata"]["name"] in names]

    def slots(self, name: str) -> list[Json]:
        """The guardians of a headroom."""
        return [each for each in self.pods() if _labels(each).get("headroom.dev/for") == name]

    def held(self, name: str, count: int) -> bool:
        return [bool(_node(each)) for each in self.slots(name)] == [True] * count

    def running(self, app: str, count: int) -> bool:
        mine = [each for each in self.pods() if _labels(each).get("app") == app]
        return [each["status"].get("phase") for each in mine] == ["Running"] * count

    def nodes_of(self, app: str) -> set[str]:
        return {_node(each) for each in self.pods() if _labels(each).get("app") == app}

    def machines(self) -> set[str]:
        return {str(node["metadata"]["name"]) for node in self.karpenter.nodes()}

    def types(self) -> list[str]:
        found = [node["metadata"]["labels"] for node in self.karpenter.nodes()]
        return [labels["node.kubernetes.io/instance-type"] for labels in found]

    def ordered(self) -> dict[str, str]:
        """Each machine that was ever ordered and is not gone, with the cores it was asked for."""
        return {
            claim["metadata"]["name"]: claim["spec"]["resources"]["requests"]["cpu"]
            for claim in self.karpenter.claims()
        }

    def wish(self, name: str, count: int, **spec: Any) -> None:
        self.plane.api.create(
            HEADROOMS.path("default"), headroom(name, cpu=CPU, replicas=count, **spec)
        )

    def run(self, name: str, count: int, cpu: str = CPU) -> None:
        """So many pods of a Deployment: a bare pod that is evicted would be lost."""
        self.plane.api.create(DEPLOYMENTS, workload("Deployment", name, cpu=cpu, replicas=count))

    def told(self, name: str) -> str:
        """What a headroom's first condition says."""
        found: Json = self.plane.api.get(HEADROOMS.path("default", name))
        return str((found.get("status", {}).get("conditions") or [{}])[0].get("message", ""))

    def end(self, path: str, name: str) -> None:
        self.plane.api.delete(f"{path}/{name}")

    def guardians_made(self) -> int:
        """How many pods the operator has made since it was last asked."""
        made = audit.kinds_of_writes(self.writes.new(), audit.OPERATOR)
        return sum(count for what, count in made.items() if what.startswith("create pods"))


@pytest.fixture(scope="module")
def cloud(karpenter_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Karpenter and the operator; without Karpenter everything here is skipped, loudly."""
    folder = tmp_path_factory.mktemp("karpenter-headroom")
    log, flags = audit.start(folder)
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane.start(kwok=True, apiserver_args=flags))
        install(plane, our_objects())
        karpenter = Karpenter.start(plane, Fleet(boot_delay_s=BOOT_S, consolidate_after_s=3))
        access = plane.kubeconfig_for("operator", ("system:masters",))
        stack.enter_context(OperatorProcess(access, folder / "operator.log"))
        yield Cloud(plane, karpenter, log)


def test_a_burst_runs_on_machines_that_slots_had_asked_for(cloud: Cloud) -> None:
    cloud.wish("ahead", 4, mode="Preemptible")
    until("machines come for the slots", lambda: cloud.held("ahead", 4), seconds=LONG_S)
    ready = cloud.machines()
    cloud.run("burst", 4)
    until("the burst runs", lambda: cloud.running("burst", 4))
    assert cloud.nodes_of("burst") <= ready  # Nobody waited for a machine to boot.
    until("the slots stand again", lambda: cloud.held("ahead", 4), seconds=LONG_S)
    assert cloud.nodes_of("burst") <= ready
    assert {_node(slot) for slot in cloud.slots("ahead")} <= cloud.machines() - ready


def test_owners_get_locked_slots_through_both_doors_and_machines_are_for_slots_only(
    cloud: Cloud,
) -> None:
    cloud.wish("kept", 2)
    until("its slots stand", lambda: cloud.held("kept", 2), seconds=LONG_S)
    places = {_node(slot) for slot in cloud.slots("kept")}
    before = cloud.ordered()
    waits = {"headroom.dev/wait": "true"}
    cloud.plane.api.create(
        PODS.path("default"), pod("too-large", "7", app="web", gated=True, annotations=waits)
    )
    cloud.plane.api.create(PODS.path("default"), pod("first", CPU, app="web", gated=True))
    cloud.plane.api.create(PODS.path("default"), pod("second", CPU, app="web", ours=True))
    until("both have a node", lambda: all(_node(each) for each in cloud.named("first", "second")))
    claimed = cloud.named("first", "second")
    assert {_node(each) for each in claimed} <= places
    assert {each["metadata"]["annotations"]["headroom.dev/claimed"] for each in claimed} == {
        "Headroom/default/kept"
    }
    until("the slots stand again", lambda: cloud.held("kept", 2), seconds=LONG_S)
    asked = [cpu for name, cpu in cloud.ordered().items() if name not in before]
    # Room for two slots: neither the gated owner of seven cores nor a latch asked for any.
    assert sorted(asked) in (["3800m"], [CPU, CPU])


def test_nothing_of_ours_outstays_its_machine_or_has_a_stranger_for_an_owner(cloud: Cloud) -> None:
    ours = [each for each in cloud.pods() if _labels(each).get("headroom.dev/role") == "guardian"]
    assert len(ours) == 6
    for each in ours:
        owners = [
            (owner["kind"], owner["controller"]) for owner in each["metadata"]["ownerReferences"]
        ]
        assert owners == [("SlotSet", True), ("Headroom", False)]
        assert not any(_tolerates(rule) for rule in each["spec"].get("tolerations") or ())


def test_machines_go_with_the_wish_and_moved_slots_come_back_without_a_loop(cloud: Cloud) -> None:
    cloud.guardians_made()
    places = {_node(slot) for slot in cloud.slots("kept")}
    cloud.end(HEADROOMS.path("default"), "ahead")
    cloud.end(DEPLOYMENTS, "burst")
    for name in ("first", "second", "too-large"):
        cloud.plane.api.delete(PODS.path("default", name), {"gracePeriodSeconds": 0})
    small = {"spec": {"size": {"replicas": 1}}}
    cloud.plane.api.patch(HEADROOMS.path("default", "kept"), small)
    until(
        "the slot stands on the smallest machine, the only one that is left",
        lambda: cloud.types() == ["two"] and cloud.held("kept", 1),
        seconds=LONG_S,
    )
    if not cloud.machines() <= places:  # Two slots asked for apart have had small machines anyway.
        told = cloud.plane.kubectl("get", "events", "--field-selector=reason=Evicted")
        assert "Evicted pod: Underutilized" in told  # Locked or not, Karpenter moves it.
    made = cloud.guardians_made()
    assert made <= 4, f"{made} pods made for one slot that was moved once or twice"
    end = time.monotonic() + QUIET_S
    until("some time has passed", lambda: time.monotonic() > end)
    assert cloud.guardians_made() == 0


def test_a_shape_that_grows_at_the_limit_on_nodes_brings_no_machine(cloud: Cloud) -> None:
    cloud.end(HEADROOMS.path("default"), "kept")
    never = {"spec": {"disruption": {"consolidateAfter": "Never"}}}
    (pool,) = cloud.plane.api.items(NODE_POOLS)
    cloud.plane.api.patch(f"{NODE_POOLS}/{pool['metadata']['name']}", never)
    cloud.run("load", 2)
    until("the load runs", lambda: cloud.running("load", 2), seconds=LONG_S)
    most = len(cloud.machines()) + 2
    by_load = {"utilization": {"threshold": 0.5}}
    made = headroom(
        "bounded", cpu=CPU, size=by_load, mode="Preemptible", limits={"nodes": most, "slots": 2}
    )
    cloud.plane.api.create(HEADROOMS.path("default"), made)
    until("its slots stand", lambda: cloud.held("bounded", 2), seconds=LONG_S)
    before = cloud.ordered()
    small = {"spec": {"limits": {"nodes": len(cloud.machines())}}}
    cloud.plane.api.patch(HEADROOMS.path("default", "bounded"), small)
    larger = {"resources": {"requests": {"cpu": "7500m"}}}
    grown = {"spec": {"slot": {"template": larger}}}
    cloud.plane.api.patch(HEADROOMS.path("default", "bounded"), grown)
    until("it says why the roll waits", lambda: "to be renewed: it fits" in cloud.told("bounded"))
    end = time.monotonic() + 2 * QUIET_S
    until("some time has passed", lambda: time.monotonic() > end)
    assert cloud.ordered() == before  # Karpenter has not even ordered one.
    assert cloud.held("bounded", 2)


def _labels(item: Json) -> Json:
    found: Json = item["metadata"].get("labels") or {}
    return found


def _node(item: Json) -> str:
    return str(item["spec"].get("nodeName") or "")


def _tolerates(rule: Json) -> bool:
    """Whether this toleration lets a pod stay on a machine that Karpenter takes away."""
    return bool(rule.get("key", DISRUPTED) == DISRUPTED)
