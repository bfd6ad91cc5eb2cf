"""Standing slots: a number or a share of them, under their own names, whatever becomes of them."""

from __future__ import annotations

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import headroom, pod, workload
from tests.stories.world import CLAIMED_SLOT, World

DOORS = pytest.mark.parametrize("door", ["gated", "ours"])


def identities(world: World, name: str) -> dict[str, tuple[str, str]]:
    """Name and uid of each slot's guardian."""
    return {
        slot: (each[0]["metadata"]["name"], each[0]["metadata"]["uid"])
        for slot, each in world.slots(name).items()
    }


def cpu_of(world: World, name: str) -> list[str]:
    """How much each slot keeps."""
    found = [one for each in world.slots(name).values() for one in each]
    return sorted(
        str(one["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for one in found
    )


class Fewest:
    """The smallest number of slots that were held at any look, from now on."""

    def __init__(self, world: World, name: str) -> None:
        self._world, self._name = world, name
        self.count = len(world.held(name))
        world.on_look(self._look)

    def _look(self) -> None:
        self.count = min(self.count, len(self._world.held(self._name)))


def test_slots_stand_ready_and_say_so(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    assert set(world.held("burst").values()) == {"a"}
    ready = world.condition_of("burst", of="Headroom")
    assert (ready["status"], ready["reason"]) == ("True", "Held")
    world.until("it is told", lambda: bool(world.events("Held", "burst")))
    world.apply(pod("thief", cpu=2))
    world.pass_time(3)
    assert world.node_of("thief") == ""


def test_a_lost_guardian_is_replaced_under_its_own_name(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    before = identities(world, "burst")
    world.delete("Pod", before["1"][0])
    world.until("it is made anew", lambda: identities(world, "burst").get("1") != before["1"])
    world.until_slots("burst", "0", "1", "2")
    after = identities(world, "burst")
    assert {slot: name for slot, (name, _) in after.items()} == {
        slot: name for slot, (name, _) in before.items()
    }
    assert [slot for slot in before if before[slot] != after[slot]] == ["1"]


@DOORS
def test_an_owner_takes_a_slot_and_the_hole_is_filled(world: World, door: str) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=2))
    world.until_slots("burst", "0", "1")
    world.apply(pod("owner", cpu=1, app="web", **{door: True}))
    world.until_runs("owner", on="a")
    assert world.claim_of("owner") == "Headroom/default/burst"
    world.until_slots("burst", "0", "1")
    world.until("it is counted", lambda: world.status("burst").get("claimed") == 1)
    assert world.status("burst")["hits"] == 1
    world.until("the pod is told", lambda: bool(world.events("Claimed", "owner")))
    world.until("and the headroom", lambda: bool(world.events("Claimed", "burst")))
    world.until_nothing_is_left()


@DOORS
def test_every_slot_of_a_full_node_is_taken_once(world: World, door: str) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    world.apply(*(pod(f"rival-{number}", cpu=1) for number in range(4)))
    world.pass_time(1)
    for number in range(3):
        world.apply(pod(f"owner-{number}", cpu=1, app="web", **{door: True}))
    for number in range(3):
        world.until_runs(f"owner-{number}", on="a")
    slots = [
        (world.get("Pod", f"owner-{number}") or {})["metadata"]["annotations"][CLAIMED_SLOT]
        for number in range(3)
    ]
    assert sorted(slots) == ["0", "1", "2"]
    world.until("three were given", lambda: world.status("burst").get("claimed") == 3)
    world.until_nothing_is_left()
    assert not any(world.node_of(f"rival-{number}") for number in range(4))


def test_a_changed_template_is_rolled_with_no_slot_bare(world: World) -> None:
    world.add_node(
        "a", cpu=16
    )  # Room for every successor beside the old one, however slow it goes.
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    fewest = Fewest(world, "burst")
    requests = {"resources": {"requests": {"cpu": "2"}}}
    world.patch("Headroom", "burst", {"spec": {"slot": {"template": requests}}})
    world.until("all are larger", lambda: cpu_of(world, "burst") == ["2", "2", "2"])
    world.until_slots("burst", "0", "1", "2")
    assert fewest.count == 3


def test_scaling_goes_through_the_scale_subresource(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    world.scale("Headroom", "burst", 5)
    world.until_slots("burst", "0", "1", "2", "3", "4")
    before = identities(world, "burst")
    world.scale("Headroom", "burst", 2)
    world.until_slots("burst", "0", "1")
    after = identities(world, "burst")
    assert after == {slot: before[slot] for slot in ("0", "1")}
    world.scale("Headroom", "burst", 0)
    world.until_slots("burst")


def test_a_share_follows_its_workload(world: World) -> None:
    world.add_node("a", cpu=16)
    world.start_operator()
    world.apply(workload("Deployment", "web", cpu=1, replicas=4))
    world.apply(headroom("burst", source="web", size={"percent": 40}))
    world.until_slots("burst", "0", "1")
    assert cpu_of(world, "burst") == ["1", "1"]
    world.scale("Deployment", "web", 6)
    world.until_slots("burst", "0", "1", "2")
    world.delete("Deployment", "web")
    world.until(
        "it says what is missing",
        lambda: world.condition_of("burst", of="Headroom").get("reason") == "WorkloadMissing",
    )
    assert sorted(world.held("burst")) == ["0", "1", "2"]


def test_a_deleted_headroom_gives_its_room_back_and_leaves_owners_alone(world: World) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=2))
    world.until_slots("burst", "0", "1")
    world.apply(pod("owner", cpu=1, app="web", ours=True))
    world.until_runs("owner")
    world.until_slots("burst", "0", "1")
    world.delete("Headroom", "burst")
    world.until("no guardian is left", lambda: not world.ours("guardian"))
    world.apply(pod("stranger", cpu=2))
    world.until_runs("stranger")
    assert world.running("owner")


@pytest.fixture
def alone(embedded: EmbeddedWorld) -> EmbeddedWorld:
    """Four CPU and a headroom of two slots, in memory only."""
    embedded.add_node("a", cpu=4)
    embedded.start_operator()
    embedded.apply(headroom("burst", cpu=1, replicas=2))
    embedded.until_slots("burst", "0", "1")
    return embedded


def test_a_template_that_fits_only_in_its_place_is_rolled_under_a_latch(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(headroom("burst", cpu=2, replicas=2))
    world.until_slots("burst", "0", "1")
    world.apply(*(pod(f"rival-{number}", cpu=2) for number in range(2)))
    world.pass_time(2)
    smaller = {"resources": {"requests": {"cpu": "1"}}}
    world.patch("Headroom", "burst", {"spec": {"slot": {"template": smaller}}})
    world.until("all are smaller", lambda: cpu_of(world, "burst") == ["1", "1"], 120)
    world.until_slots("burst", "0", "1")
    world.pass_time(10)
    assert len([number for number in range(2) if world.node_of(f"rival-{number}")]) == 1


def test_a_template_that_grows_into_the_free_room_beside_it_is_rolled(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, size={"perNode": {"slots": 1}}))
    world.until_slots("burst", "a")
    larger = {"resources": {"requests": {"cpu": "2"}}}
    world.patch("Headroom", "burst", {"spec": {"slot": {"template": larger}}})
    world.until("it is larger", lambda: cpu_of(world, "burst") == ["2"], 60)
    world.until_slots("burst", "a")
    world.until_nothing_is_left()


def test_a_slot_that_cannot_grow_after_all_stays_as_it_is(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, size={"perNode": {"slots": 1}}))
    world.until_slots("burst", "a")
    before = identities(world, "burst")["a"]
    larger = {"resources": {"requests": {"cpu": "2"}}}
    world.patch("Headroom", "burst", {"spec": {"slot": {"template": larger}}})
    world.until("a latch stands", lambda: bool(world.ours("latch")))
    world.apply(pod("static", cpu=1, nodeName="a"))  # No scheduler is asked.
    world.until_runs("static")
    world.pass_time(60)
    standing = [one for one in world.slots("burst")["a"] if one["spec"].get("nodeName")]
    assert [one["metadata"]["uid"] for one in standing] == [before[1]]
    assert world.running("static")
    assert not world.ours("latch")


