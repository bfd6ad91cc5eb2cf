"""Reservations end to end: what Koordinator's own tests tell, on guardians that all can see."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.stories.reservations import (
    PREFIX,
    EmbeddedReservations,
    RealReservations,
    owner,
    reservation,
)
from tests.stories.things import Json, pod
from tests.stories.world import World

ALLOCATED = f"{PREFIX}/reservation-allocated"


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedReservations | RealReservations
    if request.param == "embedded":
        here = EmbeddedReservations()
    else:
        here = RealReservations(request.getfixturevalue("story_plane"))
    yield here
    here.close()


def status(world: World, name: str) -> Json:
    return dict((world.get("Reservation", name) or {}).get("status", {}))


def phase(world: World, name: str) -> str:
    return str(status(world, name).get("phase", ""))


def allocation(world: World, name: str) -> str:
    """The name of the Reservation that a pod says it got."""
    found = world.get("Pod", name) or {}
    text = found["metadata"].get("annotations", {}).get(ALLOCATED)
    return str(json.loads(text)["name"]) if text else ""


def until_available(world: World, *names: str) -> None:
    world.until(
        f"reservations {', '.join(names)} available",
        lambda: all(phase(world, name) == "Available" for name in names),
    )


def ready(told: Json) -> tuple[str, str]:
    (condition,) = (each for each in told["conditions"] if each["type"] == "Ready")
    return condition["status"], condition["reason"]


@pytest.mark.every_version
def test_a_once_reservation_is_used_up_by_its_owner(world: World) -> None:
    world.add_node("a", cpu=4)
    world.add_node("b", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=2, memory="2Gi"))
    until_available(world, "r")
    where = status(world, "r")["nodeName"]
    world.apply(owner("p", cpu=1, memory="1Gi"))
    world.until_runs("p", on=where)
    world.until("it has succeeded", lambda: phase(world, "r") == "Succeeded")
    told = status(world, "r")
    assert allocation(world, "p") == "r"
    assert ready(told) == ("False", "Succeeded")
    assert told["allocatable"] == {"cpu": "2", "memory": "2Gi"}
    assert told["allocated"] == {"cpu": "1", "memory": "1Gi"}
    assert [each["name"] for each in told["currentOwners"]] == ["p"]
    world.delete("Pod", "p")
    world.pass_time(5)
    assert phase(world, "r") == "Succeeded"


def test_a_reservation_for_many_stays_available(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(reservation("r", cpu=4, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", cpu=2), owner("q", cpu=2))
    world.until_runs("p", on="a")
    world.until_runs("q", on="a")
    world.until("both are told", lambda: len(status(world, "r").get("currentOwners", ())) == 2)
    told = status(world, "r")
    assert (told["phase"], told["allocated"]) == ("Available", {"cpu": "4"})
    assert ready(told) == ("True", "Available")
    world.until_nothing_is_left()


def test_a_stranger_waits_while_the_room_is_reserved(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=4))
    until_available(world, "r")
    world.apply(owner("stranger", cpu=4, app="other"), pod("default", cpu=4))
    world.pass_time(10)
    assert (world.node_of("stranger"), world.node_of("default")) == ("", "")
    conditions = (world.get("Pod", "stranger") or {})["status"]["conditions"]
    assert ("PodScheduled", "False") in [(each["type"], each["status"]) for each in conditions]


def test_owners_do_not_count_twice_against_another_reservation(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=2, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", cpu=2))
    world.until_runs("p", on="a")
    world.apply(reservation("second", cpu=2, app="other"))
    until_available(world, "second")
    assert status(world, "second")["nodeName"] == "a"


def test_an_owner_with_affinity_runs_in_a_matching_reservation_or_not_at_all(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(reservation("r", cpu=2, labels={"usable": "true"}))
    until_available(world, "r")
    world.apply(owner("no", cpu=1, affinity={"reservationSelector": {"usable": "false"}}))
    world.pass_time(10)
    assert world.node_of("no") == ""
    world.apply(owner("yes", cpu=1, affinity={"reservationSelector": {"usable": "true"}}))
    world.until_runs("yes", on="a")
    assert allocation(world, "yes") == "r"


def test_a_waiting_owner_is_bound_when_its_reservation_becomes_available(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(owner("p", cpu=1, affinity={}))
    world.pass_time(20)
    assert world.node_of("p") == ""
    world.apply(reservation("r", cpu=1))
    world.until_runs("p", on="a", seconds=2)
    assert allocation(world, "p") == "r"


def test_restricted_owners_get_what_is_left_and_no_more(world: World) -> None:
    world.add_node("a", cpu=8, memory="16Gi")
    world.start_operator()
    world.apply(
        reservation("r", 4, memory="8Gi", allocateOnce=False, allocatePolicy="Restricted"),
    )
    until_available(world, "r")
    for name, cpu, memory in (("p", 2, "2Gi"), ("q", 2, "2Gi"), ("s", 0, "3Gi")):
        world.apply(owner(name, cpu, memory=memory))
        world.until_runs(name, on="a")
        assert allocation(world, name) == "r"
    world.apply(owner("bound", 0, memory="2Gi", affinity={"name": "r"}))
    world.apply(owner("loose", 0, memory="2Gi"))
    world.until_runs("loose", on="a")
    world.pass_time(5)
    assert (allocation(world, "loose"), world.node_of("bound")) == ("", "")
    world.until("all is told", lambda: len(status(world, "r")["currentOwners"]) == 3)
    assert status(world, "r")["allocated"] == {"cpu": "4", "memory": "7Gi"}


def test_aligned_owners_also_take_free_room_and_strangers_are_never_oversold(world: World) -> None:
    world.add_node("a", cpu=10)
    world.start_operator()
    world.apply(pod("others", cpu=2), reservation("r", 4, allocateOnce=False))
    until_available(world, "r")
    for name, cpu in (("p", 2), ("q", 5)):
        world.apply(owner(name, cpu))
        world.until_runs(name, on="a")
        assert allocation(world, name) == "r"
    world.apply(pod("stranger", cpu=2), owner("ours", cpu=2, app="other"), pod("one", cpu=1))
    world.until_runs("one", on="a")
    world.pass_time(10)
    assert (world.node_of("stranger"), world.node_of("ours")) == ("", "")
    assert status(world, "r")["allocated"] == {"cpu": "7"}
    assert status(world, "r")["allocatable"] == {"cpu": "4"}


def test_two_reservations_are_never_combined(world: World) -> None:
    world.add_node("a", cpu=10)
    world.start_operator()
    world.apply(pod("others", cpu=6), reservation("r1", 2), reservation("r2", 2))
    until_available(world, "r1", "r2")
    world.apply(owner("p", cpu=3))
    world.pass_time(10)
    assert world.node_of("p") == ""


def test_each_of_three_equal_reservations_is_used_once(world: World) -> None:
    world.add_node("a", cpu=3)
    world.start_operator()
    world.apply(*(reservation(f"r{number}", 1) for number in range(3)))
    until_available(world, "r0", "r1", "r2")
    world.apply(*(owner(f"p{number}", 1, affinity={}) for number in range(3)))
    for number in range(3):
        world.until_runs(f"p{number}", on="a")
    got = sorted(allocation(world, f"p{number}") for number in range(3))
    assert got == ["r0", "r1", "r2"]


def test_the_lowest_order_is_chosen_first(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    ordered = {f"{PREFIX}/reservation-order": "123456"}
    world.apply(reservation("a", 1), reservation("z", 2, labels=ordered))
    until_available(world, "a", "z")
    world.apply(owner("p", 1))
    world.until_runs("p")
    assert allocation(world, "p") == "z"


def test_a_tainted_reservation_lets_who_says_nothing_in(world: World) -> None:
    """Koordinator's own tests rely on it."""
    world.add_node("a", cpu=8)
    world.start_operator()
    taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    world.apply(reservation("r", 1, taints=taints))
    until_available(world, "r")
    world.apply(owner("deaf", 1, affinity={}))
    world.pass_time(5)
    assert world.node_of("deaf") == ""
    world.apply(owner("p", 1))
    world.until_runs("p")
    assert allocation(world, "p") == "r"


