"""Slots next to pods that carry a gate, for what will follow them onto their node."""

from __future__ import annotations

from random import Random

import pytest

from headroom.sim.faults import Fault
from headroom.wire.writes import Write
from tests.stories.embedded import EmbeddedWorld
from tests.stories.followers import (
    DRIVER,
    GATE,
    claim,
    following,
    gated,
    gates_of,
    guardians,
    late_class,
    marks_of,
    quiet,
    somewhere_else,
    volume,
)
from tests.stories.things import NAMESPACE, Json, headroom, pod, priority_class
from tests.stories.world import World

BY_VOLUME: Json = {"perVolume": {"driver": DRIVER, "requests": {"cpu": "helperCpu"}}}


def until_beside(world: World, owner: str, count: int = 1) -> None:
    """So many guardians are on the owner's node."""

    def so() -> bool:
        node = world.node_of(owner)
        there = [one["spec"].get("nodeName") for one in guardians(world)]
        return bool(node) and there == [node] * count

    world.until(f"{count} slots next to {owner}", so)


def test_an_owner_is_released_with_its_slot_and_the_slot_goes_when_it_runs(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(), gated("owner"))
    world.until_runs("owner")
    world.until("the slot is gone", lambda: not guardians(world))
    world.until("the label is gone", lambda: not marks_of(world, "owner"))
    assert gates_of(world, "owner") == []


def test_slots_stand_on_the_node_of_their_owner(world: World) -> None:
    quiet(world, "a", "b", "c")
    world.start_operator()
    world.apply(following(slots=3), gated("owner"))
    until_beside(world, "owner", 3)
    uid = (world.get("Pod", "owner") or {})["metadata"]["uid"]
    assert list(marks_of(world, "owner").values()) == [uid]
    assert not any(marks_of(world, one["metadata"]["name"]) for one in guardians(world))


def test_the_gates_of_others_are_left_alone_in_their_order(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(), gated("owner", gates=("x.example/one", GATE, "y.example/two")))
    world.until(
        "only ours is off",
        lambda: gates_of(world, "owner") == ["x.example/one", "y.example/two"],
    )
    world.pass_time(5)
    assert len(guardians(world)) == 1  # Kept for as long as somebody else keeps it waiting.


