"""Owners that come in the same moment and may not be beside each other: one of them waits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.things import Json, hold, pod
from tests.stories.world import World

SAME = {"matchLabels": {"app": "web"}}
NODES = "kubernetes.io/hostname"
RULES: dict[str, Json] = {
    "affinity": {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": NODES, "labelSelector": SAME}
                ]
            }
        }
    },
    "spread": {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": NODES,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SAME,
            }
        ]
    },
    "port": {},
}
OWNERS = ("p-0", "p-1")


def rival(name: str, rule: str, **more: Any) -> Json:
    made = pod(name, cpu=2, app="web", **RULES[rule], **more)
    if rule == "port":
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    return made


def seated(world: World) -> list[str]:
    return [name for name in OWNERS if world.node_of(name)]


@pytest.fixture
def stage(world: World) -> World:
    """One node with room for two, and one that is too small for either."""
    world.add_node("a", cpu=4)
    world.add_node("b", cpu=1)
    world.start_operator()
    return world


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("door", ["gated", "ours"])
def test_two_holds_on_a_node_do_not_bring_them_together(stage: World, door: str, rule: str) -> None:
    stage.apply(hold("h-0", cpu=2), hold("h-1", cpu=2))
    stage.until_held("h-0", "h-1")
    stage.apply(*(rival(name, rule, **{door: True}) for name in OWNERS))
    stage.until("one has its node", lambda: bool(seated(stage)))
    stage.pass_time(3)
    (first,) = seated(stage)
    assert stage.node_of(first) == "a"
    other = "h-1" if stage.claim_of(first).endswith("h-0") else "h-0"
    assert stage.phase_of_hold(other) == "Available"
    stage.delete("Pod", first)
    (second,) = (name for name in OWNERS if name != first)
    stage.until("the other follows", lambda: stage.node_of(second) == "a")
    stage.until_nothing_is_left()


@pytest.mark.parametrize("rule", RULES)
def test_nor_does_free_room(stage: World, rule: str) -> None:
    stage.apply(*(rival(name, rule, ours=True) for name in OWNERS))
    stage.until("one has its node", lambda: bool(seated(stage)))
    stage.pass_time(3)
    (first,) = seated(stage)
    stage.delete("Pod", first)
    (second,) = (name for name in OWNERS if name != first)
    stage.until("the other follows", lambda: stage.node_of(second) == "a")
    stage.until_nothing_is_left()