def test_taints_keep_out_who_says_nothing_where_the_operator_takes_the_guide_at_its_word(
    world: World,
) -> None:
    world.add_node("a", cpu=8)
    world.start_operator(taints_bind_all=True)
    taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    world.apply(reservation("r", 1, taints=taints))
    until_available(world, "r")
    world.apply(owner("silent", 1))
    world.until_runs("silent")
    assert allocation(world, "silent") == ""
    tolerations = [{"key": "k", "operator": "Exists"}]
    world.apply(owner("tolerant", 1, tolerations=tolerations))
    world.until_runs("tolerant")
    assert allocation(world, "tolerant") == "r"


def test_deleting_a_reservation_leaves_its_owner_running_and_frees_its_room(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=4, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", cpu=1))
    world.until_runs("p", on="a")
    world.apply(owner("stranger", cpu=3, app="other"))
    world.pass_time(5)
    assert world.node_of("stranger") == ""
    world.delete("Reservation", "r", "")
    world.until_runs("stranger", on="a", seconds=3)
    assert world.running("p")
    assert allocation(world, "p") == "r"


@pytest.mark.parametrize("bad", [{"ttl": "banana"}, {"template": "x"}])
def test_one_object_that_cannot_be_read_stops_nobody(world: World, bad: Json) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    poison = reservation("poison", 1)
    poison["spec"].update(bad)
    world.apply(poison, reservation("r", 1))
    until_available(world, "r")
    world.until("it is told", lambda: bool(status(world, "poison").get("conditions")))
    (told,) = status(world, "poison")["conditions"]
    assert (told["type"], told["status"], told["reason"]) == ("Scheduled", "False", "InvalidSpec")
    assert next(iter(bad)) in told["message"]


def test_one_that_never_got_a_node_expires_too(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=8, ttl="10s"))
    world.until("it is unschedulable", lambda: bool(status(world, "r").get("conditions")))
    world.until("it has failed", lambda: phase(world, "r") == "Failed")
    assert ready(status(world, "r")) == ("False", "Expired")


