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
    marks_of,
    volume,
)
from tests.stories.things import NAMESPACE, Json, headroom, pod, priority_class
from tests.stories.world import World

BY_VOLUME: Json = {"perVolume": {"driver": DRIVER, "requests": {"cpu": "helperCpu"}}}


def quiet(embedded: EmbeddedWorld, *nodes: str) -> None:
    """Nodes whose pods stay Pending, as a pod does whose volume is not mounted yet."""
    for node in nodes:
        embedded.add_node(node)
    embedded.pass_time(1)
    for node in nodes:
        embedded.sim.kubelets.stop(node)


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


def test_slots_stand_on_the_node_of_their_owner(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a", "b", "c")
    embedded.start_operator()
    embedded.apply(following(slots=3), gated("owner"))
    until_beside(embedded, "owner", 3)
    uid = (embedded.get("Pod", "owner") or {})["metadata"]["uid"]
    assert list(marks_of(embedded, "owner").values()) == [uid]
    assert not any(marks_of(embedded, one["metadata"]["name"]) for one in guardians(embedded))


def test_the_gates_of_others_are_left_alone_in_their_order(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(following(), gated("owner", gates=("x.example/one", GATE, "y.example/two")))
    embedded.until(
        "only ours is off",
        lambda: gates_of(embedded, "owner") == ["x.example/one", "y.example/two"],
    )
    embedded.pass_time(5)
    assert len(guardians(embedded)) == 1  # Kept for as long as somebody else keeps it waiting.


def test_pods_of_other_namespaces_and_with_other_gates_are_not_followed(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(following(), gated("far", namespace="kube-system"))
    embedded.apply(gated("other", gates=("x.example/one",)))
    embedded.pass_time(400)
    assert guardians(embedded) == []
    assert gates_of(embedded, "other") == ["x.example/one"]


def test_a_lost_slot_is_made_again_until_the_owner_runs(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(following(), gated("owner"))
    until_beside(embedded, "owner")
    (first,) = guardians(embedded)
    embedded.delete("Pod", first["metadata"]["name"])
    embedded.until(
        "another one stands",
        lambda: (
            [one["metadata"]["uid"] for one in guardians(embedded)]
            not in ([], [first["metadata"]["uid"]])
        ),
    )
    until_beside(embedded, "owner")
    embedded.sim.kubelets.resume("a")
    embedded.until("the slot is gone", lambda: not guardians(embedded))


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_slots_go_when_the_owner_ends(embedded: EmbeddedWorld, phase: str) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(following(slots=2), gated("owner"))
    until_beside(embedded, "owner", 2)
    embedded.finish("owner", phase)
    embedded.until("the slots are gone", lambda: not guardians(embedded))


def test_slots_go_when_an_owner_is_deleted_before_it_has_a_node(world: World) -> None:
    world.start_operator()
    world.apply(following(slots=2), gated("owner"))
    world.until("it is released", lambda: gates_of(world, "owner") == [])
    assert len(guardians(world)) == 2
    world.delete("Pod", "owner")
    world.until("the slots are gone", lambda: not guardians(world))


def test_an_owner_that_went_while_nobody_looked_leaves_no_orphan(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(following(), gated("owner"))
    until_beside(embedded, "owner")
    embedded.kill_operator()
    embedded.sim.delete("Pod", NAMESPACE, "owner", grace=0)
    embedded.start_operator()
    embedded.until("the slot is gone", lambda: not guardians(embedded))


def test_an_operator_that_starts_anew_still_knows_whom_it_follows(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(following(), gated("owner"))
    until_beside(embedded, "owner")
    embedded.kill_operator()
    (first,) = guardians(embedded)
    embedded.delete("Pod", first["metadata"]["name"])
    embedded.start_operator()
    until_beside(embedded, "owner")
    embedded.sim.kubelets.resume("a")
    embedded.until("the slot is gone", lambda: not guardians(embedded))
    embedded.until("and the label", lambda: not marks_of(embedded, "owner"))


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


def test_every_volume_of_the_driver_gets_a_slot_of_its_own_size(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(volume("va", helperCpu="250m"), volume("vb"), volume("vc", "other.example.com"))
    embedded.apply(claim("a", "va"), claim("b", "vb"), claim("c", "vc"))
    embedded.apply(following(cpu="100m", **BY_VOLUME), gated("owner", "a", "b", "c"))
    until_beside(embedded, "owner", 2)
    sizes = [
        one["spec"]["containers"][0].get("resources", {}).get("requests", {}).get("cpu")
        for one in guardians(embedded)
    ]
    assert sorted(map(str, sizes)) == ["250m", "None"]


def test_an_owner_waits_for_its_claim_to_be_bound(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(volume("va"), claim("a", "va"), claim("b", "vb"))
    embedded.apply(following(**BY_VOLUME), gated("owner", "a", "b"))
    embedded.until("the first slot is made", lambda: len(guardians(embedded)) == 1)
    embedded.pass_time(20)
    assert gates_of(embedded, "owner") == [GATE]
    assert len(guardians(embedded)) == 1
    embedded.apply(volume("vb"))
    embedded.until_runs("owner")
    embedded.until("the slots are gone", lambda: not guardians(embedded))


def test_a_claim_that_waits_for_its_pod_keeps_nobody_waiting(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "provisioner": "disks.example.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    embedded.apply(volume("va"), claim("a", "va"), claim("late", storageClassName="late"))
    embedded.apply(following(**BY_VOLUME), gated("owner", "a", "late"))
    embedded.until_runs("owner")


def test_who_has_nothing_to_follow_is_released_at_once(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(following(**BY_VOLUME))
    world.pass_time(1)
    world.apply(gated("owner"))
    world.until_runs("owner", seconds=15)
    assert guardians(world) == []


def test_a_claim_that_does_not_exist_is_told_and_the_owner_goes_without(
    embedded: EmbeddedWorld,
) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(following(deadline="1m", **BY_VOLUME), gated("owner", "nowhere"))
    embedded.until(
        "it is told on the pod",
        lambda: bool(embedded.events("CannotFollow", "owner")),
    )
    (told,) = embedded.events("CannotFollow", "owner")
    assert "claim nowhere does not exist" in told["message"]
    embedded.until(
        "and on the headroom",
        lambda: embedded.condition_of("beside", "Degraded", "Headroom").get("status") == "True",
    )
    ready = embedded.condition_of("beside", "Ready", "Headroom")
    assert ready["reason"] == "CannotFollow"
    assert "pod default/owner: claim nowhere does not exist" in ready["message"]
    assert gates_of(embedded, "owner") == [GATE]
    embedded.until("it is released", lambda: gates_of(embedded, "owner") == [], seconds=60)
    (late,) = embedded.events("DeadlinePassed", "owner")
    assert "claim nowhere does not exist" in late["message"]
    embedded.until(
        "the headroom is fine again",
        lambda: embedded.condition_of("beside", "Degraded", "Headroom").get("status") == "False",
    )


def test_who_waited_while_nobody_was_there_gets_slots_all_the_same(
    embedded: EmbeddedWorld,
) -> None:
    quiet(embedded, "a")
    embedded.apply(following(), gated("owner"))
    embedded.pass_time(30)
    embedded.start_operator()
    until_beside(embedded, "owner")
    assert embedded.events("DeadlinePassed", "owner") == []


@pytest.mark.parametrize(("text", "count"), [("2", 2), ("0", 0)])
def test_an_annotation_says_how_many(embedded: EmbeddedWorld, text: str, count: int) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(following(fromAnnotation="example.com/helpers"))
    embedded.apply(gated("owner", annotations={"example.com/helpers": text}))
    until_beside(embedded, "owner", count)


def test_an_annotation_that_is_no_number_is_told(embedded: EmbeddedWorld) -> None:
    embedded.add_node("a")
    embedded.start_operator()
    embedded.apply(following(fromAnnotation="example.com/helpers", deadline="40s"))
    embedded.apply(gated("owner", annotations={"example.com/helpers": "many"}))
    embedded.until("told", lambda: bool(embedded.events("CannotFollow", "owner")))
    embedded.until_runs("owner", seconds=60)


def test_long_names_are_no_trouble(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    long = "v" + "olume-" * 35 + "x"
    embedded.apply(volume(long), claim("a", long))
    embedded.apply(following("h" + "eadroom-" * 12 + "x", **BY_VOLUME))
    embedded.apply(gated("o" + "wner-" * 45 + "x", "a"))
    until_beside(embedded, "o" + "wner-" * 45 + "x")


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


def test_a_follower_that_names_our_scheduler_gets_the_locked_slot(embedded: EmbeddedWorld) -> None:
    quiet(embedded, "a", "b")
    embedded.start_operator()
    follow = {"follow": {"gate": GATE}}
    embedded.apply(headroom("beside", cpu=2, app="helper", size=follow), gated("owner"))
    until_beside(embedded, "owner")
    node = embedded.node_of("owner")
    embedded.apply(pod("helper", cpu=2, app="helper", ours=True))
    embedded.until("it is there", lambda: embedded.node_of("helper") == node)
    assert embedded.claim_of("helper") == f"Headroom/{NAMESPACE}/beside"
    embedded.pass_time(10)
    assert guardians(embedded) == []  # What it was held for has come.


def test_a_follower_takes_a_preemptible_slot_and_nobody_else_s_place(
    embedded: EmbeddedWorld,
) -> None:
    quiet(embedded, "a")
    embedded.start_operator()
    embedded.apply(priority_class("helpers", 1000), pod("bystander", cpu=2))
    embedded.apply(following(), gated("owner"))
    until_beside(embedded, "owner")
    embedded.apply(pod("helper", cpu=1, priorityClassName="helpers"))
    embedded.until("it is there", lambda: embedded.node_of("helper") == "a")
    assert embedded.get("Pod", "bystander") is not None
    embedded.sim.kubelets.resume("a")
    embedded.until_runs("owner")
    embedded.until("no slot is left", lambda: not guardians(embedded))
    embedded.until_runs("bystander")


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
