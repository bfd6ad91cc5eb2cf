"""DaemonSets: one pod on each node that should have one, by the real controller's rules."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import Json, Ref, dig, ref_of
from headroom.sim.world import SimWorld
from tests.sim.things import daemon_set, node, pod, priority_class


def placed(world: SimWorld, app: str = "agent") -> dict[str, str]:
    """Nodes of the DaemonSet's pods that run, with the pods' names."""
    return {
        str(dig(item, "spec", "nodeName")): ref_of(item).name
        for item in world.list("Pod")
        if dig(item, "metadata", "labels", "app") == app
        and dig(item, "status", "phase") == "Running"
    }


def status(world: SimWorld) -> Json:
    found: Json = world.server.get(Ref("DaemonSet", "default", "agent"))["status"]
    return found


def test_every_node_gets_one_pod_placed_by_the_scheduler(world: SimWorld) -> None:
    for name in "abc":
        world.apply(node(name))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    assert sorted(placed(world)) == ["a", "b", "c"]
    told = [event["reason"] for event in world.events()]
    assert told.count("SuccessfulCreate") == told.count("Scheduled") == 3
    assert status(world) == {
        "currentNumberScheduled": 3,
        "desiredNumberScheduled": 3,
        "numberAvailable": 3,
        "numberMisscheduled": 0,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
    }


@pytest.mark.parametrize(
    ("taint", "gets_one"),
    [
        ({"key": "own", "effect": "NoSchedule"}, False),
        ({"key": "own", "effect": "NoExecute"}, False),
        ({"key": "own", "effect": "PreferNoSchedule"}, True),
        ({"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}, True),
    ],
)
def test_taints_decide_who_gets_one(world: SimWorld, taint: Json, gets_one: bool) -> None:
    given = node("a", taints=[taint])
    given["status"]["conditions"] = [{"type": "MemoryPressure", "status": "True"}]
    world.apply(given)
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    assert bool(placed(world)) is gets_one
    assert status(world)["desiredNumberScheduled"] == gets_one


def test_a_cordoned_node_gets_its_pod_all_the_same(world: SimWorld) -> None:
    world.apply(node("a", unschedulable=True))
    world.apply(daemon_set("agent"))
    world.apply(pod("other"))
    world.run_until_idle()
    assert sorted(placed(world)) == ["a"]
    assert dig(world.get("Pod", "default", "other"), "spec", "nodeName") is None


def test_a_selector_and_affinity_are_judged_before_the_pin_replaces_them(world: SimWorld) -> None:
    world.apply(node("a", labels={"disk": "ssd"}))
    world.apply(node("b"))
    terms = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    world.apply(daemon_set("agent", affinity={"nodeAffinity": required}))
    world.run_until_idle()
    assert sorted(placed(world)) == ["a"]
    made = world.server.get(Ref("Pod", "default", placed(world)["a"]))
    pin = dig(made, "spec", "affinity", "nodeAffinity")
    name = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    assert pin == {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [name]}]
        }
    }


def test_nodes_that_join_leave_and_change_are_followed(world: SimWorld) -> None:
    world.apply(node("a", labels={"tier": "web"}))
    world.apply(daemon_set("agent", nodeSelector={"tier": "web"}))
    world.run_until_idle()
    world.apply(node("b", labels={"tier": "web"}))
    world.run_until_idle()
    assert sorted(placed(world)) == ["a", "b"]
    world.patch("Node", "", "a", {"metadata": {"labels": {"tier": None}}})
    world.run_until_idle()
    assert sorted(placed(world)) == ["b"]
    world.delete("Node", "", "b")
    world.run_until_idle()
    assert world.list("Pod") == []
    assert status(world)["desiredNumberScheduled"] == 0


def test_a_taint_that_only_keeps_newcomers_off_leaves_the_pod_alone(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    before = placed(world)
    world.patch("Node", "", "a", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
    world.run_until_idle()
    assert placed(world) == before
    assert (status(world)["desiredNumberScheduled"], status(world)["numberMisscheduled"]) == (0, 1)


def test_a_node_without_room_leaves_the_pod_pending(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(pod("first", nodeName="a"))
    world.run_until_idle()
    world.apply(daemon_set("agent"))
    world.run_for(5)
    assert placed(world) == {}
    assert status(world)["currentNumberScheduled"] == status(world)["numberUnavailable"] == 1
    world.delete("Pod", "default", "first")
    world.run_until_idle()
    assert sorted(placed(world)) == ["a"]


def test_a_pending_pod_of_a_node_that_is_gone_is_removed(world: SimWorld) -> None:
    world.apply(node("a", cpu="1"))
    world.apply(daemon_set("agent", cpu="2"))
    world.run_for(2)
    assert len(world.list("Pod")) == 1
    world.delete("Node", "", "a")
    world.run_until_idle()
    assert world.list("Pod") == []


def test_a_silent_node_keeps_its_daemon_but_not_the_others(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(daemon_set("agent"))
    world.apply(pod("other", nodeName="a"))
    world.run_until_idle()
    before = placed(world)
    world.stop_kubelet("a")
    world.run_for(400)
    assert dig(world.get("Pod", "default", "other"), "metadata", "deletionTimestamp")
    kept = world.server.get(Ref("Pod", "default", before["a"]))
    assert dig(kept, "metadata", "deletionTimestamp") is None
    assert status(world)["numberReady"] == 0
    world.start_kubelet("a")
    world.run_until_idle()
    assert placed(world) == before
    assert status(world)["numberReady"] == 1


def test_a_template_change_is_rolled_out_one_node_at_a_time(world: SimWorld) -> None:
    for name in "abc":
        world.apply(node(name))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    old = placed(world)
    least = 3

    def done() -> bool:
        nonlocal least
        least = min(least, len(placed(world)))
        return len(placed(world)) == 3 and not set(old.values()) & set(placed(world).values())

    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    world.patch("DaemonSet", "default", "agent", change)
    assert world.run_until(done, step=0.02)
    assert least == 2
    world.run_until_idle()
    assert status(world)["updatedNumberScheduled"] == 3


def test_on_delete_waits_for_people(world: SimWorld) -> None:
    world.apply(node("a"))
    given = daemon_set("agent")
    given["spec"]["updateStrategy"] = {"type": "OnDelete"}
    world.apply(given)
    world.run_until_idle()
    before = placed(world)
    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    world.patch("DaemonSet", "default", "agent", change)
    world.run_until_idle()
    assert placed(world) == before
    assert "updatedNumberScheduled" not in status(world)
    world.delete("Pod", "default", before["a"])
    world.run_until_idle()
    assert status(world)["updatedNumberScheduled"] == 1


def test_a_rejected_pod_is_removed_and_made_anew_with_growing_pauses(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    for _ in range(3):
        world.finish("default", placed(world)["a"], "Failed")
        world.run_until(lambda: bool(placed(world)), limit=30)
    told = [event for event in world.events() if event["reason"] == "FailedDaemonPod"]
    assert len(told) == 3
    assert told[0]["message"].endswith("on node a, will try to kill it")
    made = [
        event["firstTimestamp"] for event in world.events() if event["reason"] == "SuccessfulCreate"
    ]
    assert made[-1] > made[0]


def test_drained_pods_of_a_daemon_come_back_and_others_go_elsewhere(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(node("b"))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    world.patch("Node", "", "a", {"spec": {"unschedulable": True}})
    before = placed(world)
    world.delete("Pod", "default", before["a"])
    world.apply(pod("moved"))
    world.run_until_idle()
    assert sorted(placed(world)) == ["a", "b"]
    assert placed(world)["a"] != before["a"]
    assert dig(world.get("Pod", "default", "moved"), "spec", "nodeName") == "b"


def test_a_preempted_daemon_is_made_anew_only_when_the_old_one_is_gone(world: SimWorld) -> None:
    world.apply(priority_class("high", 100))
    world.apply(node("a", cpu="1"))
    world.apply(daemon_set("agent"))
    world.run_until_idle()
    world.apply(pod("urgent", priorityClassName="high"))
    world.run_until(lambda: dig(world.get("Pod", "default", "urgent"), "spec", "nodeName") == "a")
    world.run_for(5)
    agents = [p for p in world.list("Pod") if dig(p, "metadata", "labels", "app") == "agent"]
    assert [dig(p, "status", "phase") for p in agents] == ["Pending"]
