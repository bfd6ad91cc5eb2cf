"""Draining a node: everybody but DaemonSets' pods goes, as budgets allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from headroom.sim.api.values import Ref, condition_of, dig, ref_of
from headroom.sim.errors import ApiError
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.world import SimWorld
from tests.sim.things import budget, daemon_set, deployment, node, pod


def on(world: SimWorld, name: str) -> list[str]:
    """The apps of the pods on a node, sorted."""
    return sorted(
        str(dig(item, "metadata", "labels", "app"))
        for item in world.list("Pod")
        if dig(item, "spec", "nodeName") == name
    )


def test_a_drained_node_keeps_only_its_daemons(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(daemon_set("agent", "100m"))
    world.apply(deployment("web", 2))
    world.apply(pod("alone", labels={"app": "alone"}))
    world.run_until_idle()
    world.apply(node("b"))
    world.drain("a")
    world.run_until_idle()
    assert on(world, "a") == ["agent"]
    assert on(world, "b") == ["agent", "web", "web"]
    assert dig(world.get("Node", "", "a"), "spec", "unschedulable") is True
    assert world.get("Pod", "default", "alone") is None


def test_a_budget_lets_one_after_the_other_go(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(budget("keep", "web", minAvailable=2))
    world.apply(deployment("web", 3))
    world.run_until_idle()
    world.apply(node("b"))
    fewest = 3

    def look(_: object) -> None:
        nonlocal fewest
        alive = [p for p in world.list("Pod") if not dig(p, "metadata", "deletionTimestamp")]
        ready = [p for p in alive if (condition_of(p, "Ready") or {}).get("status") == "True"]
        fewest = min(fewest, len(ready))

    world.store.listen("Pod", look)
    world.drain("a")
    world.run_until_idle()
    assert on(world, "b") == ["web", "web", "web"]
    assert fewest == 2


def test_a_budget_that_never_allows_it_keeps_the_pod(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(budget("keep", "web", maxUnavailable=0))
    world.apply(deployment("web", 1))
    world.run_until_idle()
    world.apply(node("b"))
    world.drain("a")
    world.run_for(600)
    assert on(world, "a") == ["web"]
    world.delete("PodDisruptionBudget", "default", "keep")
    world.run_for(10)
    assert on(world, "b") == ["web"]


def test_one_promise_is_not_given_twice_in_one_moment(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(budget("keep", "web", maxUnavailable=1))
    world.apply(deployment("web", 2))
    world.run_until_idle()
    first, second = (ref_of(item) for item in world.list("Pod"))
    world.server.evict(first)
    with pytest.raises(ApiError, match="would violate the pod's disruption budget") as refused:
        world.server.evict(second)
    assert refused.value.code == 429
    gone = condition_of(world.server.get(first), "DisruptionTarget") or {}
    assert gone["reason"] == "EvictionByEvictionAPI"


def test_a_pod_that_is_not_ready_may_go_where_the_others_are_well(world: SimWorld) -> None:
    world.apply(node("a"))
    world.apply(budget("keep", "web", minAvailable=2))
    gates = [{"conditionType": "example.com/never"}]
    world.apply(deployment("web", 2))
    world.apply(pod("unready", labels={"app": "web"}, readinessGates=gates))
    world.run_for(30)
    world.server.evict(Ref("Pod", "default", "unready"))
    world.run_for(60)
    assert world.get("Pod", "default", "unready") is None
    assert on(world, "a") == ["web", "web"]


def test_a_step_drains_and_a_node_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "drain.yaml"
    path.write_text(
        """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: drain}
spec:
  until: 1m
  pools: [{name: w, count: 2}]
  steps:
    - {at: 10s, drain: w-0}
    - {at: 20s, drain: nowhere}
    - {at: 30s, expect: {kind: Pod, count: 2, where: {spec.nodeName: w-1}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
""",
        encoding="utf-8",
    )
    result = run_scenario(load_scenario([path]), None)
    (failure,) = result.failures
    assert failure.endswith('nodes "nowhere" not found')
