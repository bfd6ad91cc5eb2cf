"""An operator for some namespaces: what is elsewhere is seen, and left alone."""

from __future__ import annotations

from tests.stories.things import GATE, Json, headroom, hold, pod
from tests.stories.world import World

OURS, THEIRS = "served", "unserved"


def in_namespace(namespace: str, thing: Json) -> Json:
    return {**thing, "metadata": {**thing["metadata"], "namespace": namespace}}


def begin(world: World) -> None:
    world.add_node("a", cpu=8)
    for name in (OURS, THEIRS):
        if world.get("Namespace", name) is None:
            world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    world.start_operator(namespaces=frozenset({OURS}), across_namespaces=True)


def test_objects_of_other_namespaces_are_not_served(world: World) -> None:
    begin(world)
    for namespace in (THEIRS, OURS):
        world.apply(in_namespace(namespace, hold("h")))
        world.apply(in_namespace(namespace, headroom("room", replicas=2)))
    world.until("ours is held", lambda: world.phase_of_hold("h", OURS) == "Available")
    world.until("our slots are", lambda: len(world.held("room", OURS)) == 2)
    world.pass_time(2)
    assert world.phase_of_hold("h", THEIRS) == ""
    assert {each["metadata"]["namespace"] for each in world.ours("guardian")} == {OURS}


def test_pods_of_other_namespaces_are_not_touched(world: World) -> None:
    begin(world)
    owners = [
        {"labelSelector": {"matchLabels": {"app": "web"}}, "object": {"namespace": THEIRS}},
        {"labelSelector": {"matchLabels": {"app": "web"}}},
    ]
    world.apply(in_namespace(OURS, hold("h", owners=owners)))
    world.until("it is held", lambda: world.phase_of_hold("h", OURS) == "Available")
    world.apply(in_namespace(THEIRS, pod("gated", app="web", gated=True)))
    world.apply(in_namespace(THEIRS, pod("ours", app="web", ours=True)))
    world.pass_time(3)
    gated = world.get("Pod", "gated", THEIRS)
    assert gated is not None
    assert gated["spec"]["schedulingGates"] == [{"name": GATE}]
    assert world.node_of("ours", THEIRS) == ""
    world.apply(in_namespace(OURS, pod("rightful", app="web", gated=True)))
    world.until("the owner runs", lambda: world.node_of("rightful", OURS) == "a")
    assert world.claim_of("rightful", OURS) == f"Hold/{OURS}/h"


def test_pods_of_other_namespaces_do_not_give_way(world: World) -> None:
    begin(world)
    for name, value in (("low", 1), ("high", 1000)):
        world.apply(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": f"served-{name}"},
                "value": value,
            }
        )
    low = {"priorityClassName": "served-low"}
    world.apply(in_namespace(THEIRS, pod("stranger", cpu=4, **low)))
    world.until("the stranger runs", lambda: world.node_of("stranger", THEIRS) == "a")
    world.apply(in_namespace(OURS, hold("h", cpu=3, allocateOnce=False)))
    world.until("it is held", lambda: world.phase_of_hold("h", OURS) == "Available")
    world.apply(in_namespace(OURS, pod("first", cpu=3, app="web", ours=True, **low)))
    world.until("it is in use", lambda: world.node_of("first", OURS) == "a")
    high = {"priorityClassName": "served-high"}
    world.apply(in_namespace(OURS, pod("urgent", cpu=4, app="web", ours=True, **high)))
    world.until("the owner inside gave way", lambda: world.get("Pod", "first", OURS) is None)
    world.until("the urgent one runs", lambda: world.node_of("urgent", OURS) == "a")
    stranger = world.get("Pod", "stranger", THEIRS)
    assert stranger is not None
    assert "deletionTimestamp" not in stranger["metadata"]