def test_a_node_too_small_for_the_new_template_does_not_stop_the_others(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    world.add_node("a", cpu=1)
    world.add_node("b", cpu=8)
    world.add_node("c", cpu=8)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, size={"perNode": {"slots": 1}}))
    world.until_slots("burst", "a", "b", "c")
    larger = {"resources": {"requests": {"cpu": "2"}}}
    world.patch("Headroom", "burst", {"spec": {"slot": {"template": larger}}})
    world.until("those that can be are larger", lambda: cpu_of(world, "burst").count("2") >= 2, 60)
    world.pass_time(30)
    assert sorted(world.held("burst")) == ["a", "b", "c"]
    message = world.condition_of("burst", of="Headroom")["message"]
    assert "Insufficient cpu" in message


def test_who_finds_no_slot_is_counted_as_a_miss(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=2))
    world.until_slots("burst", "0", "1")
    world.apply(*(pod(f"owner-{number}", cpu=1, app="web", ours=True) for number in range(2)))
    world.until(
        "its slots are taken and have no room",
        lambda: world.condition_of("burst", "Degraded", "Headroom").get("status") == "True",
    )
    assert world.status("burst")["claimed"] == world.status("burst")["hits"] == 2
    world.apply(pod("late", cpu=1, app="web", gated=True))
    world.until("it is counted", lambda: world.status("burst").get("misses") == 1)
    assert world.claim_of("late") == ""


