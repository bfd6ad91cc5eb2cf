"""What a fence may cost others: each pod that fits on its node gets in, whoever else waits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.things import Json, hold, pod
from tests.stories.world import World

OTHERS = "elsewhere"
PORT = 8080


def asking_for_port(made: Json) -> Json:
    container = made["spec"]["containers"][0]
    container["ports"] = [{"containerPort": PORT, "hostPort": PORT}]
    return made


def mounting(made: Json) -> Json:
    """The same pod with a claim that never comes: it is refused for ever, and room is not why."""
    source = {"persistentVolumeClaim": {"claimName": "never"}}
    made["spec"]["volumes"] = [{"name": "data", **source}]
    return made


def waits(world: World, name: str, namespace: str = OTHERS) -> bool:
    found = world.get("Pod", name, namespace) or {}
    told = found.get("status", {}).get("conditions", ())
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in told)


def owner_of_a_reusable_hold(world: World, **owner: Any) -> None:
    """A node of eight CPU with a hold of one of the other namespace, and its owner in it."""
    world.add_node("a", cpu=8)
    if world.get("Namespace", OTHERS) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS}})
    world.start_operator()
    world.apply(hold("h", cpu=1, namespace=OTHERS, allocateOnce=False))
    world.until("held", lambda: world.phase_of_hold("h", OTHERS) == "Available")
    made = pod("owner", cpu=1, app="web", namespace=OTHERS, ours=True, **owner)
    world.apply(asking_for_port(made))
    world.until("its owner runs", lambda: world.node_of("owner", OTHERS) == "a")


def decoy(name: str = "decoy") -> Json:
    """A pod of the victim's shape that no scheduler ever places."""
    return mounting(pod(name, cpu=2, namespace=OTHERS))


@pytest.mark.parametrize("rival", ["port", "room"])
def test_a_decoy_of_the_same_shape_keeps_nobody_off_a_free_node(world: World, rival: str) -> None:
    owner_of_a_reusable_hold(world)
    if rival == "port":
        world.apply(asking_for_port(pod("rival", cpu="100m", namespace=OTHERS)))
    else:
        world.apply(pod("rival", cpu=8, namespace=OTHERS))
    world.apply(decoy())
    world.until("both wait", lambda: waits(world, "rival") and waits(world, "decoy"))
    world.pass_time(15)  # The node was open for the decoy, and it did not come.
    world.apply(pod("victim", cpu=2))
    world.until_runs("victim", on="a")
    world.apply(pod("another", cpu=2))
    world.until_runs("another", on="a")


def test_who_fits_beside_what_is_returned_raises_no_fence(world: World) -> None:
    """The rival wants the owner's port, which the hold does not keep, and no room of the hold."""
    owner_of_a_reusable_hold(world)
    world.apply(asking_for_port(pod("rival", cpu="100m", namespace=OTHERS)))
    world.until("it waits", lambda: waits(world, "rival"))
    world.pass_time(3)
    assert world.ours("fence") == []
    world.finish("owner", namespace=OTHERS)
    world.until("it has the port", lambda: world.node_of("rival", OTHERS) == "a")
    world.until("the hold is whole", lambda: _kept(world) == ["1"])


def _kept(world: World) -> list[str]:
    return [
        each["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for each in world.ours("guardian")
        if each["spec"].get("nodeName")
    ]