def test_pods_of_other_namespaces_and_with_other_gates_are_not_followed(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    elsewhere = somewhere_else(world)
    world.apply(following(deadline="1s"), gated("far", namespace=elsewhere))
    world.apply(gated("other", gates=("x.example/one",)))
    world.pass_time(4)
    assert guardians(world) == []
    assert gates_of(world, "other") == ["x.example/one"]
    far = world.get("Pod", "far", elsewhere) or {}
    assert far["spec"]["schedulingGates"] == [{"name": GATE}]


def test_a_lost_slot_is_made_again_until_the_owner_runs(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(following(), gated("owner"))
    until_beside(world, "owner")
    (first,) = guardians(world)
    world.delete("Pod", first["metadata"]["name"])
    world.until(
        "another one stands",
        lambda: (
            [one["metadata"]["uid"] for one in guardians(world)]
            not in ([], [first["metadata"]["uid"]])
        ),
    )
    until_beside(world, "owner")
    world.rouse("a")
    world.until("the slot is gone", lambda: not guardians(world))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_slots_go_when_the_owner_ends(world: World, phase: str) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(following(slots=2), gated("owner"))
    until_beside(world, "owner", 2)
    world.finish("owner", phase)
    world.until("the slots are gone", lambda: not guardians(world))


def test_slots_go_when_an_owner_is_deleted_before_it_has_a_node(world: World) -> None:
    world.start_operator()
    world.apply(following(slots=2), gated("owner"))
    world.until("it is released", lambda: gates_of(world, "owner") == [])
    assert len(guardians(world)) == 2
    world.delete("Pod", "owner")
    world.until("the slots are gone", lambda: not guardians(world))


def test_an_owner_that_went_while_nobody_looked_leaves_no_orphan(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(following(), gated("owner"))
    until_beside(world, "owner")
    world.kill_operator()
    world.delete("Pod", "owner")
    world.start_operator()
    world.until("the slot is gone", lambda: not guardians(world))


def test_an_operator_that_starts_anew_still_knows_whom_it_follows(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(following(), gated("owner"))
    until_beside(world, "owner")
    world.kill_operator()
    (first,) = guardians(world)
    world.delete("Pod", first["metadata"]["name"])
    world.start_operator()
    until_beside(world, "owner")
    world.rouse("a")
    world.until("the slot is gone", lambda: not guardians(world))
    world.until("and the label", lambda: not marks_of(world, "owner"))


@pytest.mark.parametrize("writes", range(1, 7))
def test_an_operator_that_dies_at_any_write_leaves_nobody_waiting(
    embedded: EmbeddedWorld, writes: int
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(following(slots=2))
    embedded.pass_time(2)
    embedded.cut_operator_after(writes)
    embedded.apply(gated("owner"))
    embedded.pass_time(5)
    embedded.kill_operator()
    embedded.start_operator()
    embedded.until_runs("owner")
    embedded.until("the slots are gone", lambda: not guardians(embedded))
    embedded.until("and the label", lambda: not marks_of(embedded, "owner"))


def test_every_volume_of_the_driver_gets_a_slot_of_its_own_size(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(volume("va", helperCpu="250m"), volume("vb"), volume("vc", "other.example.com"))
    world.apply(claim("a", "va"), claim("b", "vb"), claim("c", "vc"))
    world.apply(following(cpu="100m", **BY_VOLUME), gated("owner", "a", "b", "c"))
    until_beside(world, "owner", 2)
    sizes = [
        one["spec"]["containers"][0].get("resources", {}).get("requests", {}).get("cpu")
        for one in guardians(world)
    ]
    assert sorted(map(str, sizes)) == ["250m", "None"]


def test_an_owner_waits_for_its_claim_to_be_bound(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(volume("va"), claim("a", "va"), claim("b", "vb"))
    world.apply(following(**BY_VOLUME), gated("owner", "a", "b"))
    world.until("the first slot is made", lambda: len(guardians(world)) == 1)
    world.pass_time(20)
    assert gates_of(world, "owner") == [GATE]
    assert len(guardians(world)) == 1
    world.apply(volume("vb"))
    world.until_runs("owner")
    world.until("the slots are gone", lambda: not guardians(world))


def test_a_claim_that_waits_for_its_pod_keeps_nobody_waiting(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(late_class())
    world.apply(volume("va"), claim("a", "va"), claim("late", storageClassName="late"))
    world.apply(following(**BY_VOLUME), gated("owner", "a", "late"))
    world.until("it is released", lambda: gates_of(world, "owner") == [])
    assert len(guardians(world)) == 1


def test_who_has_nothing_to_follow_is_released_at_once(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(**BY_VOLUME))
    world.pass_time(1)
    world.apply(gated("owner"))
    world.until_runs("owner", seconds=15)
    assert guardians(world) == []


def test_a_claim_that_does_not_exist_is_told_and_the_owner_goes_without(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(deadline="8s", **BY_VOLUME), gated("owner", "nowhere"))
    world.until(
        "it is told on the pod",
        lambda: bool(world.events("CannotFollow", "owner")),
    )
    (told,) = world.events("CannotFollow", "owner")
    assert "claim nowhere does not exist" in told["message"]
    world.until(
        "and on the headroom",
        lambda: world.condition_of("beside", "Degraded", "Headroom").get("status") == "True",
    )
    ready = world.condition_of("beside", "Ready", "Headroom")
    assert ready["reason"] == "CannotFollow"
    assert "pod default/owner: claim nowhere does not exist" in ready["message"]
    assert gates_of(world, "owner") == [GATE]
    world.until("it is released", lambda: gates_of(world, "owner") == [])
    world.until("that is told", lambda: bool(world.events("DeadlinePassed", "owner")))
    (late,) = world.events("DeadlinePassed", "owner")
    assert "claim nowhere does not exist" in late["message"]
    world.until(
        "the headroom is fine again",
        lambda: world.condition_of("beside", "Degraded", "Headroom").get("status") == "False",
    )


def test_who_waited_while_nobody_was_there_gets_slots_all_the_same(world: World) -> None:
    quiet(world, "a")
    world.apply(following(deadline="5s"), gated("owner"))
    world.pass_time(7)
    world.start_operator()
    until_beside(world, "owner")
    assert world.events("DeadlinePassed", "owner") == []


@pytest.mark.parametrize(("text", "count"), [("2", 2), ("0", 0)])
def test_an_annotation_says_how_many(world: World, text: str, count: int) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(following(fromAnnotation="example.com/helpers"))
    world.apply(gated("owner", annotations={"example.com/helpers": text}))
    until_beside(world, "owner", count)


def test_an_annotation_that_is_no_number_is_told(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(fromAnnotation="example.com/helpers", deadline="4s"))
    world.apply(gated("owner", annotations={"example.com/helpers": "many"}))
    world.until("told", lambda: bool(world.events("CannotFollow", "owner")))
    world.until_runs("owner")


def test_long_names_are_no_trouble(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    long = "v" + "olume-" * 35 + "x"
    world.apply(volume(long), claim("a", long))
    world.apply(following("h" + "eadroom-" * 12 + "x", **BY_VOLUME))
    world.apply(gated("o" + "wner-" * 45 + "x", "a"))
    until_beside(world, "o" + "wner-" * 45 + "x")


def test_outside_its_schedule_a_headroom_keeps_nobody_waiting(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    night = {"schedule": [{"start": "0 1 * * *", "duration": "1h"}]}
    embedded.apply(following(more=night), gated("owner"))
    embedded.until_runs("owner", seconds=10)
    assert guardians(embedded) == []


def test_a_headroom_that_is_deleted_takes_its_slots_along(world: World) -> None:
    world.start_operator()
    world.apply(following(), gated("owner"))
    world.until("it is released", lambda: gates_of(world, "owner") == [])
    world.pass_time(3)  # Its owner has no node, so that the slot cannot have one: no alarm.
    assert world.condition_of("beside", "Degraded", "Headroom").get("status") == "False"
    assert world.events("Unschedulable", "beside") == []
    world.delete("Headroom", "beside")
    world.until("the slot is gone", lambda: not guardians(world))


def test_a_follower_that_names_our_scheduler_gets_the_locked_slot(world: World) -> None:
    quiet(world, "a", "b")
    world.start_operator()
    follow = {"follow": {"gate": GATE}}
    world.apply(headroom("beside", cpu=2, app="helper", size=follow), gated("owner"))
    until_beside(world, "owner")
    node = world.node_of("owner")
    world.apply(pod("helper", cpu=2, app="helper", ours=True))
    world.until("it is there", lambda: world.node_of("helper") == node)
    assert world.claim_of("helper") == f"Headroom/{NAMESPACE}/beside"
    world.pass_time(10)
    assert guardians(world) == []  # What it was held for has come.


def test_a_follower_takes_a_preemptible_slot_and_nobody_else_s_place(world: World) -> None:
    quiet(world, "a")
    world.start_operator()
    world.apply(priority_class("helpers", 1000), pod("bystander", cpu=2))
    world.apply(following(), gated("owner"))
    until_beside(world, "owner")
    world.apply(pod("helper", cpu=1, priorityClassName="helpers"))
    world.until("it is there", lambda: world.node_of("helper") == "a")
    assert world.get("Pod", "bystander") is not None
    world.rouse("a")
    world.until_runs("owner")
    world.until("no slot is left", lambda: not guardians(world))
    world.until_runs("bystander")


@pytest.mark.parametrize("embedded", [3, 8], indirect=True)
def test_faults_and_restarts_leave_nobody_waiting_and_no_orphan(embedded: EmbeddedWorld) -> None:
    chance = Random(str(embedded.sim.stage.seed))
    troubles = (Fault.BUSY, Fault.BROKEN, Fault.LOST, Fault.UNANSWERED)

    def decide(write: Write) -> Fault | None:
        return chance.choice(troubles) if chance.random() < 0.2 else None

    embedded.sim.faults.decide = decide
    for name in ("a", "b"):
        embedded.add_node(name)
    embedded.start_operator()
    embedded.apply(following(cpu="100m", slots=2))
    embedded.apply(*(gated(f"owner-{number}", cpu="100m") for number in range(6)))
    for number in range(4):
        embedded.pass_time(chance.random() * 3)
        embedded.kill_operator()
        embedded.start_operator()
        embedded.delete("Pod", f"owner-{number}")
    embedded.sim.faults.decide = None
    for name in ("owner-4", "owner-5"):
        embedded.until_runs(name, seconds=150)
    embedded.until("no slot is left", lambda: not guardians(embedded), seconds=150)