@pytest.mark.parametrize("embedded", [1], indirect=True)
@pytest.mark.parametrize("pause", [0.0, 0.01, 0.3, 2.0])
@DOORS
def test_a_refill_never_takes_the_room_of_an_owner(
    embedded: EmbeddedWorld, door: str, pause: float
) -> None:
    """Guardians outrank owners: one that waits would win every free bit of room."""
    world = embedded
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until_slots("burst", "0", "1", "2")
    for number in range(3):
        world.apply(pod(f"owner-{number}", cpu=1, app="web", **{door: True}))
        world.pass_time(pause)
    for number in range(3):
        world.until_runs(f"owner-{number}", on="a")
    world.until("all were given", lambda: world.status("burst").get("claimed") == 3)


def test_where_nothing_is_refilled_a_claimed_slot_is_used_up(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a", cpu=6)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3, refill="Never"))
    world.until_slots("burst", "0", "1", "2")
    world.apply(pod("owner", cpu=1, app="web", ours=True))
    world.until_runs("owner")
    used = (world.get("Pod", "owner") or {})["metadata"]["annotations"][CLAIMED_SLOT]
    left = sorted({"0", "1", "2"} - {used})
    world.until_slots("burst", *left)
    world.delete("Pod", "owner")
    world.kill_operator()
    world.start_operator()
    world.pass_time(30)
    assert sorted(world.held("burst")) == left
    assert world.status("burst")["spent"] == [used]
    world.scale("Headroom", "burst", 2)
    world.until_slots("burst", left[0])


def test_a_slot_is_renewed_when_its_time_is_over(embedded: EmbeddedWorld) -> None:
    world = embedded
    world.add_node("a", cpu=6)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3, slotLifetime="10m"))
    world.until_slots("burst", "0", "1", "2")
    before = identities(world, "burst")
    fewest = Fewest(world, "burst")
    world.pass_time(590)
    assert identities(world, "burst") == before
    world.pass_time(60)
    world.until_slots("burst", "0", "1", "2")
    after = identities(world, "burst")
    assert not {uid for _, uid in after.values()} & {uid for _, uid in before.values()}
    assert fewest.count == 3


def test_a_slot_that_is_not_refilled_is_dropped_when_its_time_is_over(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    world.add_node("a", cpu=6)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=2, slotLifetime="10m", refill="Never"))
    world.until_slots("burst", "0", "1")
    world.pass_time(595)
    assert sorted(world.held("burst")) == ["0", "1"]
    world.pass_time(10)
    world.until_slots("burst")
    assert world.status("burst")["spent"] == ["0", "1"]


def test_a_slot_that_has_no_room_says_so_and_is_held_when_there_is(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    world.add_node("a", cpu=2)
    world.start_operator()
    world.apply(headroom("burst", cpu=1, replicas=3))
    world.until(
        "it says why",
        lambda: "Insufficient cpu" in world.condition_of("burst", of="Headroom").get("message", ""),
    )
    assert sorted(world.held("burst")) == ["0", "1"]
    assert world.condition_of("burst", "Degraded", "Headroom")["status"] == "True"
    before = len(world.sim.writes)
    world.pass_time(600)
    writes = [write for _, write, _ in world.sim.writes[before:]]
    assert [str(write) for write in writes if write.resource.kind != "ClaimIndex"] == []
    world.add_node("b", cpu=2)
    world.until_slots("burst", "0", "1", "2")
    assert world.condition_of("burst", "Degraded", "Headroom")["status"] == "False"


def test_a_stranger_under_a_guardians_name_is_told_and_outwaited(alone: EmbeddedWorld) -> None:
    names = {slot: name for slot, (name, _) in identities(alone, "burst").items()}
    alone.scale("Headroom", "burst", 1)
    alone.until_slots("burst", "0")
    alone.apply(pod(names["1"], cpu=1))
    alone.until_runs(names["1"])
    alone.scale("Headroom", "burst", 2)
    alone.until(
        "it says who is in the way",
        lambda: names["1"] in alone.condition_of("burst", of="Headroom").get("message", ""),
    )
    assert alone.running(names["1"])
    alone.delete("Pod", names["1"])
    alone.until_slots("burst", "0", "1", seconds=200)