def test_a_pod_of_another_namespace_does_not_get_in_by_its_labels(world: World) -> None:
    world.add_node("a", cpu=4)
    world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "there"}})
    world.start_operator()
    world.apply(reservation("r", cpu=3))
    until_available(world, "r")
    world.apply(owner("p", cpu=1, namespace="there"))
    world.until("it runs on free room", lambda: world.running("p", "there"))
    found = world.get("Pod", "p", "there") or {}
    assert ALLOCATED not in found["metadata"].get("annotations", {})
    assert phase(world, "r") == "Available"


def test_a_reservation_ends_with_its_node(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=3, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", cpu=1))
    world.until_runs("p", on="a")
    world.add_node("b", cpu=4)
    world.delete("Node", "a")
    world.until("it has failed", lambda: phase(world, "r") == "Failed")
    assert ready(status(world, "r")) == ("False", "Expired")
    assert status(world, "r")["nodeName"] == "a"


def test_one_made_anew_under_an_old_name_is_another(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=2, allocateOnce=False))
    until_available(world, "r")
    world.apply(owner("p", cpu=1))
    world.until_runs("p", on="a")
    for _ in range(3):
        world.delete("Reservation", "r", "")
        world.apply(reservation("r", cpu=2, allocateOnce=False))
        until_available(world, "r")
    world.pass_time(2)
    assert not status(world, "r").get("currentOwners")
    assert len([each for each in world.ours("guardian") if each["spec"].get("nodeName")]) == 1


def test_an_operator_that_starts_anew_knows_who_uses_what(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=3, allocateOnce=False), reservation("once", cpu=1, app="one"))
    until_available(world, "r", "once")
    world.apply(owner("p", cpu=1), owner("q", cpu=1, app="one"))
    world.until_runs("p", on="a")
    world.until_runs("q", on="a")
    world.until("p is told", lambda: bool(status(world, "r").get("currentOwners")))
    world.until("q has it", lambda: phase(world, "once") == "Succeeded")
    before = status(world, "r")
    world.kill_operator()
    world.start_operator()
    world.pass_time(3)
    assert status(world, "r") == before
    assert phase(world, "once") == "Succeeded"


