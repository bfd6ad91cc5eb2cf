"""The embedded kube-scheduler: whom it tries when, where it puts them, and what it says."""

from __future__ import annotations

from typing import Any

from headroom.sim.api.values import Ref, condition_of, dig
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.sim.things import node, pod, priority_class


def node_of(world: SimWorld, name: str) -> str:
    return str(dig(world.get("Pod", "default", name), "spec", "nodeName") or "")


def told(world: SimWorld, reason: str, name: str) -> list[str]:
    return [
        event["message"]
        for event in world.events()
        if event["reason"] == reason and event["involvedObject"]["name"] == name
    ]


def nominate(world: SimWorld, name: str, where: str) -> None:
    patch = {"status": {"nominatedNodeName": where}}
    world.server.merge_patch(Ref("Pod", "default", name), patch, "status")


def test_a_pod_is_bound_and_told(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p"))
    world.run_for(1)
    assert node_of(world, "p") == "a"
    assert told(world, "Scheduled", "p") == ["Successfully assigned default/p to a"]


def test_pods_spread_over_equal_nodes(world: SimWorld) -> None:
    for name in "abcd":
        world.apply(node(name))
    for number in range(8):
        world.apply(pod(f"p{number}"))
    world.run_until_idle()
    where = [node_of(world, f"p{number}") for number in range(8)]
    assert {name: where.count(name) for name in "abcd"} == dict.fromkeys("abcd", 2)


def test_a_pod_without_room_waits_and_says_why(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("p", cpu="2"))
    world.run_until_idle()
    words = told(world, "FailedScheduling", "p")[0]
    assert words.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    condition = condition_of(world.server.get(Ref("Pod", "default", "p")), "PodScheduled")
    assert condition is not None
    assert (condition["reason"], condition["message"]) == ("Unschedulable", words)


def test_a_waiting_pod_is_woken_by_room_that_came_free(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first"))
    world.run_until_idle()
    world.apply(pod("second"))
    world.run_for(20)
    world.delete("Pod", "default", "first", grace=0)
    world.run_for(0.1)
    assert node_of(world, "second") == "a"


def test_a_waiting_pod_is_woken_by_a_new_node(world: SimWorld) -> None:
    world.apply(pod("p"))
    world.run_for(20)
    world.apply(node("a"))
    world.run_for(0.1)
    assert node_of(world, "p") == "a"


def test_the_more_important_pod_is_tried_first(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    for number in range(3):
        world.apply(pod(f"low{number}"))
    world.apply(pod("high", priorityClassName="high"))
    world.run_for(30)
    world.apply(node("a", cpu="1"))
    world.run_for(1)
    assert node_of(world, "high") == "a"


def test_other_schedulers_pods_are_left_alone(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", schedulerName="headroom-scheduler"))
    world.run_until_idle()
    assert node_of(world, "p") == ""
    assert world.events() == []


def test_a_gated_pod_waits_for_its_gate(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", schedulingGates=[{"name": "x"}]))
    world.run_for(30)
    assert (node_of(world, "p"), told(world, "FailedScheduling", "p")) == ("", [])
    world.patch("Pod", "default", "p", {"spec": {"schedulingGates": []}})
    world.run_for(0.1)
    assert node_of(world, "p") == "a"


def test_cordons_selectors_and_taints_are_respected(world: SimWorld) -> None:
    world.apply(node("cordoned", unschedulable=True))
    world.apply(node("tainted", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]))
    world.apply(node("plain", labels={"disk": "ssd"}, cpu="1"))
    world.apply(pod("a", nodeSelector={"disk": "ssd"}))
    world.apply(pod("b"))
    world.apply(pod("c", tolerations=[{"key": "k", "operator": "Exists"}]))
    world.run_until_idle()
    assert [node_of(world, name) for name in "abc"] in (
        ["plain", "", "tainted"],
        ["", "plain", "tainted"],
    )
    waiting = "b" if node_of(world, "a") else "a"
    words = told(world, "FailedScheduling", waiting)[-1]
    assert "1 node(s) were unschedulable" in words


def test_a_nominated_pod_keeps_others_out_while_it_is_gated(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("owner", schedulingGates=[{"name": "x"}]))
    world.run_for(0.1)
    nominate(world, "owner", "a")
    world.run_for(0.1)
    world.apply(pod("rival"))
    world.run_for(30)
    assert node_of(world, "rival") == ""
    world.patch("Pod", "default", "owner", {"spec": {"schedulingGates": []}})
    world.run_for(0.1)
    assert node_of(world, "owner") == "a"


def test_a_nomination_that_goes_wakes_who_waited_for_the_room(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("latch", schedulingGates=[{"name": "x"}]))
    world.run_for(0.1)
    nominate(world, "latch", "a")
    world.run_for(0.1)
    world.apply(pod("rival"))
    world.run_for(5)
    world.delete("Pod", "default", "latch")
    world.run_for(0.1)
    assert node_of(world, "rival") == "a"


def test_a_more_important_rival_is_not_kept_out_by_a_nomination(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="1"))
    world.apply(pod("owner", schedulingGates=[{"name": "x"}]))
    world.run_for(0.1)
    nominate(world, "owner", "a")
    world.run_for(0.1)
    world.apply(pod("rival", priorityClassName="high"))
    world.run_for(1)
    assert node_of(world, "rival") == "a"


def test_preemption_nominates_evicts_and_places(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="2"))
    world.apply(pod("low1"))
    world.apply(pod("low2"))
    world.run_until_idle()
    world.apply(pod("high", cpu="2", priorityClassName="high"))
    world.run_for(0.15)
    assert dig(world.get("Pod", "default", "high"), "status", "nominatedNodeName") == "a"
    victim = world.server.get(Ref("Pod", "default", "low1"))
    assert dig(condition_of(victim, "DisruptionTarget"), "reason") == "PreemptionByScheduler"
    world.run_until_idle()
    assert node_of(world, "high") == "a"
    assert world.get("Pod", "default", "low1") is None
    assert told(world, "Preempted", "low1")[0].endswith("on node a")


def test_a_pod_that_never_preempts_only_waits(world: SimWorld) -> None:
    world.apply(priority_class("polite", 100, preemptionPolicy="Never"))
    world.apply(node("a", cpu="1"))
    world.apply(pod("low"))
    world.run_until_idle()
    world.apply(pod("polite", priorityClassName="polite"))
    world.run_until_idle()
    assert node_of(world, "low") == "a"


def test_a_budget_turns_preemption_to_others(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="1"))
    world.apply(node("b", cpu="1"))
    world.apply(pod("kept", labels={"app": "kept"}))
    world.apply(pod("other"))
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
    }
    world.apply(budget)
    world.run_until_idle()
    world.apply(pod("high", priorityClassName="high"))
    world.run_until_idle()
    assert node_of(world, "kept") != ""
    assert world.get("Pod", "default", "other") is None


