"""Slots for what follows a gated pod, and when it is released."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from headroom.core.demand.followers import (
    FixedCount,
    Following,
    FromAnnotation,
    PerVolume,
    beside,
    followed,
    owner_uid,
    slot_of,
)
from headroom.core.demand.volumes import Binding, Mount, Volume
from headroom.core.objects import Pod
from headroom.core.selection import matches
from headroom.core.sizes.follow import Follow
from tests.builders import NOON, pod, resources

GATE = "s3.example.com/reserve"
DRIVER = "s3.example.com"
SIZES = PerVolume(
    DRIVER,
    requests=(("cpu", "requestsCpu"), ("memory", "requestsMemory")),
    limits=(("cpu", "limitsCpu"), ("memory", "limitsMemory")),
)
RULE = Follow(GATE, PerVolume(DRIVER))
NONE: frozenset[str] = frozenset()


def owner(**parts: Any) -> Pod:
    return pod("workload", cpu=1, gates=parts.pop("gates", (GATE,)), **parts)


def volume(name: str, driver: str = DRIVER, **attributes: str) -> Mount:
    return Mount(f"{name}-claim", Binding.BOUND, Volume(name, driver, attributes), driver)


def look(given: Pod, *mounts: Mount, made: frozenset[str] = NONE, late: float = 0) -> Following:
    return followed(given, RULE, mounts, made, NOON + timedelta(seconds=late))


def parts(answer: Following) -> list[str]:
    return [slot.part for slot in answer.slots]


def test_an_owner_is_released_once_every_volume_has_its_slot() -> None:
    first = look(owner(), volume("a"), volume("b"))
    assert (parts(first), first.release, first.reason) == (["a", "b"], False, "SlotsPending")
    assert not look(owner(), volume("a"), volume("b"), made=frozenset("a")).release
    assert look(owner(), volume("a"), volume("b"), made=frozenset("ab")).release


@pytest.mark.parametrize("gates", [(GATE,), ("x/y", GATE), (GATE, "x/y"), ("x/y", GATE, "z/w")])
def test_other_gates_are_of_no_matter(gates: tuple[str, ...]) -> None:
    assert look(owner(gates=gates), volume("a"), made=frozenset("a")).release


@pytest.mark.parametrize("gates", [(), ("x/y",)])
def test_who_is_released_keeps_its_slots_and_lost_ones_are_wished_for_again(
    gates: tuple[str, ...],
) -> None:
    answer = look(owner(gates=gates), volume("a"))
    assert (parts(answer), answer.release, answer.over) == (["a"], False, False)


def test_an_owner_without_volumes_is_released_at_once() -> None:
    answer = look(owner())
    assert (answer.release, answer.slots, answer.reason) == (True, (), "NothingToFollow")


def test_volumes_of_other_drivers_do_not_count() -> None:
    answer = look(owner(), volume("a"), volume("b", "ebs.example.com"), made=frozenset("a"))
    assert parts(answer) == ["a"]
    assert answer.release
    assert look(owner(), volume("b", "ebs.example.com")).reason == "NothingToFollow"


def test_an_unbound_claim_that_may_be_ours_is_waited_for() -> None:
    unbound = Mount("b", Binding.UNBOUND)
    answer = look(owner(), volume("a"), unbound, made=frozenset("a"))
    assert (parts(answer), answer.release, answer.reason) == (["a"], False, "VolumeUnbound")
    assert "claim b" in answer.message
    bound = look(owner(), volume("a"), volume("b"), made=frozenset("a"))
    assert parts(bound) == ["a", "b"]


@pytest.mark.parametrize(
    "mount",
    [
        Mount("b", Binding.WAITS_FOR_POD, driver="ebs.example.com"),
        Mount("b", Binding.WAITS_FOR_POD, driver=DRIVER),
        Mount("b", Binding.UNBOUND, driver="ebs.example.com"),
    ],
)
def test_a_claim_that_waits_for_its_pod_or_is_anothers_is_no_deadlock(mount: Mount) -> None:
    assert look(owner(), volume("a"), mount, made=frozenset("a")).release


def test_what_is_bound_only_after_the_owner_has_a_node_gets_its_slot_then() -> None:
    placed = owner(gates=(), node="n", phase="Pending")
    assert parts(look(placed, volume("a"))) == ["a"]


def test_a_volume_that_does_not_exist_is_told_and_waited_for_until_the_deadline() -> None:
    lost = Mount("b", Binding.MISSING, trouble="claim b does not exist")
    answer = look(owner(), volume("a"), lost, made=frozenset("a"))
    assert (answer.release, answer.reason) == (False, "CannotFollow")
    assert answer.look_again == NOON + timedelta(minutes=5)
    late = look(owner(), volume("a"), lost, made=frozenset("a"), late=300)
    assert (late.release, late.reason, parts(late)) == (True, "DeadlinePassed", ["a"])
    assert "claim b does not exist" in late.message


def test_without_a_deadline_an_owner_waits_for_ever() -> None:
    rule = Follow(GATE, PerVolume(DRIVER), deadline=None)
    answer = followed(owner(), rule, [volume("a")], NONE, NOON + timedelta(days=9))
    assert (answer.release, answer.look_again) == (False, None)


@pytest.mark.parametrize(
    ("state", "over"),
    [
        ({}, False),
        ({"gates": ()}, False),
        ({"gates": (), "node": "n"}, False),
        ({"gates": (), "node": "n", "phase": "Running"}, True),
        ({"gates": (), "node": "n", "phase": "Succeeded"}, True),
        ({"gates": (), "node": "n", "phase": "Failed"}, True),
        ({"gates": (), "node": "n", "phase": "Unknown"}, True),
        ({"deleted": NOON}, True),
        ({"gates": (), "node": "n", "deleted": NOON}, True),
    ],
)
def test_slots_go_when_their_owner_runs_or_ends(state: dict[str, Any], over: bool) -> None:
    answer = look(owner(**state), volume("a"), made=frozenset("a"))
    assert answer.over is over
    assert parts(answer) == ([] if over else ["a"])


@pytest.mark.parametrize(
    ("attributes", "asked"),
    [
        ({"requestsCpu": "500m", "requestsMemory": "1Gi"}, resources("500m", "1Gi")),
        ({"limitsCpu": "2"}, resources(2)),
        ({"requestsCpu": "1", "limitsCpu": "2", "limitsMemory": "1Gi"}, resources(1, "1Gi")),
        ({}, resources()),
    ],
)
def test_a_slot_is_as_large_as_its_volume_says(attributes: dict[str, str], asked: object) -> None:
    rule = Follow(GATE, SIZES)
    answer = followed(owner(), rule, [volume("a", **attributes)], NONE, NOON)
    assert [slot.requests for slot in answer.slots] == [asked]


@pytest.mark.parametrize("key", ["requestsCpu", "requestsMemory", "limitsCpu", "limitsMemory"])
def test_a_size_that_cannot_be_read_is_told_and_makes_no_slot(key: str) -> None:
    bad = volume("a", **{key: "lots"})
    answer = followed(owner(), Follow(GATE, SIZES), [bad, volume("b")], NONE, NOON)
    assert (parts(answer), answer.reason) == (["b"], "CannotFollow")
    assert "volume a" in answer.message


def test_one_volume_behind_two_claims_of_a_pod_gets_one_slot() -> None:
    assert parts(look(owner(), volume("a"), volume("a"))) == ["a"]


def test_a_fixed_number_needs_no_volumes() -> None:
    rule = Follow(GATE, FixedCount(2))
    answer = followed(owner(), rule, [], NONE, NOON)
    assert (parts(answer), answer.release) == (["0", "1"], False)
    assert followed(owner(), rule, [], frozenset("01"), NOON).release


@pytest.mark.parametrize(("text", "count"), [("0", 0), ("3", 3), ("32", 32)])
def test_an_annotation_may_say_how_many(text: str, count: int) -> None:
    rule = Follow(GATE, FromAnnotation("x/slots"))
    answer = followed(owner(annotations={"x/slots": text}), rule, [], NONE, NOON)
    assert len(answer.slots) == count


def test_an_owner_without_the_annotation_is_released() -> None:
    answer = followed(owner(), Follow(GATE, FromAnnotation("x/slots")), [], NONE, NOON)
    assert (answer.release, answer.reason) == (True, "NothingToFollow")


@pytest.mark.parametrize("text", ["-1", "33", "many", "", "1.5", "٣"])
def test_an_annotation_that_is_no_number_is_told(text: str) -> None:
    rule = Follow(GATE, FromAnnotation("x/slots"))
    answer = followed(owner(annotations={"x/slots": text}), rule, [], NONE, NOON)
    assert (answer.release, answer.reason) == (False, "CannotFollow")
    assert "x/slots" in answer.message


def test_a_slot_goes_where_its_owner_goes() -> None:
    given = owner()
    term = beside(given, "headroom.dev/followed")
    assert term.namespaces == (given.key.namespace,)
    assert term.topology_key == "kubernetes.io/hostname"
    assert term.selector is not None
    assert matches(term.selector, {"headroom.dev/followed": given.uid})
    assert not matches(term.selector, {})


def test_a_slot_names_its_owner_by_uid() -> None:
    slot = slot_of(owner(), "pv/with/slashes")
    assert owner_uid(slot) == owner().uid
    assert slot != slot_of(owner(uid="another"), "pv/with/slashes")
