"""Room kept by a DaemonSet of pause pods, as blueprints recommend: what it really does.

On a node shared with ordinary pods a burst pod takes *their* room, because kube-scheduler spares
the most important victims first and the filler is one of those. Only where budgets protect the
ordinary pods is the filler taken, and then it comes back and evicts one of them all the same. The
stories are told in the simulator; the last ones are told on a real cluster beside it, and there the
same pods must make room, in the same order, with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from headroom.sim.api.values import dig
from headroom.sim.scenarios.loader import load_scenario
from headroom.sim.scenarios.play import run_scenario
from headroom.sim.world import SimWorld
from headroom.wire.yamls import load
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, of_events, of_pods, of_preemptions, of_statuses
from tests.sim.things import budget, deployment, node, pod

BLUEPRINT = Path(__file__).with_name("blueprint.yaml")
SPIKY = Path(__file__).with_name("blueprint-burst.yaml")
FILLER, ORDINARY, BURST = "room-keeper", "ordinary", "burst"


SCENARIO = """
apiVersion: sim.headroom.dev/v1alpha1
kind: Scenario
metadata: {name: blueprint}
spec:
  until: 2m
  pools: [{name: w, count: 2, cpu: "1", memory: 4Gi}]
  steps:
    - {at: 30s, expect: {kind: DaemonSet, name: room-keeper, where: {status.numberReady: 2}}}
    - {at: 30s, expect: {kind: Deployment, name: burst, where: {status.readyReplicas: 1}}}
    - {at: 40s, scale: {kind: Deployment, name: burst}, replicas: 4}
    - {at: 70s, expect: {kind: DaemonSet, name: room-keeper, where: {status.numberReady: 2}}}
    - {at: 80s, scale: {kind: Deployment, name: burst}, replicas: 10}
    - {at: 110s, expect: {kind: Deployment, name: burst, where: {status.readyReplicas: 10}}}
    - {at: 110s, expect: {kind: DaemonSet, name: room-keeper, where: {status.numberReady: 0}}}
    - {at: 110s, expect: {kind: Pod, labelSelector: app=room-keeper, count: 2}}
