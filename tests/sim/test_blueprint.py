"""Room kept by a DaemonSet of pause pods, as blueprints recommend: what it really does.

On a node shared with ordinary pods a burst pod takes *their* room, because kube-scheduler spares
the most important victims first and the filler is one of those. Only where budgets protect the
ordinary pods is the filler taken, and then it comes back and evicts one of them all the same. The
stories are told in the simulator; the last two are told on a real cluster beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from headroom.sim.api.values import dig
from headroom.sim.world import SimWorld
from headroom.wire.yamls import load
from testbed.controlplane import ControlPlane
from tests.sim.beside import Beside, of_events, of_pods
from tests.sim.things import budget, deployment, node, pod

BLUEPRINT = Path(__file__).with_name("blueprint.yaml")
FILLER, ORDINARY, BURST = "room-keeper", "ordinary", "burst"


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
    gone = {each[2] for each in both.agree(of_events, "Event") if each[3] == "Preempted"}
    assert gone == {f"{FILLER}-*", f"{ORDINARY}-*"}


@pytest.mark.e2e
def test_the_real_filler_comes_back_at_the_ordinary_pods_expense_too(both: Beside) -> None:
    both.add_node("shared", "2")
    both.apply(budget("keep", ORDINARY, minAvailable=3))
    fill(both, lambda: both.agree(of_pods, "Pod"))
    both.apply(burst(f"{BURST}-0"))
    both.agree(of_pods, "Pod")
    both.agree(of_events, "Event")
