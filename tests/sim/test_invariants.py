"""What must never be seen is seen when it happens."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.sim.api.values import Ref, uid_of
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.world import SimWorld
from tests.sim.things import hold, node, pod, priority_class

CLAIMED = "headroom.dev/claimed"
CLAIMED_UID = "headroom.dev/claimed-uid"


@pytest.fixture
def watched(world: SimWorld) -> tuple[SimWorld, Invariants]:
    return world, Invariants(world.store, world.clock)


Watched = tuple[SimWorld, Invariants]


def owner(name: str, of: str, **spec: Any) -> dict[str, Any]:
    given = pod(name, **spec)
    given["metadata"]["annotations"] = {CLAIMED: "Hold/default/h", CLAIMED_UID: of}
    return given


def test_an_orderly_world_has_no_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a"))
    world.apply(pod("p"))
    world.run_until_idle()
    invariants.finish()
    assert invariants.violations == []


def test_an_overcommitted_node_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a", cpu="1"))
    world.apply(pod("one", nodeName="a"))
    world.run_until_idle()
    made = world.apply(pod("two", nodeName="elsewhere"))
    lie = {**made, "spec": {**made["spec"], "nodeName": "a"}}
    world.store.replace(made, {**lie, "status": {"phase": "Running"}})
    assert "Node/a: overcommitted: 2000 cpu used of 1000" in invariants.violations[0]


def test_a_hold_given_twice_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    held = uid_of(world.apply(hold("h")))
    world.apply(owner("one", held, nodeName="a"))
    assert invariants.violations == []
    world.apply(owner("two", held, nodeName="a"))
    assert "Hold/default/h: given twice" in invariants.violations[0]


def test_a_hold_for_many_may_be_given_to_many(watched: Watched) -> None:
    world, invariants = watched
    held = uid_of(world.apply(hold("h", allocateOnce=False)))
    world.apply(owner("one", held, nodeName="a"))
    world.apply(owner("two", held, nodeName="a"))
    assert invariants.violations == []


def test_a_latch_left_lying_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(pod("latch", labels={"headroom.dev/role": "latch"}, schedulerName="x"))
    world.run_for(61)
    invariants.finish()
    assert "a latch stood for 61 s" in invariants.violations[0]


def test_a_gate_left_closed_is_a_breach_while_the_operator_runs(watched: Watched) -> None:
    world, invariants = watched
    world.apply(pod("p", schedulingGates=[{"name": "headroom.dev/claim"}]))
    world.run_for(100)
    invariants.finish()
    assert invariants.violations == []
    invariants.operator_is(True)
    world.run_for(61)
    world.server.delete(Ref("Pod", "default", "p"))
    assert "waited 61 s at our gate" in invariants.violations[0]


def test_a_place_given_twice_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a", cpu="4", pods="1"))
    world.apply(pod("one"))
    world.run_until_idle()
    world.apply(pod("two", schedulerName="x"))
    world.server.bind(Ref("Pod", "default", "two"), {"target": {"name": "a"}})
    world.run_until_idle()
    assert "Node/a: given twice, with Pod/default/two: 2 pods of 1" in invariants.violations[0]
    assert "Pod/default/two: refused on a, OutOfpods" in invariants.violations[1]


def test_an_owner_that_its_kubelet_refuses_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a", cpu="4", pods="1"))
    world.apply(pod("one"))
    world.run_until_idle()
    world.apply(owner("two", "u", schedulerName="x"))
    world.server.bind(Ref("Pod", "default", "two"), {"target": {"name": "a"}})
    world.run_until_idle()
    told = "Pod/default/two: refused on a, OutOfpods, although it owns Hold/default/h"
    assert told in invariants.violations[1]


def test_a_stranger_in_the_room_of_an_owner_behind_the_gate_is_a_breach(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a", cpu="1"))
    world.run_until_idle()
    world.apply(owner("owner", "u", schedulerName="x"))
    place = {"status": {"nominatedNodeName": "a"}}
    world.server.merge_patch(Ref("Pod", "default", "owner"), place, "status")
    world.apply(pod("rival"))
    world.run_until_idle()
    told = "Pod/default/rival: has the room of owner Pod/default/owner on a"
    assert told in invariants.violations[0]


def test_what_a_more_important_pod_leaves_is_not_the_room_of_an_owner(watched: Watched) -> None:
    world, invariants = watched
    world.apply(node("a", cpu="2"))
    world.apply(priority_class("important", 9))
    world.run_until_idle()
    world.apply(owner("owner", "u", cpu="2", schedulerName="x"))
    place = {"status": {"nominatedNodeName": "a"}}
    world.server.merge_patch(Ref("Pod", "default", "owner"), place, "status")
    world.apply(pod("first", priorityClassName="important"))
    world.run_until_idle()
    world.apply(pod("second"))
    world.run_until_idle()
    assert world.server.get(Ref("Pod", "default", "second"))["spec"]["nodeName"] == "a"
    assert invariants.violations == []
