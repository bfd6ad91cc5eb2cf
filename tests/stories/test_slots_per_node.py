"""A slot on every eligible node: nodes join, leave and change; each slot is for its own node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import headroom, pod, priority_class, workload
from tests.stories.world import CLAIMED_SLOT, World

EACH = {"perNode": {"slots": 1}}
POOL = {"pool": "web"}
DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def per_node(name: str = "room", cpu: str | int = 1, **more: Any) -> dict[str, Any]:
    return headroom(name, cpu=cpu, size=more.pop("size", EACH), **more)


def uids(world: World, name: str = "room") -> dict[str, str]:
    return {slot: each[0]["metadata"]["uid"] for slot, each in world.slots(name).items()}


def message_of(world: World, name: str = "room") -> str:
    return str(world.condition_of(name, of="Headroom").get("message", ""))


def test_four_rules_say_which_nodes_get_a_slot(world: World) -> None:
    own = [{"key": "own", "effect": "NoSchedule"}]
    mild = [{"key": "own", "effect": "PreferNoSchedule"}]
    world.add_node("bare")
    world.add_node("closed", labels=POOL, unschedulable=True)
    world.add_node("good", labels=POOL)
    world.add_node("mild", labels=POOL, taints=mild)
    world.add_node("owned", labels=POOL, taints=own)
    world.start_operator()
    world.apply(per_node(template={"nodeSelector": POOL}))
    world.until_slots("room", "good", "mild")
    assert world.held("room") == {"good": "good", "mild": "mild"}
    assert "3 of 5 nodes left out" in message_of(world)
    tolerant = [{"key": "own", "operator": "Exists", "effect": "NoSchedule"}]
    world.patch("Headroom", "room", {"spec": {"slot": {"template": {"tolerations": tolerant}}}})
    world.until_slots("room", "good", "mild", "owned")


@pytest.mark.every_version
def test_nodes_join_leave_and_change(world: World) -> None:
    world.add_node("a", labels=POOL)
    world.start_operator()
    world.apply(per_node(template={"nodeSelector": POOL}))
    world.until_slots("room", "a")
    world.add_node("b", labels=POOL)
    world.add_node("c")
    world.until_slots("room", "a", "b")
    before = uids(world)
    world.patch("Node", "c", {"metadata": {"labels": POOL}})
    world.until_slots("room", "a", "b", "c")
    world.patch("Node", "b", {"spec": {"unschedulable": True}})
    world.until_slots("room", "a", "c")
    world.patch("Node", "b", {"spec": {"unschedulable": None}})
    world.until_slots("room", "a", "b", "c")
    world.patch("Node", "b", {"spec": {"taints": [{"key": "own", "effect": "NoExecute"}]}})
    world.until_slots("room", "a", "c")
    world.patch("Node", "c", {"metadata": {"labels": {"pool": "other"}}})
    world.until_slots("room", "a")
    world.delete("Node", "c")
    world.pass_time(1)
    world.until_slots("room", "a")
    assert uids(world)["a"] == before["a"]


def test_a_node_that_leaves_takes_its_slot_along(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", "a", "b")
    world.delete("Node", "b")
    world.until_slots("room", "a")
    world.add_node("b")
    world.until_slots("room", "a", "b", seconds=120)


def test_a_blink_changes_nothing(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", "a", "b")
    before = uids(world)
    for _ in range(3):
        world.blink("b")
    world.pass_time(2)
    assert uids(world) == before
    world.until_slots("room", "a", "b")


def test_who_took_a_slot_is_left_alone_when_its_node_is_closed(world: World) -> None:
    world.add_node("a", cpu=2)
    world.add_node("b", cpu=2)
    world.start_operator()
    world.apply(per_node(cpu=2))
    world.until_slots("room", "a", "b")
    world.apply(pod("owner", cpu=2, app="web", gated=True))
    world.until_runs("owner")
    on = world.node_of("owner")
    (other,) = {"a", "b"} - {on}
    world.patch("Node", on, {"spec": {"unschedulable": True}})
    world.until_slots("room", other)
    world.pass_time(1)
    assert world.running("owner")
    assert world.claim_of("owner") == "Headroom/default/room"


def test_headrooms_that_overlap_hold_their_own_and_say_what_does_not_fit(world: World) -> None:
    world.add_node("a", cpu=4)
    world.add_node("b", cpu=8)
    world.start_operator()
    world.apply(per_node("first", cpu=3))
    world.until_slots("first", "a", "b")
    world.apply(per_node("second", cpu=3, app="api"))
    world.until("the second has one", lambda: world.held("second") == {"b": "b"})
    world.until("and says why", lambda: "Insufficient cpu" in message_of(world, "second"))
    assert "slot a: " in message_of(world, "second")
    assert world.status("second")["held"] == 1
    world.apply(pod("owner", cpu=3, app="api", ours=True))
    world.until_runs("owner", on="b")
    assert world.claim_of("owner") == "Headroom/default/second"
    world.until_slots("first", "a", "b")


@DOORS
def test_a_daemons_pod_takes_the_slot_of_its_own_node(world: World, door: str) -> None:
    for name in ("a", "b", "c"):
        world.add_node(name, cpu=2)
    world.start_operator()
    world.apply(per_node(cpu=2, app="agent"))
    world.until_slots("room", "a", "b", "c")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(3)))
    world.apply(workload("DaemonSet", "agent", cpu=2, pods={door: True}))

    def served() -> bool:
        agents = [
            item
            for item in world.all("Pod")
            if item["metadata"].get("labels", {}).get("app") == "agent"
        ]
        notes = {
            str(item["spec"].get("nodeName")): item["metadata"]
            .get("annotations", {})
            .get(CLAIMED_SLOT)
            for item in agents
            if item["status"].get("phase") == "Running"
        }
        return notes == {name: name for name in ("a", "b", "c")}

    world.until("each runs in the slot of its node", served)
    world.until_nothing_is_left()
    assert not any(world.node_of(f"rival-{number}") for number in range(3))


BURST: dict[str, Any] = {"owners": [{"priorityAtLeast": 900_000_000}]}


def shared_node(world: World) -> None:
    """A node of four: one kept, three used by ordinary pods."""
    world.apply(priority_class("urgent", 900_000_000))
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(per_node(**BURST))
    world.until_slots("room", "a")
    world.apply(*(pod(f"ordinary-{number}", cpu=1) for number in range(3)))
    for number in range(3):
        world.until_runs(f"ordinary-{number}")


def ordinary(world: World) -> int:
    return sum(world.running(f"ordinary-{number}") for number in range(3))


@DOORS
def test_a_burst_takes_kept_room_and_ordinary_pods_are_left_in_peace(
    world: World, door: str
) -> None:
    shared_node(world)
    way: dict[str, Any] = {door: True}
    world.apply(pod("burst", cpu=1, priorityClassName="urgent", **way))
    world.until_runs("burst", on="a")
    assert world.claim_of("burst") == "Headroom/default/room"
    world.pass_time(3)
    assert ordinary(world) == 3


@DOORS
def test_bursts_take_every_slot_before_an_ordinary_pod_is_touched(world: World, door: str) -> None:
    shared_node(world)
    world.add_node("b", cpu=2)
    world.until_slots("room", "a", "b")
    world.apply(pod("neighbour", cpu=1))
    world.until_runs("neighbour", on="b")
    way: dict[str, Any] = {door: True}
    world.apply(*(pod(f"burst-{n}", cpu=1, priorityClassName="urgent", **way) for n in range(2)))
    for number in range(2):
        world.until_runs(f"burst-{number}")
    assert sorted(world.node_of(f"burst-{number}") for number in range(2)) == ["a", "b"]
    world.pass_time(3)
    assert ordinary(world) == 3
    assert world.running("neighbour")


def test_without_a_door_a_burst_evicts_an_ordinary_pod(world: World) -> None:
    shared_node(world)
    world.apply(pod("burst", cpu=1, priorityClassName="urgent"))
    world.until_runs("burst", on="a")
    assert ordinary(world) == 2
    assert sorted(world.held("room")) == ["a"]


def test_who_is_not_important_enough_may_not_take_kept_room(world: World) -> None:
    shared_node(world)
    world.apply(pod("meek", cpu=1, gated=True))
    world.pass_time(2)
    assert world.node_of("meek") == ""
    assert sorted(world.held("room")) == ["a"]


def test_a_part_of_every_node_is_held(world: World) -> None:
    world.add_node("large", cpu=16)
    world.add_node("small", cpu=4)
    world.start_operator()
    world.apply(per_node(size={"perNode": {"percent": 25}}))
    world.until_slots("room", "large", "small")
    kept = {
        slot: each[0]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for slot, each in world.slots("room").items()
    }
    assert kept == {"large": "4", "small": "1"}


def test_several_slots_on_a_node_have_names_of_their_own(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(per_node(size={"perNode": {"slots": 1}}))
    world.until_slots("room", "a")
    before = uids(world)
    world.patch("Headroom", "room", {"spec": {"size": {"perNode": {"slots": 3}}}})
    world.until_slots("room", "a", "a/1", "a/2")
    assert uids(world)["a"] == before["a"]


def test_a_node_that_stays_silent_loses_its_slot_and_gets_it_back(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", "a", "b")
    world.sim.stop_kubelet("b")
    world.pass_time(40 + 35)
    assert world.status("room")["desired"] == 2
    world.until("only one is wished for", lambda: world.status("room")["desired"] == 1, 20)
    assert "1 of 2 nodes left out: 1 not Ready" in message_of(world)
    world.sim.start_kubelet("b")
    world.until_slots("room", "a", "b", seconds=60)


def test_half_of_the_nodes_flap_for_a_minute_and_all_are_held_in_the_end(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    names = [f"n{number:02}" for number in range(20)]
    for name in names:
        world.add_node(name)
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", *names)
    before, kept = len(world.sim.writes), uids(world)
    for round_ in range(12):
        for name in names[::2]:
            world.set_ready(name, round_ % 2 == 1)
        world.pass_time(5)
    world.until_slots("room", *names)
    assert uids(world) == kept
    writes = [write for _, write, _ in world.sim.writes[before:]]
    assert [write for write in writes if write.resource.kind == "Pod"] == []
    assert len(writes) < 60


def test_no_slot_is_tried_in_a_loop_where_it_is_taken_away_again(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    world.apply(per_node())
    world.until_slots("room", "a", "b")
    before = len(world.sim.writes)
    for _ in range(120):
        for item in world.slots("room").get("b", ()):
            world.delete("Pod", item["metadata"]["name"])
        world.pass_time(5)
    made = [
        write
        for _, write, _ in world.sim.writes[before:]
        if write.verb == "create" and write.resource.kind == "Pod"
    ]
    assert len(made) < 20
    world.until_slots("room", "a", "b", seconds=300)
