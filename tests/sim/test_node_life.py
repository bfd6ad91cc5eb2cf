"""Nodes that fall silent, return, are tainted, cordoned or removed, and their pods' fate."""

from __future__ import annotations

from headroom.core.objects import Key, Placement, Pod, Taint, Toleration
from headroom.sim.api.values import Json, Ref, condition_of, dig, ref_of
from headroom.sim.controllers.evictions import toleration_time
from headroom.sim.world import SimWorld
from tests.sim.things import deployment, node, pod

HOT: Json = {"key": "hot", "effect": "NoExecute"}
UNREACHABLE = "node.kubernetes.io/unreachable"


def ready(world: SimWorld, name: str) -> str:
    found = world.server.get(Ref("Pod", "default", name))
    return str(dig(condition_of(found, "Ready"), "status"))


def told(world: SimWorld, reason: str) -> list[tuple[str, str]]:
    return [
        (event["involvedObject"]["kind"], event["message"])
        for event in world.events()
        if event["reason"] == reason
    ]


def taints(world: SimWorld, name: str = "a") -> list[tuple[str, str]]:
    found = dig(world.get("Node", "", name), "spec", "taints") or []
    return [(taint["key"], taint["effect"]) for taint in found]


def test_pods_of_a_silent_node_count_as_not_ready_until_it_returns(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(45)
    assert ready(world, "p") == "False"
    assert told(world, "NodeNotReady") == [
        ("Node", "Node a status is now: NodeNotReady"),
        ("Pod", "Node is not ready"),
    ]
    world.start_kubelet("a")
    world.run_for(5)
    assert ready(world, "p") == "True"
    assert taints(world) == []


def test_a_node_that_returns_in_time_keeps_its_pods(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(200)
    world.start_kubelet("a")
    world.run_for(600)
    assert dig(world.get("Pod", "default", "p"), "metadata", "deletionTimestamp") is None
    words = "Cancelling deletion of Pod default/p"
    assert told(world, "TaintManagerEviction") == [("Pod", words)]


def test_a_lost_node_makes_its_deployment_move(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(deployment("web", 2))
    world.run_until_idle()
    world.apply(node("b"))
    world.stop_kubelet("a")
    world.run_for(400)
    here = [p for p in world.list("Pod") if dig(p, "spec", "nodeName") == "b"]
    assert [dig(p, "status", "phase") for p in here] == ["Running", "Running"]
    status = world.server.get(Ref("Deployment", "default", "web"))["status"]
    assert status["availableReplicas"] == 2


def test_an_intolerable_taint_cuts_patience_with_another_short(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(60)
    assert taints(world) == [(UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]
    kept = dig(world.get("Node", "", "a"), "spec", "taints")
    world.patch("Node", "", "a", {"spec": {"taints": [*kept, HOT]}})
    world.run_for(2)
    gone = world.server.get(Ref("Pod", "default", "p"))
    assert dig(gone, "metadata", "deletionTimestamp")
    assert (condition_of(gone, "DisruptionTarget") or {})["reason"] == "DeletionByTaintManager"


def test_an_unready_node_is_tainted_by_its_own_word(world: SimWorld) -> None:
    world.apply(node("a"))
    world.run_until_idle()
    conditions = [
        {"type": "Ready", "status": "False"},
        {"type": "DiskPressure", "status": "True"},
    ]
    world.patch("Node", "", "a", {"status": {"conditions": conditions}})
    world.run_for(1)
    assert taints(world) == [
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
    ]


def test_pods_of_a_removed_node_fail_before_they_go(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    seen: list[str] = []
    world.store.listen("Pod", lambda change: seen.append(str(dig(change.obj, "status", "phase"))))
    world.delete("Node", "", "a")
    world.run_until_idle()
    assert seen[-1] == "Failed"
    assert world.list("Pod") == []


def test_a_cordon_and_deletions_drain_a_node(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(deployment("web", 2))
    world.run_until_idle()
    world.apply(node("b"))
    world.patch("Node", "", "a", {"spec": {"unschedulable": True}})
    for item in world.list("Pod"):
        world.delete("Pod", "default", ref_of(item).name)
    world.run_until_idle()
    assert {dig(p, "spec", "nodeName") for p in world.list("Pod")} == {"b"}


def test_the_first_toleration_that_covers_a_taint_decides_for_how_long() -> None:
    def bears(*tolerations: Toleration) -> float | None:
        placed = Placement(tolerations=tolerations)
        return toleration_time(
            Pod(Key("default", "p"), placement=placed), [Taint("hot", "", "NoExecute")]
        )

    long, short = Toleration("hot", "Exists", seconds=60), Toleration("hot", "Exists", seconds=5)
    assert bears() == 0.0
    assert bears(Toleration("hot", "Exists")) is None
    assert bears(long, short) == 60.0
    assert bears(short, long) == 5.0