"""


class Stage(Protocol):
    """What a story needs of a cluster, embedded or both."""

    def apply(self, obj: dict[str, Any]) -> Any: ...


def blueprint() -> list[dict[str, Any]]:
    text = BLUEPRINT.read_text(encoding="utf-8")
    return [document.data for document in load(text, BLUEPRINT.name)]


def burst(name: str = BURST, cpu: str = "500m") -> dict[str, Any]:
    return pod(name, cpu, {"app": BURST}, priorityClassName="burst-first")


def fill(stage: Stage, settle: Callable[[], object]) -> None:
    """A node of two CPU: a quarter kept by the blueprint, the rest used by ordinary pods."""
    for obj in blueprint():
        stage.apply(obj)
    settle()
    stage.apply(deployment(ORDINARY, 3, "500m"))
    settle()


def pods(world: SimWorld, app: str, phase: str = "Running") -> int:
    return sum(
        1
        for item in world.list("Pod")
        if dig(item, "metadata", "labels", "app") == app
        and dig(item, "status", "phase") == phase
        and not dig(item, "metadata", "deletionTimestamp")
    )


def preempted(world: SimWorld) -> list[str]:
    """The apps of those who were preempted, in order."""
    names = [
        str(event["involvedObject"]["name"])
        for event in world.events()
        if event["reason"] == "Preempted"
    ]
    return [app for name in names for app in (FILLER, ORDINARY) if name.startswith(app)]


@pytest.fixture
def shared(world: SimWorld) -> SimWorld:
    world.apply(node("a", cpu="2"))
    fill(world, lambda: world.run_for(30))
    assert (pods(world, FILLER), pods(world, ORDINARY)) == (1, 3)
    return world


def test_ordinary_pods_cannot_take_the_room(shared: SimWorld) -> None:
    shared.patch("Deployment", "default", ORDINARY, {"spec": {"replicas": 4}})
    shared.run_for(60)
    assert (pods(shared, FILLER), pods(shared, ORDINARY)) == (1, 3)
    assert pods(shared, ORDINARY, "Pending") == 1
    assert preempted(shared) == []


def test_a_burst_evicts_an_ordinary_pod_and_leaves_the_room_kept(shared: SimWorld) -> None:
    shared.apply(burst())
    shared.run_for(60)
    assert preempted(shared) == [ORDINARY]
    assert (pods(shared, BURST), pods(shared, FILLER), pods(shared, ORDINARY)) == (1, 1, 2)
    assert pods(shared, ORDINARY, "Pending") == 1


def test_only_when_no_ordinary_pod_is_left_does_a_burst_take_the_room(shared: SimWorld) -> None:
    for number in range(4):
        shared.apply(burst(f"{BURST}-{number}"))
        shared.run_for(60)
    assert preempted(shared) == [ORDINARY, ORDINARY, ORDINARY, FILLER]
    assert (pods(shared, BURST), pods(shared, FILLER), pods(shared, ORDINARY)) == (4, 0, 0)
    # Both are made anew at once, and wait.
    assert (pods(shared, FILLER, "Pending"), pods(shared, ORDINARY, "Pending")) == (1, 3)


def test_room_that_was_taken_comes_back_at_the_ordinary_pods_expense(world: SimWorld) -> None:
    world.apply(node("a", cpu="2"))
    world.apply(budget("keep", ORDINARY, minAvailable=3))
    fill(world, lambda: world.run_for(30))
    world.apply(burst())
    world.run_for(60)
    # The budget turned the burst away from ordinary pods; the filler that came back broke it.
    assert preempted(world) == [FILLER, ORDINARY]
    assert (pods(world, BURST), pods(world, FILLER), pods(world, ORDINARY)) == (1, 1, 2)


def test_with_room_to_spare_nobody_is_evicted(world: SimWorld) -> None:
    world.apply(node("a", cpu="4"))
    fill(world, lambda: world.run_for(30))
    world.apply(burst())
    world.run_for(60)
    assert preempted(world) == []
    assert (pods(world, BURST), pods(world, FILLER), pods(world, ORDINARY)) == (1, 1, 3)


def test_a_burst_that_ends_gives_the_room_to_the_filler_first(shared: SimWorld) -> None:
    for number in range(4):
        shared.apply(burst(f"{BURST}-{number}"))
        shared.run_for(60)
    shared.delete("Pod", "default", f"{BURST}-0")
    shared.run_for(60)
    assert (pods(shared, FILLER), pods(shared, ORDINARY)) == (1, 0)


def two_nodes(stage: Stage, join: Callable[[str], None], settle: Callable[[], object]) -> None:
    """The blueprint on two full nodes: beside ordinary pods on one, beside burst pods on another.

    They join one after the other: of two fillers the younger one is taken.
    """
    for obj in blueprint():
        stage.apply(obj)
    for name in ("shared", "kept"):
        join(name)
        settle()
    ordinary = deployment(ORDINARY, 3, "500m")
    ordinary["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "shared"}
    important = deployment("important", 3, "500m")
    important["spec"]["template"]["spec"] |= {
        "nodeSelector": {"pool": "kept"},
        "priorityClassName": "burst-first",
    }
    stage.apply(ordinary)
    stage.apply(important)
    settle()


def test_a_burst_goes_where_ordinary_pods_are_and_not_where_room_is_kept(world: SimWorld) -> None:
    def join(name: str) -> None:
        world.apply(node(name, cpu="2", labels={"pool": name}))

    two_nodes(world, join, lambda: world.run_for(30))
    world.apply(burst())
    world.run_for(60)
    assert preempted(world) == [ORDINARY]
    assert dig(world.get("Pod", "default", BURST), "spec", "nodeName") == "shared"


def test_the_files_play_as_they_are(tmp_path: Path) -> None:
    stage = tmp_path / "stage.yaml"
    stage.write_text(SCENARIO, encoding="utf-8")
    result = run_scenario(load_scenario([stage, BLUEPRINT, SPIKY]), None)
    assert result.failures == ()
    assert result.violations == ()
    assert result.notes == ()


@pytest.fixture
def both(binaries: Path, tmp_path: Path, world: SimWorld) -> Iterator[Beside]:
    with ControlPlane.start(tmp_path, kwok=True) as plane:
        yield Beside(plane, world, [f"{BURST}-{number}" for number in range(4)])


@pytest.mark.e2e
def test_the_real_cluster_tells_the_same_stories(both: Beside) -> None:
    both.add_node("shared", "2")
    fill(both, lambda: both.agree(of_pods, "Pod"))
    for number in range(4):
        both.apply(burst(f"{BURST}-{number}"))
        both.agree(of_pods, "Pod")
    both.delete("Pod", f"{BURST}-0")
    both.agree(of_pods, "Pod")
    both.agree(of_events, "Event")
    gone = [victim for victim, _ in both.agree(of_preemptions, "Event")]
    assert gone == [f"{ORDINARY}-*"] * 3 + [f"{FILLER}-*"]


@pytest.mark.e2e
def test_the_real_filler_comes_back_at_the_ordinary_pods_expense_too(both: Beside) -> None:
    both.add_node("shared", "2")
    both.apply(budget("keep", ORDINARY, minAvailable=3))
    fill(both, lambda: both.agree(of_pods, "Pod"))
    both.apply(burst(f"{BURST}-0"))
    both.agree(of_pods, "Pod")
    both.agree(of_events, "Event")
    shared = both.node(0)
    assert both.agree(of_preemptions, "Event") == [
        (f"{FILLER}-*", f"Preempted by pod {BURST}-0 on node {shared}"),
        (f"{ORDINARY}-*", f"Preempted by pod {FILLER}-* on node {shared}"),
    ]


@pytest.mark.e2e
def test_real_bursts_choose_the_same_node_and_a_budget_turns_them_the_same_way(
    both: Beside,
) -> None:
    def join(name: str) -> None:
        both.rest()
        both.add_node(name, "2", pool=name)

    two_nodes(both, join, lambda: both.agree(of_pods, "Pod"))
    both.apply(burst(f"{BURST}-0"))
    both.agree(of_pods, "Pod")
    both.apply(budget("keep", ORDINARY, minAvailable=2))
    both.agree(of_statuses, "PodDisruptionBudget")
    both.rest()
    both.apply(burst(f"{BURST}-1"))
    both.agree(of_pods, "Pod")
    both.agree(of_events, "Event")
    shared, kept = both.node(0), both.node(1)
    assert both.agree(of_preemptions, "Event") == [
        (f"{ORDINARY}-*", f"Preempted by pod {BURST}-0 on node {shared}"),
        (f"{FILLER}-*", f"Preempted by pod {BURST}-1 on node {kept}"),
    ]


@pytest.mark.e2e
def test_the_files_do_the_same_on_a_real_cluster_burst_by_burst(both: Beside) -> None:
    both.add_node("shared", "2")
    both.apply_file(BLUEPRINT)
    both.agree(of_pods, "Pod")
    both.apply(deployment(ORDINARY, 3, "500m"))
    both.agree(of_pods, "Pod")
    both.apply_file(SPIKY)
    for number in (1, 3, 6, 8, 9):  # At the tenth a real cluster would combine events.
        both.patch("Deployment", BURST, {"spec": {"replicas": number}})
        both.agree(of_pods, "Pod")
    for kind in ("DaemonSet", "Deployment"):
        both.agree(of_statuses, kind)
    both.agree(of_events, "Event")
    gone = [victim for victim, _ in both.agree(of_preemptions, "Event")]
    assert gone == [f"{ORDINARY}-*"] * 3 + [f"{FILLER}-*"]
