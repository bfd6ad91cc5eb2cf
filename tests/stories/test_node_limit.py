"""Placeholders whose shape changes at their limits: none too many, and no node comes for them."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.test_load import half, message_of
from tests.stories.things import Json, pod
from tests.stories.world import World

WAITS = "to be renewed: it fits on no node, and spec.limits.nodes allows no more than 1 of them"


def grow(world: World, cpu: str) -> None:
    template = {"resources": {"requests": {"cpu": cpu}}}
    world.patch("Headroom", "room", {"spec": {"slot": {"template": template}}})


def guardians(world: World) -> list[Json]:
    return [
        each for each in world.ours("guardian") if not each["metadata"].get("deletionTimestamp")
    ]


def sizes(world: World) -> list[str]:
    found = [each for each in guardians(world) if each["spec"].get("nodeName")]
    return sorted(_cpu(each) for each in found)


def _cpu(guardian: Json) -> str:
    return str(guardian["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def asks_for_a_node(guardian: Json) -> bool:
    """Whether an autoscaler would bring a node for it."""
    told = guardian.get("status", {}).get("conditions") or ()
    return any(each.get("reason") == "Unschedulable" for each in told)


def test_a_shape_that_fits_nowhere_at_the_limit_on_nodes_waits_and_says_why(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(half(limits={"nodes": 1}), pod("real", cpu=2))
    world.until_slots("room", "0", "1")
    asked: list[str] = []
    world.on_look(lambda: asked.extend(map(_cpu, filter(asks_for_a_node, guardians(world)))))
    grow(world, "3")
    world.until("it says why", lambda: WAITS in message_of(world))
    world.pass_time(3)
    assert not asked
    assert sizes(world) == ["1", "1"]  # Better the old shape than none.
    world.patch("Headroom", "room", {"spec": {"limits": {"nodes": 2}}})
    world.until("one asks for the node that may come", lambda: bool(asked), seconds=60)
    world.add_node("b", cpu=4)
    world.until("it is renewed there", lambda: "3" in sizes(world), seconds=60)


@pytest.mark.parametrize("writes", range(4))
def test_at_its_limits_a_shape_is_renewed_with_no_placeholder_too_many_and_none_that_waits(
    world: World, writes: int
) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(half(limits={"nodes": 1, "slots": 2}), pod("real", cpu=4))
    world.until_slots("room", "0", "1")
    most = 0
    asked: list[str] = []

    def look() -> None:
        nonlocal most
        most = max(most, len(guardians(world)))
        asked.extend(map(_cpu, filter(asks_for_a_node, guardians(world))))

    world.on_look(look)
    if writes:
        world.cut_operator_after(writes)
    grow(world, "2")
    if writes:
        world.until("the operator is cut", world.operator_is_cut)
        world.kill_operator()
        world.start_operator()
    world.until("both are renewed", lambda: sizes(world) == ["2", "2"], seconds=60)
    assert most == 2
    assert not asked
    assert world.running("real")


def test_a_real_pod_at_the_limit_on_nodes_leaves_no_placeholder_that_waits(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(half(limits={"nodes": 1}), pod("real", cpu=2))
    world.until_slots("room", "0", "1")
    asked: list[str] = []
    world.on_look(lambda: asked.extend(map(_cpu, filter(asks_for_a_node, guardians(world)))))
    world.apply(pod("another", cpu=1))
    world.until_runs("another")
    world.until("one is left", lambda: len(world.slots("room")) == 1)
    world.pass_time(3)
    assert not asked


def test_placeholders_that_keep_away_from_each_other_do_not_ask_for_a_node_too_many(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a", cpu=8)
    embedded.start_operator()
    alone = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"headroom.dev/role": "guardian"}},
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
    room = half(limits={"nodes": 1})
    room["spec"]["slot"]["template"]["affinity"] = alone
    embedded.apply(room, pod("real", cpu=3))
    embedded.until("one stands", lambda: sizes(embedded) == ["1"])
    embedded.pass_time(60)
    assert len(guardians(embedded)) == 1
    assert "it fits on no node" in message_of(embedded)
