"""Bursts of other namespaces, and pods that are not important enough to be kept waiting."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.wire.kinds import PODS
from tests.stories.real import RealWorld
from tests.stories.things import GATE, NAMESPACE, headroom, pod, priority_class
from tests.stories.world import World
from tests.versions import has

TEAM = "team"
URGENT = 900_000_000
LABELS = {"headroom.dev/claims": "enabled"}
ANYWHERE: dict[str, Any] = {
    "owners": [{"priorityAtLeast": URGENT, "object": {"namespace": "*"}}],
    "size": {"perNode": {"slots": 1}},
}


@pytest.fixture
def shared(world: World) -> World:
    """A node of four, one of it kept for bursts, in a cluster with a namespace that opted in."""
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM, "labels": LABELS}}
    if world.get("Namespace", TEAM, "") is None:
        world.apply(made)
    world.apply(priority_class("urgent", URGENT))
    world.add_node("a", cpu=4)
    world.start_operator(across_namespaces=True)
    world.apply(headroom("room", **ANYWHERE))
    world.until_slots("room", "a")
    return world


def _index(world: World) -> dict[str, Any]:
    found = [each for each in world.all("ClaimIndex") if each["metadata"]["namespace"] == TEAM]
    return dict(found[0]["spec"]) if found else {}


def _gates(world: World, name: str) -> list[str]:
    made = world.get("Pod", name, TEAM) or {}
    return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]


def _would_be_gated(world: World) -> bool:
    """Whether a burst would wait now: a real API server takes a moment to see policy and index."""
    if not isinstance(world, RealWorld) or not has("mutating-policy"):
        return True
    burst = pod("nobody", priorityClassName="urgent", namespace=TEAM)
    made = world.plane.api.create(f"{PODS.path(TEAM)}?dryRun=All", burst)
    return bool(made["spec"].get("schedulingGates"))


def test_a_burst_of_another_namespace_gets_kept_room_without_a_word(shared: World) -> None:
    shared.until("the index names bursts", lambda: _index(shared).get("priorityAtLeast") == URGENT)
    shared.apply(*(pod(f"ordinary-{number}", cpu=1) for number in range(3)))
    for number in range(3):
        shared.until_runs(f"ordinary-{number}")
    shared.until("the policy is in force", lambda: _would_be_gated(shared))
    gated = isinstance(shared, RealWorld) and not has("mutating-policy")
    shared.apply(pod("burst", cpu=1, priorityClassName="urgent", namespace=TEAM, gated=gated))
    shared.until("the burst runs", lambda: shared.running("burst", TEAM))
    assert shared.claim_of("burst", TEAM) == f"Headroom/{NAMESPACE}/room"
    assert all(shared.running(f"ordinary-{number}") for number in range(3))


def test_pods_that_are_not_important_enough_are_not_gated(shared: World) -> None:
    shared.until("the index names bursts", lambda: _index(shared).get("priorityAtLeast") == URGENT)
    assert _index(shared).get("keys", {}) == {}
    shared.until("the policy is in force", lambda: _would_be_gated(shared))
    shared.apply(pod("meek", cpu=1, namespace=TEAM))
    assert GATE not in _gates(shared, "meek")
    shared.until("it runs", lambda: shared.running("meek", TEAM))
    assert shared.events("NotMatched", "meek") == []


def test_an_index_that_somebody_deletes_is_made_again(shared: World) -> None:
    shared.until("the index names bursts", lambda: _index(shared).get("priorityAtLeast") == URGENT)
    shared.delete("ClaimIndex", "headroom", TEAM)
    shared.until(
        "it names them again", lambda: _index(shared).get("priorityAtLeast") == URGENT, seconds=15
    )