def test_the_client_limit_caps_a_burst() -> None:
    def last_bound(settings: Settings) -> float:
        with SimWorld(seed=1, settings=settings) as world:
            for number in range(4):
                world.apply(node(f"n{number}", cpu="100"))
            for number in range(200):
                world.apply(pod(f"p{number}", cpu="100m"))
            world.run_until(
                lambda: all(node_of(world, f"p{number}") for number in range(200)), step=0.1
            )
            return world.elapsed

    assert last_bound(Settings()) > 2.0
    assert last_bound(Settings(scheduler_qps=0)) < 1.0


def test_a_pod_that_cannot_be_judged_is_placed_with_a_note(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu-1"}]))
    world.run_for(1)
    assert node_of(world, "p") == "a"
    assert any("Pod/default/p" in note for note in world.server.notes)


def test_a_pod_with_an_ephemeral_volume_is_placed_once_the_volume_is_made(world: SimWorld) -> None:
    world.apply(node("a"))
    template = {"spec": {"accessModes": ["ReadWriteOnce"]}}
    claim = {"name": "data", "ephemeral": {"volumeClaimTemplate": template}}
    world.apply(pod("p", volumes=[claim]))
    world.run_for(10)
    assert node_of(world, "p") == "a"
    assert (
        dig(world.get("PersistentVolumeClaim", "default", "p-data"), "status", "phase") == "Bound"
    )


def test_who_preempts_is_not_forgotten_when_its_last_victim_goes_by_itself(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    for moment in range(30):
        name, late = f"n{moment}", f"late{moment}"
        world.apply(node(name, cpu="2", labels={"n": name}))
        here: dict[str, Any] = {"nodeSelector": {"n": name}}
        world.apply(pod(f"first{moment}", terminationGracePeriodSeconds=0, **here))
        world.apply(pod(f"second{moment}", terminationGracePeriodSeconds=0, **here))
        world.run_for(3)
        world.apply(pod(late, cpu="2", priorityClassName="high", **here))
        world.run_for(moment / 1000)
        for victim in (f"first{moment}", f"second{moment}"):
            if world.get("Pod", "default", victim) is not None:
                world.delete("Pod", "default", victim, grace=0)
        world.run_for(15)
        assert node_of(world, late) == name, moment
