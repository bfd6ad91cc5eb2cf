"""The embedded node life beside the real one: a node falls silent, and what becomes of its pods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, Picture, of_events, of_pods, of_statuses
from tests.sim.things import Json, daemon_set, deployment, node, pod

GRACE = 20
WAITS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@pytest.fixture
def both(binaries: Path, tmp_path: Path) -> Iterator[Beside]:
    """A hollow node that stays and a fake one that can be silenced by stopping kwok."""
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


@pytest.mark.e2e
def test_a_silent_node_is_the_same(both: Beside) -> None:
    both.add_node("silent", "4", tier="web")
    lost = both.node(0)
    both.apply(daemon_set("everywhere", "10m"))
    web = deployment("web", 1, "100m")
    web["spec"]["template"]["spec"]["nodeSelector"] = {"tier": "web"}
    both.apply(web)
    both.apply(brief("impatient", 3, nodeSelector={"tier": "web"}))
    both.apply(brief("patient", 3000, nodeSelector={"tier": "web"}))
    both.agree(of_pods, "Pod")
    both.agree(of_nodes, "Node")
    both.plane.stop_component("kwok")
    both.world.stop_kubelet(lost)
    both.world.run_for(GRACE)
    both.agree(of_nodes, "Node")
    both.agree(of_pods, "Pod")
    for kind in ("DaemonSet", "Deployment"):
        both.agree(of_statuses, kind)
    both.agree(of_events, "Event")
