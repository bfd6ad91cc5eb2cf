"""One hold: kept by a guardian, closed to strangers, handed to its owner through either door."""

from __future__ import annotations

import pytest

from tests.stories.things import hold, pod
from tests.stories.world import World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def test_a_hold_gets_a_guardian_and_says_where(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    guardians = world.ours("guardian")
    assert [item["spec"]["nodeName"] for item in guardians] == ["a"]
    status = (world.get("Hold", "h") or {})["status"]
    assert status["nodeName"] == "a"
    assert status["allocatable"]["cpu"] == "2"
    world.until("the hold's story is told", lambda: bool(world.events("Held", "h")))


@DOORS
def test_only_the_owner_gets_the_room(world: World, door: str) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    world.apply(pod("thief", cpu=1))
    world.pass_time(3)
    assert world.node_of("thief") == ""
    world.apply(pod("owner", cpu=2, app="web", **{door: True}))
    world.until_runs("owner", on="a")
    assert world.claim_of("owner") == "Hold/default/h"
    world.until("the hold is used up", lambda: world.phase_of_hold("h") == "Succeeded")
    status = (world.get("Hold", "h") or {})["status"]
    assert [owner["name"] for owner in status["currentOwners"]] == ["owner"]
    world.until_nothing_is_left()
    assert not world.ours("guardian")
    assert world.node_of("thief") == ""
    world.until("the claim is told", lambda: bool(world.events("Claimed", "owner")))


@DOORS
def test_many_rivals_do_not_get_in(world: World, door: str) -> None:
    world.add_node("a", cpu=1)
    world.start_operator()
    world.apply(hold("h", cpu=1))
    world.until_held("h")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(5)))
    world.pass_time(2)
    world.apply(pod("owner", cpu=1, app="web", **{door: True}))
    world.until_runs("owner", on="a")
    world.pass_time(3)
    assert not any(world.node_of(f"rival-{number}") for number in range(5))


@DOORS
def test_a_pod_that_no_hold_is_for_starts_on_free_room(world: World, door: str) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    world.apply(pod("other", cpu=1, app="other", **{door: True}))
    world.until_runs("other", on="a")
    assert world.claim_of("other") == ""
    assert world.phase_of_hold("h") == "Available"
    world.until_nothing_is_left()


@DOORS
def test_a_hold_and_its_owner_may_come_in_one_breath(world: World, door: str) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu=2), pod("owner", cpu=2, app="web", **{door: True}))
    world.until_runs("owner", on="a")
    assert world.claim_of("owner") == "Hold/default/h"


def test_a_foreign_gate_is_not_ours_to_open(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    gates = [{"name": "example.com/later"}, {"name": "headroom.dev/claim"}]
    world.apply(pod("owner", cpu=2, app="web", schedulingGates=gates))
    world.pass_time(2)
    assert world.phase_of_hold("h") == "Available"
    world.patch("Pod", "owner", {"spec": {"schedulingGates": [{"name": "headroom.dev/claim"}]}})
    world.until_runs("owner", on="a")
    assert world.claim_of("owner") == "Hold/default/h"


def test_a_lost_guardian_is_replaced(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    first = world.ours("guardian")[0]["metadata"]
    world.delete("Pod", first["name"])
    world.until(
        "another guardian stands",
        lambda: any(
            item["metadata"]["uid"] != first["uid"] and item["spec"].get("nodeName")
            for item in world.ours("guardian")
        ),
    )
    world.until_held("h")


def test_an_expired_hold_gives_its_room_back(world: World) -> None:
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(hold("h", cpu=2, ttl="4s"))
    world.until_held("h")
    world.apply(pod("next", cpu=2))
    world.until("the hold has ended", lambda: world.phase_of_hold("h") == "Failed")
    assert world.condition_of("h")["reason"] == "Expired"
    world.until_runs("next", on="a")
    world.until("its end is told", lambda: bool(world.events("Expired", "h")))


def test_a_deleted_hold_takes_its_guardian_along_and_leaves_its_owner(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("kept", cpu=2), hold("given", cpu=2, app="api"))
    world.until_held("kept", "given")
    world.apply(pod("owner", cpu=2, app="api", gated=True))
    world.until_runs("owner", on="a")
    world.delete("Hold", "kept")
    world.delete("Hold", "given")
    world.until("the guardians are gone", lambda: not world.ours("guardian"))
    world.pass_time(2)
    assert world.running("owner")


def test_a_hold_made_anew_under_its_old_name_does_not_inherit_owners(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    world.apply(pod("owner", cpu=2, app="web", gated=True))
    world.until("the hold is used up", lambda: world.phase_of_hold("h") == "Succeeded")
    world.delete("Hold", "h")
    world.pass_time(1)
    world.apply(hold("h", cpu=2))
    world.until_held("h")
    assert not (world.get("Hold", "h") or {})["status"].get("currentOwners")
    assert world.running("owner")


def test_a_hold_that_finds_no_room_to_grow_says_what_it_has(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(hold("h", cpu=3))
    world.until_held("h")
    world.patch("Hold", "h", {"spec": {"template": hold("h", cpu=6)["spec"]["template"]}})
    world.until("it is told", lambda: world.condition_of("h").get("reason") == "RenewalWaits")
    assert world.status("h", "Hold")["allocatable"] == {"cpu": "3"}
    world.patch("Hold", "h", {"spec": {"template": hold("h", cpu=2)["spec"]["template"]}})
    world.until(
        "it has what it asks for",
        lambda: world.status("h", "Hold").get("allocatable") == {"cpu": "2"},
    )
