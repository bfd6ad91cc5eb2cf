"""Workload controllers: as many pods as asked for, in the order and words of the real ones."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import Json, Ref, controller_of, dig, ref_of
from headroom.sim.controllers.rollout import RolloutLimits, Shares, limits_of, next_step
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.sim.things import deployment, node, pod, replica_set


def running(world: SimWorld, app: str = "web") -> list[Json]:
    return [
        item
        for item in world.list("Pod")
        if dig(item, "metadata", "labels", "app") == app
        and dig(item, "status", "phase") == "Running"
        and not dig(item, "metadata", "deletionTimestamp")
    ]


def test_a_replica_set_makes_its_pods_and_counts_them(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(replica_set("web", 3))
    world.run_until_idle()
    assert len(running(world)) == 3
    status = world.server.get(Ref("ReplicaSet", "default", "web"))["status"]
    assert (status["replicas"], status["readyReplicas"]) == (3, 3)


def test_a_lost_pod_is_replaced(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(replica_set("web", 2))
    world.run_until_idle()
    world.delete("Pod", "default", ref_of(running(world)[0]).name)
    world.run_until_idle()
    assert len(running(world)) == 2


def test_surplus_pods_that_have_no_node_go_first(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(replica_set("web", 5))
    world.run_until_idle()
    world.patch("ReplicaSet", "default", "web", {"spec": {"replicas": 2}})
    world.run_until_idle()
    assert len(world.list("Pod")) == len(running(world)) == 2


def test_a_stray_pod_that_matches_is_adopted(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(pod("stray", labels={"app": "web"}))
    world.apply(replica_set("web", 2))
    world.run_until_idle()
    assert len(world.list("Pod")) == 2
    owner = controller_of(world.server.get(Ref("Pod", "default", "stray")))
    assert owner is not None
    assert owner["name"] == "web"


def test_a_pod_with_another_controller_is_not_adopted(world: SimWorld) -> None:
    given = pod("guardian", labels={"app": "web"})
    hold_ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "controller": True}
    config = world.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
    )
    given["metadata"]["ownerReferences"] = [{**hold_ref, "uid": config["metadata"]["uid"]}]
    world.apply(given)
    world.apply(replica_set("web", 1))
    world.run_until_idle()
    assert len(world.list("Pod")) == 2


def test_a_refused_pod_is_told_and_tried_again(world: SimWorld) -> None:
    given = replica_set("web", 1)
    given["spec"]["template"]["spec"]["priorityClassName"] = "later"
    world.apply(given)
    world.run_for(3)
    told = [event for event in world.events() if event["reason"] == "FailedCreate"]
    assert "no PriorityClass with name later was found" in told[0]["message"]
    world.apply(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "later"},
            "value": 1,
        }
    )
    world.run_for(10)
    assert len(world.list("Pod")) == 1


def test_what_a_deployment_owned_goes_with_it(world: SimWorld) -> None:
    world.apply(node("a", cpu="10"))
    world.apply(deployment("web", 3))
    world.run_until_idle()
    world.delete("Deployment", "default", "web")
    world.run_until_idle()
    assert world.list("ReplicaSet") == world.list("Pod") == []


def test_a_pod_whose_owner_never_was_is_collected(world: SimWorld) -> None:
    given = pod("orphan")
    owner = {"apiVersion": "headroom.dev/v1alpha1", "kind": "Hold", "name": "h", "uid": "gone"}
    given["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    world.apply(given)
    world.run_until_idle()
    assert world.get("Pod", "default", "orphan") is None


def test_a_rolling_update_keeps_enough_available(world: SimWorld) -> None:
    world.apply(node("a", cpu="20"))
    world.apply(deployment("web", 4))
    world.run_until_idle()
    least, most = 4, 4

    def settled() -> bool:
        nonlocal least, most
        least = min(least, len(running(world)))
        alive = [p for p in world.list("Pod") if not dig(p, "metadata", "deletionTimestamp")]
        most = max(most, len(alive))
        sets = [dig(item, "spec", "replicas") for item in world.list("ReplicaSet")]
        return sorted(sets) == [0, 4] and len(running(world)) == 4

    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    world.patch("Deployment", "default", "web", change)
    world.run_for(0.5)
    assert world.run_until(settled, limit=60, step=0.05)
    assert least >= 3
    assert most <= 5
    assert {dig(item, "metadata", "labels", "v") for item in running(world)} == {"2"}


def test_recreate_ends_the_old_before_the_new_begin(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(deployment("web", 2, strategy={"type": "Recreate"}))
    world.run_until_idle()
    change = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    world.patch("Deployment", "default", "web", change)
    world.run_until_idle()
    assert [dig(item, "metadata", "labels", "v") for item in running(world)] == ["2", "2"]


def test_a_deployment_reports_itself(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(deployment("web", 3))
    world.run_until_idle()
    status = world.server.get(Ref("Deployment", "default", "web"))["status"]
    assert (status["replicas"], status["availableReplicas"]) == (3, 2)
    assert status["unavailableReplicas"] == 1
    assert [item["reason"] for item in status["conditions"]] == [
        "MinimumReplicasUnavailable",
        "ReplicaSetUpdated",
    ]


def test_controllers_are_limited_like_the_real_manager() -> None:
    def seconds(settings: Settings) -> float:
        with SimWorld(seed=1, settings=settings) as world:
            world.apply(replica_set("web", 100))
            world.run_until(lambda: len(world.list("Pod")) == 100, step=0.1)
            return world.elapsed

    assert seconds(Settings()) > 3.0
    assert seconds(Settings(controller_qps=0)) < 0.5


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({}, RolloutLimits(10, surge=3, unavailable=2)),
        ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}, RolloutLimits(10, 0, 1)),
        ({"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "0%"}}, RolloutLimits(10, 5, 0)),
        ({"type": "Recreate"}, RolloutLimits(10, unavailable=10, recreate=True)),
    ],
)
def test_a_strategy_is_read_with_its_defaults(strategy: Json, expected: RolloutLimits) -> None:
    assert limits_of({"spec": {"replicas": 10, "strategy": strategy}}) == expected


def test_old_pods_that_never_became_available_go_first() -> None:
    shares = {"old": Shares(10, 10, 8), "new": Shares(0, 0, 0)}
    assert next_step("new", shares, RolloutLimits(10, surge=3, unavailable=2)) == {
        "new": 3,
        "old": 8,
    }


def test_a_settled_rollout_changes_nothing() -> None:
    shares = {"old": Shares(0, 0, 0), "new": Shares(10, 10, 10)}
    assert next_step("new", shares, RolloutLimits(10, surge=3, unavailable=2)) == {}


def test_scaling_down_needs_no_rollout() -> None:
    shares = {"new": Shares(10, 10, 10)}
    assert next_step("new", shares, RolloutLimits(4, surge=1, unavailable=1)) == {"new": 4}
