"""Kubelets: admission that is final, starting and stopping, silence and return."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import Json, Ref, condition_of, dig
from headroom.sim.errors import SimulationError
from headroom.sim.world import SimWorld
from tests.sim.things import node, pod


def got(world: SimWorld, name: str) -> Json:
    return world.server.get(Ref("Pod", "default", name))


def phase(world: SimWorld, name: str) -> str:
    return str(dig(world.get("Pod", "default", name), "status", "phase") or "gone")


def ready(world: SimWorld, name: str) -> str:
    return str(dig(condition_of(got(world, name), "Ready"), "status"))


def test_a_bound_pod_runs_and_is_ready(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    assert (phase(world, "p"), ready(world, "p")) == ("Running", "True")
    assert got(world, "p")["status"]["containerStatuses"][0]["ready"] is True


def test_a_readiness_gate_that_nobody_sets_keeps_a_pod_unready(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a", readinessGates=[{"conditionType": "example.com/never"}]))
    world.run_until_idle()
    assert (phase(world, "p"), ready(world, "p")) == ("Running", "False")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"cpu": "3"}, "OutOfcpu"),
        ({"nodeSelector": {"disk": "ssd"}}, "NodeAffinity"),
        ({"ports": 80}, "NodePorts"),
    ],
)
def test_what_does_not_belong_here_is_rejected_for_good(
    world: SimWorld, spec: dict[str, object], reason: str
) -> None:
    world.apply(node("a", cpu="4"))
    world.apply(with_port(pod("first", cpu="2", nodeName="a"), 80))
    world.run_until_idle()
    port = spec.pop("ports", None)
    given = pod("p", nodeName="a", **spec)  # type: ignore[arg-type]  # a table of mixed values
    world.apply(with_port(given, 80) if port else given)
    world.run_until_idle()
    assert (phase(world, "p"), got(world, "p")["status"]["reason"]) == ("Failed", reason)
    world.delete("Pod", "default", "first", grace=0)
    world.run_until_idle()
    assert phase(world, "p") == "Failed"


def with_port(given: dict[str, object], port: int) -> dict[str, object]:
    spec: dict[str, list[dict[str, object]]] = given["spec"]  # type: ignore[assignment]  # JSON
    spec["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
    return given


def test_a_rejection_says_what_was_asked_used_and_there(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first", cpu="800m", nodeName="a"))
    world.apply(pod("second", cpu="800m", nodeName="a"))
    world.run_until_idle()
    words = "Node didn't have enough resource: cpu, requested: 800, used: 800, capacity: 1000"
    assert got(world, "second")["status"]["message"] == f"Pod was rejected: {words}"
    assert any(event["message"] == words for event in world.events())


def test_too_many_pods_are_too_many(world: SimWorld) -> None:
    world.apply(node("a", pods=1))
    world.apply(pod("first", nodeName="a"))
    world.apply(pod("second", nodeName="a"))
    world.run_until_idle()
    assert got(world, "second")["status"]["reason"] == "OutOfpods"


def test_the_room_of_a_pod_that_went_at_once_is_free_at_once(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first", nodeName="a"))
    world.run_until_idle()
    world.delete("Pod", "default", "first", grace=0)
    world.apply(pod("second", nodeName="a"))
    world.run_until_idle()
    assert phase(world, "second") == "Running"


def test_the_room_of_a_terminating_pod_is_not_free_yet(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first", nodeName="a"))
    world.run_until_idle()
    world.delete("Pod", "default", "first")
    world.apply(pod("second", nodeName="a"))
    world.run_until_idle()
    assert (phase(world, "first"), phase(world, "second")) == ("gone", "Failed")


def test_a_grace_period_is_not_exceeded(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a", terminationGracePeriodSeconds=0))
    world.run_until_idle()
    world.delete("Pod", "default", "p")
    assert phase(world, "p") == "gone"


def test_a_hook_that_sleeps_keeps_the_room_of_a_running_pod(world: SimWorld) -> None:
    world.apply(node("a"))
    sleeping = pod("p", nodeName="a", terminationGracePeriodSeconds=4)
    sleeping["spec"]["containers"][0]["lifecycle"] = {"preStop": {"sleep": {"seconds": 3}}}
    world.apply(sleeping)
    world.run_until_idle()
    world.delete("Pod", "default", "p")
    world.run_for(2.9)
    assert phase(world, "p") == "Running"
    world.run_for(1.2)
    assert phase(world, "p") == "gone"


def test_a_finished_pod_gives_its_room_back(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first"))
    world.apply(pod("second"))
    world.run_until_idle()
    first = "first" if phase(world, "first") == "Running" else "second"
    other = {"first": "second", "second": "first"}[first]
    world.finish("default", first)
    world.run_until_idle()
    assert (phase(world, first), phase(world, other)) == ("Succeeded", "Running")


def test_a_pod_that_ended_before_its_kubelet_heard_of_it_takes_no_room(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.run_until_idle()
    world.apply(pod("first", nodeName="a"))
    world.finish("default", "first")
    world.run_until_idle()
    world.apply(pod("second", nodeName="a"))
    world.run_until_idle()
    assert (phase(world, "first"), phase(world, "second")) == ("Succeeded", "Running")


def test_a_pod_without_a_node_cannot_finish(world: SimWorld) -> None:
    world.apply(pod("p"))
    with pytest.raises(SimulationError, match="on no node"):
        world.finish("default", "p")


def test_a_silent_node_is_marked_after_forty_seconds(world: SimWorld) -> None:
    world.apply(node("a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(39)
    assert ready_of_node(world, "a") == "True"
    world.run_for(2)
    assert ready_of_node(world, "a") == "Unknown"
    taints = [taint["effect"] for taint in world.list("Node")[0]["spec"]["taints"]]
    assert taints == ["NoSchedule", "NoExecute"]


def ready_of_node(world: SimWorld, name: str) -> str:
    return str(dig(condition_of(world.server.get(Ref("Node", "", name)), "Ready"), "status"))


def test_pods_of_a_silent_node_are_told_to_go_after_five_minutes(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(335)
    assert dig(got(world, "p"), "metadata", "deletionTimestamp") is None
    world.run_for(10)
    assert dig(got(world, "p"), "metadata", "deletionTimestamp")
    world.start_kubelet("a")
    world.run_until_idle()
    assert phase(world, "p") == "gone"
    assert ready_of_node(world, "a") == "True"
    assert not dig(world.list("Node")[0], "spec", "taints")


def test_a_blip_shorter_than_the_grace_changes_nothing(world: SimWorld) -> None:
    world.apply(node("a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.run_for(20)
    world.start_kubelet("a")
    before = world.list("Node")
    world.run_for(100)
    assert world.list("Node") == before


def test_a_kubelet_that_comes_back_takes_up_what_was_bound_meanwhile(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(pod("old", nodeName="a"))
    world.run_until_idle()
    world.stop_kubelet("a")
    world.delete("Pod", "default", "old", grace=0)
    world.apply(pod("new", cpu="2", nodeName="a"))
    world.run_for(5)
    assert phase(world, "new") == "Pending"
    world.start_kubelet("a")
    world.run_for(5)
    assert phase(world, "new") == "Running"


def test_pods_of_a_node_that_is_gone_are_collected(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    world.delete("Node", "", "a")
    world.run_for(41)
    assert phase(world, "p") == "gone"


def test_a_taint_that_nobody_tolerates_evicts_at_once(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", nodeName="a"))
    world.run_until_idle()
    taint = {"key": "k", "effect": "NoExecute"}
    world.patch("Node", "", "a", {"spec": {"taints": [taint]}})
    world.run_for(2)
    assert phase(world, "p") == "gone"


def test_a_node_that_was_never_ready_can_come_to_life(world: SimWorld) -> None:
    given = node("a")
    given["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    world.apply(given)
    world.apply(pod("p"))
    world.run_until_idle()
    assert phase(world, "p") == "Pending"
    world.start_kubelet("a")
    world.run_until_idle()
    assert (ready_of_node(world, "a"), phase(world, "p")) == ("True", "Running")
