"""The embedded node life beside the real one: nodes that come, go, are drained or fall silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, Picture, of_events, of_pods, of_statuses
from tests.sim.things import Json, budget, daemon_set, deployment, node, pod

GRACE = 20
GONE_WITHIN = 90.0  # Pods of a node that is gone are looked for every 20 s, and then wait 40 s.
WAITS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@pytest.fixture
def both(binaries: Path, tmp_path: Path) -> Iterator[Beside]:
    """A hollow node that stays and a fake one that can be silenced by freezing kwok."""
    quick = (f"--node-monitor-grace-period={GRACE}s", "--node-monitor-period=1s")
    plane = ControlPlane.start(
        tmp_path,
        hollow_nodes=1,
        kwok=True,
        kwok_lease_seconds=8,
        controller_manager_args=quick,
    )
    with plane, SimWorld(seed=1, settings=Settings(node_grace=GRACE)) as world:
        stays = plane.api.items("/api/v1/nodes")[0]
        labels, room = stays["metadata"]["labels"], stays["status"]["allocatable"]
        name = stays["metadata"]["name"]
        world.apply(node(name, cpu=room["cpu"], memory=room["memory"], labels=labels))
        yield Beside(plane, world)


def of_nodes(found: list[Json], _: Beside) -> Picture:
    """Which nodes are ready, cordoned and tainted."""
    return sorted((_node(item) for item in found), key=str)


def _node(obj: Json) -> tuple[Any, ...]:
    conditions = [
        (each["status"], each["reason"])
        for each in obj["status"]["conditions"]
        if each["type"] == "Ready" and each["status"] != "True"
    ]
    taints = sorted((each["key"], each["effect"]) for each in obj["spec"].get("taints", ()))
    return obj["metadata"]["name"], conditions, taints, obj["spec"].get("unschedulable")


def brief(name: str, seconds: int, **spec: Any) -> Json:
    """A pod that bears an unready node for so long."""
    bearing = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
    return pod(name, "100m", tolerations=[{"key": key, **bearing} for key in WAITS], **spec)


def says(both: Beside, name: str, ready: str) -> None:
    """Let a node say of itself whether it is ready."""
    kept = both.plane.api.get(f"/api/v1/nodes/{name}")["status"]["conditions"]
    told = [{**each, "status": ready} if each["type"] == "Ready" else each for each in kept]
    both.plane.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": told}})
    both.world.patch("Node", "", name, {"status": {"conditions": told}})


@pytest.mark.e2e
def test_a_silent_node_is_the_same(both: Beside) -> None:
    both.add_node("silent", "4", tier="web")
    lost = both.node(0)
    both.apply(brief("patient", 3000, nodeSelector={"tier": "web"}))
    both.agree(of_pods, "Pod")
    # On its own word first, then by its silence.
    both.plane.pause("kwok")
    says(both, lost, "False")
    both.agree(of_nodes, "Node")
    says(both, lost, "True")
    both.plane.resume("kwok")
    both.agree(of_nodes, "Node")
    both.agree(of_events, "Event")
    both.apply(daemon_set("everywhere", "10m"))
    web = deployment("web", 1, "100m")
    web["spec"]["template"]["spec"]["nodeSelector"] = {"tier": "web"}
    both.apply(web)
    both.apply(brief("impatient", 3, nodeSelector={"tier": "web"}))
    both.agree(of_pods, "Pod")
    both.agree(of_nodes, "Node")
    both.plane.pause("kwok")
    both.world.stop_kubelet(lost)
    both.world.run_for(GRACE)
    both.agree(of_nodes, "Node")
    both.agree(of_pods, "Pod")
    # A taint alone does not make the real controller count anew; a change of its object does.
    both.patch("DaemonSet", "everywhere", {"metadata": {"annotations": {"count": "again"}}})
    for kind in ("DaemonSet", "Deployment"):
        both.agree(of_statuses, kind)
    both.agree(of_events, "Event")
    both.plane.resume("kwok")
    both.world.start_kubelet(lost)
    both.agree(of_nodes, "Node")
    both.agree(of_pods, "Pod")
    both.agree(of_events, "Event")


@pytest.mark.e2e
def test_nodes_that_join_are_cordoned_drained_and_leave_are_the_same(both: Beside) -> None:
    both.add_node("first", "4", tier="web")
    first = both.node(0)
    both.apply(daemon_set("everywhere", "10m"))
    web = deployment("web", 2, "1")
    web["spec"]["template"]["spec"]["nodeSelector"] = {"tier": "web"}
    both.apply(budget("keep", "web", minAvailable=1))
    both.agree(of_events, "Event")  # It is told that nobody is there yet.
    both.apply(web)
    both.apply(brief("alone", 3000, nodeSelector={"tier": "web"}))
    both.agree(of_pods, "Pod")
    both.patch("Node", first, {"spec": {"unschedulable": True}})
    both.agree(of_nodes, "Node")
    both.add_node("second", "4", tier="web")
    both.agree(of_pods, "Pod")
    both.patch("Deployment", "web", {"spec": {"replicas": 3}})
    both.agree(of_pods, "Pod")
    both.patch("Node", first, {"spec": {"unschedulable": None}})
    both.agree(of_nodes, "Node")
    both.drain(first)
    both.agree(of_pods, "Pod")
    both.agree(of_nodes, "Node")
    both.agree(of_events, "Event")
    for kind in ("DaemonSet", "Deployment", "PodDisruptionBudget"):
        both.agree(of_statuses, kind)
    both.add_node("third", "4", tier="web")
    both.agree(of_pods, "Pod")
    both.delete("Node", both.node(1))
    both.world.run_for(60)
    both.agree(of_pods, "Pod", GONE_WITHIN)
    both.agree(of_nodes, "Node")
    both.agree(of_events, "Event")