def test_what_is_odd_is_told_and_held_all_the_same(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=1, expires="2999-01-01T00:00:00Z"))
    until_available(world, "r")
    (told,) = (each for each in status(world, "r")["conditions"] if each["type"] == "Ready")
    assert (told["status"], told["reason"]) == ("True", "Available")
    assert told["message"].startswith("spec.expires: is after the end of ttl 24h")


def with_port(thing: Json, *ports: int) -> Json:
    """The same pod or Reservation, its container on these ports of the host."""
    spec = thing["spec"].get("template", thing)["spec"]
    spec["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    return thing


def test_each_host_port_of_a_reservation_is_given_once(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(with_port(reservation("r", cpu=4, allocateOnce=False), 54321, 54322))
    until_available(world, "r")
    world.apply(with_port(owner("thief", cpu=1, app="other"), 54321))
    world.pass_time(3)
    assert world.node_of("thief") == ""
    world.apply(with_port(owner("p", cpu=1), 54321))
    world.until_runs("p", on="a")
    world.apply(with_port(owner("late", cpu=1), 54321))
    world.apply(with_port(owner("q", cpu=1), 54322))
    world.until_runs("q", on="a")
    world.pass_time(3)
    assert world.node_of("late") == ""
    assert (allocation(world, "p"), allocation(world, "q")) == ("r", "r")
    guardians = [each for each in world.ours("guardian") if each["spec"].get("nodeName")]
    assert [each["spec"]["containers"][0].get("ports", []) for each in guardians] == [[]]
    world.delete("Pod", "p")
    world.until_runs("late", on="a")


def test_required_anti_affinity_of_the_template_keeps_others_away_and_lets_its_owner_in(
    world: World,
) -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "web"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    world.add_node("a", cpu=4, labels={"kubernetes.io/hostname": "a"})
    world.start_operator()
    world.apply(reservation("r", 2, template={"affinity": apart}, labels={"app": "web"}))
    until_available(world, "r")
    world.apply(pod("stranger", cpu=1, app="web", affinity=apart))
    world.pass_time(3)
    assert world.node_of("stranger") == ""
    world.delete("Pod", "stranger")
    world.apply(owner("p", cpu=1, placing={"affinity": apart}))
    world.until_runs("p", on="a")
    assert allocation(world, "p") == "r"


def test_a_pod_that_ignores_reservations_uses_reserved_room_and_owns_nothing(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=4))
    until_available(world, "r")
    ignoring = owner("p", cpu=1)
    ignoring["metadata"]["labels"][f"{PREFIX}/reservation-ignored"] = "true"
    world.apply(ignoring)
    world.until_runs("p", on="a")
    assert allocation(world, "p") == ""
    world.until("it says so", lambda: len(status(world, "r").get("conditions", ())) == 3)
    told = status(world, "r")
    assert (told["phase"], told.get("currentOwners")) == ("Available", None)
    assert (told["conditions"][2]["type"], told["conditions"][2]["reason"]) == (
        "Degraded",
        "PartiallyHeld",
    )
    world.delete("Pod", "p")
    world.until("it is whole again", lambda: len(status(world, "r")["conditions"]) == 2)


def test_owners_without_a_door_are_told_until_they_have_one(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(reservation("r", cpu=1), pod("web-1", 1, "web"))

    def said() -> str:
        told = status(world, "r").get("conditions", ())
        return "".join(each["message"] for each in told if each["type"] == "OwnersWithoutDoor")

    world.until("it names the pod", lambda: "pod default/web-1 is meant" in said())
    world.until("an event tells it", lambda: len(world.events("OwnersWithoutDoor", "r")) == 1)
    written = (world.get("Reservation", "r") or {})["metadata"]["resourceVersion"]
    world.pass_time(5)
    assert (world.get("Reservation", "r") or {})["metadata"]["resourceVersion"] == written
    world.delete("Pod", "web-1")
    world.until("it is silent", lambda: not said())
