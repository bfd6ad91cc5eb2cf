"""Which objects of slots are made, updated and deleted, as values."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.memory import HeadroomMemory, ObjectsMemory
from headroom.core.headrooms.slot_objects import ObjectsDecision, decide
from headroom.core.headrooms.slot_values import Membership, SlotObjects
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, hold
from tests.core.headroom_builder import headroom

SECOND = timedelta(seconds=1)
OBJECTS = SlotObjects("korder.dev/v1", "Ticket", revision="2")


def wanting(count: int, **parts: object) -> Headroom:
    return replace(headroom(Replicas(count)), slot_objects=OBJECTS, **parts)  # type: ignore[arg-type]  # any


def decided(
    of: Headroom,
    *members: Hold,
    objects: ObjectsMemory = ObjectsMemory(),  # noqa: B008  # frozen
    names: tuple[str, ...] = (),
    after: timedelta = timedelta(),
) -> ObjectsDecision:
    memory = HeadroomMemory(wish(of, SizeView(ActiveWindow(of.size)), NOON), objects=objects)
    there = {each.member.slot: each for each in members if each.member is not None}
    return decide(of, memory, there, names, NOON + after)


def member(of: Headroom, slot: str, revision: str = "2") -> Hold:
    return replace(hold(f"ticket-{slot}"), member=Membership(of.parent, slot, revision))


def test_what_is_missing_is_made_and_what_is_too_many_is_deleted() -> None:
    two = wanting(2)
    assert [each.slot for each in decided(two).make] == ["0", "1"]
    there = (member(two, "0"), member(two, "1"), member(two, "2"))
    assert decided(two, *there).dismiss == (there[2],)
    assert decided(two, *there).make == ()


def test_an_object_of_an_older_template_is_updated() -> None:
    one = wanting(1)
    decision = decided(one, member(one, "0", revision="1"))
    assert [each.slot for each in decision.update] == ["0"]
    assert decided(one, member(one, "0")).update == ()


def test_an_object_that_was_written_counts_until_it_should_have_come() -> None:
    one = wanting(1)
    (create,) = decided(one).make
    expected = ObjectsMemory(expected={"0": (create.hold, NOON + SECOND)})
    assert decided(one, objects=expected).make == ()
    late = decided(one, objects=expected, after=SECOND)
    assert (late.lost, [each.slot for each in late.make]) == ((create.hold,), ["0"])
    assert late.memory.expected == {}


def test_a_name_that_a_stranger_has_is_free_again_when_that_one_goes() -> None:
    one = wanting(1)
    taken = ObjectsMemory(taken=("0",))
    (stranger,) = decided(one).make
    names = (stranger.hold.parent.identity,)
    assert [each.slot for each in decided(one, objects=taken, names=names).make] == ["1"]
    assert [each.slot for each in decided(one, objects=taken).make] == ["0"]


def test_a_headroom_that_is_paused_or_closed_makes_none() -> None:
    assert decided(wanting(1, paused=True)) == ObjectsDecision(ObjectsMemory())
    assert decided(wanting(1, closes=NOON)).make == ()
