"""Slots that follow a pod onto a full node get the room of a hold that stands there already."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from headroom.sim.faults import Fault
from headroom.wire.writes import Write
from tests.stories.embedded import EmbeddedWorld
from tests.stories.followers import GATE, following, gated, gates_of, guardians
from tests.stories.things import NAMESPACE, Json, headroom, hold, pod, priority_class
from tests.stories.world import CLAIMED, World

FOR_SLOTS = [{"controller": {"kind": "Headroom", "name": "beside"}}]
"""Owner rules that mean the slots of the Headroom `beside` themselves."""


def beside() -> Json:
    """Locked slots of one CPU next to gated pods, for helpers."""
    return headroom("beside", cpu=1, app="helper", size={"follow": {"gate": GATE}})


def spare(**spec: Any) -> Json:
    """A slot of one CPU on each node, for the slots that follow."""
    return headroom("spare", cpu=1, size={"perNode": {"slots": 1}}, owners=FOR_SLOTS, **spec)


def free_for_all() -> Json:
    """A slot of one CPU on each node that anything more important takes."""
    return headroom("spare", cpu=1, size={"perNode": {"slots": 1}}, mode="Preemptible")


def told(world: World) -> str:
    """What the headroom that follows says of itself."""
    return str(world.condition_of("beside", "Ready", "Headroom").get("message"))


def until_beside(world: World) -> Json:
    """The slot that follows is on the full node; return its guardian."""

    def found() -> list[Json]:
        slots = world.slots("beside").values()
        return [one for each in slots for one in each if one["spec"].get("nodeName") == "a"]

    world.until("the slot that follows is held on a", lambda: bool(found()))
    return found()[0]


def full_node(world: World, *held: Json) -> None:
    """A quiet node of four CPUs: a bystander has two and what is held one."""
    world.add_quiet_node("a")
    world.start_operator()
    world.apply(*held, pod("bystander", cpu=2))
    world.until("the bystander has its place", lambda: world.node_of("bystander") == "a")
    world.until("the room is held", lambda: placed(world) == len(held))


def placed(world: World) -> int:
    return sum(bool(one["spec"].get("nodeName")) for one in guardians(world))


def uid_of(world: World, name: str) -> str:
    return str((world.get("Pod", name) or {"metadata": {"uid": ""}})["metadata"]["uid"])


def test_on_a_full_node_a_held_slot_becomes_the_slot_that_follows(world: World) -> None:
    full_node(world, spare())
    bystander = uid_of(world, "bystander")
    world.apply(beside(), gated("owner"))
    guardian = until_beside(world)
    assert guardian["metadata"]["annotations"][CLAIMED] == f"Headroom/{NAMESPACE}/spare"
    world.until("it counts as claimed", lambda: world.status("spare").get("claimed") == 1)
    world.apply(pod("helper", cpu=1, app="helper", ours=True))
    world.until("the helper has the room", lambda: world.node_of("helper") == "a")
    assert world.claim_of("helper") == f"Headroom/{NAMESPACE}/beside"
    assert uid_of(world, "bystander") == bystander
    world.rouse("a")
    for name in ("owner", "helper", "bystander"):
        world.until_runs(name)
    world.until_nothing_is_left()


def test_the_held_slot_is_held_again_when_the_one_that_followed_is_over(world: World) -> None:
    full_node(world, spare())
    world.apply(beside(), gated("owner"))
    until_beside(world)
    assert world.held("spare") == {}
    world.rouse("a")
    world.until_runs("owner")
    world.until("the slot is gone", lambda: not world.slots("beside"))
    world.until_slots("spare", "a")


def test_a_helper_at_the_gate_gets_the_room_as_well(world: World) -> None:
    full_node(world, spare())
    world.apply(beside(), gated("owner"))
    until_beside(world)
    world.apply(pod("helper", cpu=1, app="helper", gated=True))
    world.until("the helper has the room", lambda: world.node_of("helper") == "a")
    assert world.claim_of("helper") == f"Headroom/{NAMESPACE}/beside"
    assert world.node_of("bystander") == "a"


def test_a_rival_that_waits_for_the_node_is_not_let_in(world: World) -> None:
    full_node(world, spare())
    world.apply(beside(), gated("owner"))
    world.until("the owner is placed", lambda: world.node_of("owner") == "a")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(3)))
    until_beside(world)
    world.apply(pod("helper", cpu=1, app="helper", ours=True))
    world.until("the helper has the room", lambda: world.node_of("helper") == "a")
    world.pass_time(2)
    assert [world.node_of(f"rival-{number}") for number in range(3)] == ["", "", ""]


def test_a_hold_gives_its_room_once_and_says_to_whom(world: World) -> None:
    full_node(world, hold("spare", cpu=1, owners=FOR_SLOTS))
    world.apply(beside(), gated("owner"))
    guardian = until_beside(world)
    world.until("it is used", lambda: world.phase_of_hold("spare") == "Succeeded")
    (owner,) = (world.get("Hold", "spare") or {})["status"]["currentOwners"]
    assert owner["name"] == guardian["metadata"]["name"]


def test_a_reusable_hold_lends_a_part_and_has_it_back(world: World) -> None:
    world.add_quiet_node("a")
    world.start_operator()
    world.apply(hold("spare", cpu=2, owners=FOR_SLOTS, allocateOnce=False), pod("bystander"))
    world.until_held("spare")
    world.until("the bystander has its place", lambda: world.node_of("bystander") == "a")
    world.apply(beside(), gated("owner"))
    until_beside(world)
    world.until(
        "a part of it is used", lambda: bool(world.status("spare", "Hold").get("currentOwners"))
    )
    kept = {"cpu": "1"}
    world.until("the rest is held", lambda: kept in guardian_requests(world, "spare"))
    world.rouse("a")
    world.until("the slot is gone", lambda: not world.slots("beside"))
    whole = {"cpu": "2"}
    world.until("all of it is held", lambda: guardian_requests(world, "spare") == [whole])


def guardian_requests(world: World, name: str) -> list[Json]:
    """What the guardians of a hold keep."""
    return [
        one["spec"]["containers"][0]["resources"]["requests"]
        for one in guardians(world)
        if one["metadata"]["annotations"]["headroom.dev/parent"] == f"Hold/{NAMESPACE}/{name}"
    ]


def test_a_slot_that_may_be_preempted_serves_a_helper_as_it_stands(world: World) -> None:
    full_node(world, free_for_all())
    world.apply(priority_class("helpers", 1000), following(), gated("owner"))
    world.until("it is placed", lambda: world.node_of("owner") == "a")
    world.until("nothing waits beside it", lambda: not world.slots("beside"))
    world.until(
        "the headroom says whose room it is",
        lambda: "Headroom/default/spare#a has room on a" in told(world),
    )
    assert world.condition_of("beside", "Ready", "Headroom")["status"] == "True"
    assert world.held("spare") == {"a": "a"}
    world.apply(pod("helper", cpu=1, priorityClassName="helpers"))
    world.until("the helper is there", lambda: world.node_of("helper") == "a")
    assert world.node_of("bystander") == world.node_of("owner") == "a"


def test_a_slot_that_another_preempts_first_leaves_the_follower_waiting(world: World) -> None:
    full_node(world, free_for_all())
    world.apply(priority_class("helpers", 1000), following(), gated("owner"))
    world.until("nothing waits", lambda: "has room on a" in told(world))
    world.apply(pod("rival", cpu=1, priorityClassName="helpers"))
    world.until("the rival is there", lambda: world.node_of("rival") == "a")
    world.until("the slot is wanted again", lambda: bool(world.slots("beside")))
    assert world.held("beside") == {}
    assert world.node_of("bystander") == world.node_of("owner") == "a"
    world.delete("Pod", "rival")
    world.until("there is room again", lambda: placed(world) == 1)


def test_an_operator_that_starts_anew_knows_what_serves_a_follower(world: World) -> None:
    full_node(world, free_for_all())
    world.apply(following(), gated("owner"))
    world.until("nothing waits", lambda: "has room on a" in told(world))
    world.kill_operator()
    world.start_operator()
    world.pass_time(3)
    assert not world.slots("beside")
    assert world.held("spare") == {"a": "a"}
    world.rouse("a")
    world.until_runs("owner")
    world.until("all is held", lambda: told(world) == "0 of 0 slots held")


def test_a_slot_that_filled_its_node_stays_when_an_operator_starts_anew(world: World) -> None:
    world.add_quiet_node("a", cpu=5)
    world.start_operator()
    world.apply(free_for_all(), pod("bystander", cpu=2))
    world.until("the bystander has its place", lambda: world.node_of("bystander") == "a")
    world.until_slots("spare", "a")
    world.apply(following(), gated("owner", cpu=1))
    before = until_beside(world)["metadata"]["uid"]
    world.kill_operator()
    world.start_operator()
    world.pass_time(3)
    assert until_beside(world)["metadata"]["uid"] == before
    assert world.held("spare") == {"a": "a"}


def test_one_slot_that_stands_serves_one_follower(world: World) -> None:
    full_node(world, free_for_all())
    world.apply(following(slots=2), gated("owner"))
    world.until("one is served", lambda: "has room on a" in told(world))
    world.until("the other waits", lambda: len(world.slots("beside")) == 1)
    assert world.held("beside") == {}


def test_a_slot_that_another_claims_first_leaves_the_follower_waiting(world: World) -> None:
    rules = [*FOR_SLOTS, {"labelSelector": {"matchLabels": {"app": "web"}}}]
    held = spare(refill="Never")
    held["spec"]["owners"] = rules
    full_node(world, held)
    world.apply(pod("web", cpu=1, app="web", ours=True))
    world.until("another has it", lambda: world.node_of("web") == "a")
    world.apply(beside(), gated("owner"))
    world.until("the owner is placed", lambda: world.node_of("owner") == "a")
    world.until(
        "the headroom says that a slot finds no room",
        lambda: world.condition_of("beside", "Degraded", "Headroom").get("status") == "True",
    )
    assert world.held("beside") == {}
    world.delete("Pod", "web")
    until_beside(world)


def test_a_hold_that_comes_later_is_used_as_well(world: World) -> None:
    full_node(world)
    world.apply(pod("other", cpu=1), beside(), gated("owner"))
    world.until("the owner is placed", lambda: world.node_of("owner") == "a")
    world.until("the other is placed", lambda: world.node_of("other") == "a")
    world.apply(spare())
    world.until("the slot waits", lambda: bool(world.slots("spare")))
    assert world.held("beside") == world.held("spare") == {}
    world.delete("Pod", "other")
    until_beside(world)


def test_holds_for_others_and_of_other_nodes_are_left_alone(world: World) -> None:
    world.add_quiet_node("a")
    world.start_operator()
    others = [{"labelSelector": {"matchLabels": {"app": "web"}}}]
    world.apply(headroom("for-others", cpu=1, size={"perNode": {"slots": 1}}, owners=others))
    world.until_slots("for-others", "a")
    world.apply(pod("bystander", cpu=2))
    world.until("the bystander has its place", lambda: world.node_of("bystander") == "a")
    world.apply(beside(), gated("owner"))
    world.until("the owner is placed", lambda: world.node_of("owner") == "a")
    world.add_quiet_node("b")
    world.apply(spare())
    world.until("the other node has its slot", lambda: world.held("spare") == {"b": "b"})
    world.pass_time(3)
    assert world.held("for-others") == {"a": "a", "b": "b"}
    assert world.held("spare") == {"b": "b"}
    assert world.held("beside") == {}


def test_where_there_is_room_enough_no_hold_is_touched(world: World) -> None:
    world.add_quiet_node("a", cpu=8)
    world.start_operator()
    world.apply(spare())
    world.until_slots("spare", "a")
    world.apply(beside(), gated("owner"))
    until_beside(world)
    world.until_slots("spare", "a")
    assert world.status("spare").get("claimed", 0) == 0


@pytest.mark.parametrize("writes", range(1, 5))
def test_an_operator_that_dies_while_a_slot_moves_in_leaves_nothing_half_done(
    embedded: EmbeddedWorld, writes: int
) -> None:
    full_node(embedded, spare())
    embedded.apply(beside())
    embedded.kill_operator()
    embedded.apply(gated("owner"))
    embedded.start_operator()
    embedded.cut_operator_after(3 + writes)  # Label, guardian and gate; then the handover.
    embedded.pass_time(5)
    assert embedded.operator_is_cut()
    embedded.kill_operator()
    embedded.start_operator()
    until_beside(embedded)
    embedded.apply(pod("helper", cpu=1, app="helper", ours=True))
    embedded.until("the helper has the room", lambda: embedded.node_of("helper") == "a")
    assert embedded.node_of("bystander") == "a"
    embedded.until_nothing_is_left()


def test_an_operator_that_starts_when_the_node_is_full_already_goes_on(world: World) -> None:
    full_node(world, spare())
    world.apply(beside())
    world.apply(gated("owner", gates=(GATE, "x.example/other")))
    world.until("ours is off", lambda: gates_of(world, "owner") == ["x.example/other"])
    world.kill_operator()
    world.patch("Pod", "owner", {"spec": {"schedulingGates": None}})
    world.until("the owner is placed", lambda: world.node_of("owner") == "a")
    world.start_operator()
    until_beside(world)
    world.until_nothing_is_left()


@pytest.mark.parametrize("embedded", [1, 5, 9], indirect=True)
def test_faults_and_restarts_while_slots_move_in_cost_nobody_a_place(
    embedded: EmbeddedWorld,
) -> None:
    chance = Random(str(embedded.sim.stage.seed))
    troubles = (Fault.BUSY, Fault.BROKEN, Fault.LOST, Fault.UNANSWERED)

    def decide(write: Write) -> Fault | None:
        return chance.choice(troubles) if chance.random() < 0.2 else None

    names = ("a", "b", "c")
    for name in names:
        embedded.add_quiet_node(name)
    embedded.start_operator()
    embedded.apply(spare())
    embedded.until_slots("spare", *names)
    embedded.apply(*(pod(f"bystander-{name}", cpu=2) for name in names))
    embedded.pass_time(2)
    embedded.sim.faults.decide = decide
    embedded.apply(beside(), *(gated(f"owner-{name}") for name in names))
    for _ in range(4):
        embedded.pass_time(chance.random() * 2)
        embedded.kill_operator()
        embedded.start_operator()
    embedded.sim.faults.decide = None
    embedded.until("all have their slot", lambda: len(embedded.held("beside")) == 3, seconds=150)
    assert sorted(embedded.held("beside").values()) == list(names)
    assert sorted(embedded.node_of(f"bystander-{name}") for name in names) == list(names)
    embedded.until_nothing_is_left()
