"""The slots of a headroom that follows pods: shape, names and what is told of owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headroom.core.demand.followers import Followed, FollowerSlot, Following
from headroom.core.headrooms.headrooms import Limits
from headroom.core.headrooms.wanted_slots import SizeView, WantedSlots, surplus, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.sizes.follow import Follow, beside_slots, owner_label, troubles
from tests.builders import NOON, pod, resources
from tests.core.headroom_builder import headroom, shape

SIZE = Follow("example.com/gate")
HEADROOM = headroom(SIZE)
PARENT = HEADROOM.parent


def owner(name: str = "owner", node: str = "") -> Pod:
    return replace(pod(name, 1, node=node), uid=f"uid-of-{name}")


def needs(*parts: str, of: Pod | None = None) -> Followed:
    return Followed(of or owner(), Following(tuple(FollowerSlot(part) for part in parts)))


def wished(
    *followed: Followed, spent: frozenset[str] = frozenset(), **parts: object
) -> WantedSlots:
    made = replace(HEADROOM, **parts)  # type: ignore[arg-type]  # any field of a headroom
    return wish(made, SizeView(ActiveWindow(SIZE), followed=followed, spent=spent), NOON)


def slots(*followed: Followed) -> Iterator[Hold]:
    view = SizeView(ActiveWindow(SIZE), followed=followed)
    return beside_slots(HEADROOM, SIZE, shape(2), view)


def test_slots_are_named_after_their_owner_and_part() -> None:
    names = [hold.slot for hold in wished(needs("0", "1"), needs("0", of=owner("b"))).slots]
    assert names == ["uid-of-owner/0", "uid-of-owner/1", "uid-of-b/0"]


def test_each_headroom_has_a_label_of_its_own() -> None:
    other = replace(PARENT, name="other")
    assert owner_label(PARENT, SIZE) != owner_label(other, SIZE)
    assert owner_label(PARENT, SIZE).startswith("headroom.dev/beside-")


def test_a_slot_goes_where_the_pod_with_its_label_is_and_beside_what_the_template_says() -> None:
    (slot,) = slots(needs("0"))
    (term,) = slot.template.pod.placement.pod_affinity.required
    assert term == slot.template.beside
    assert term.topology_key == "kubernetes.io/hostname"
    assert slot.template.pod.requests == resources(cpu=2)


def test_a_slot_of_its_own_size_is_of_another_shape() -> None:
    large = Followed(owner(), Following((FollowerSlot("0", resources(cpu=3)),)))
    (plain,) = slots(needs("0"))
    (other,) = slots(large)
    assert other.template.pod.requests == resources(cpu=3)
    assert other.template.shape != plain.template.shape


def test_a_slot_waits_as_long_as_its_owner_has_no_node() -> None:
    waiting, placed = needs("0"), needs("0", of=owner("b", node="a"))
    assert [hold.awaits for hold in wished(waiting, placed).slots] == ["default/owner", ""]


def test_a_claimed_slot_is_not_held_again() -> None:
    made = wished(needs("0", "1"), spent=frozenset({"uid-of-owner/0"}))
    assert [hold.slot for hold in made.slots] == ["uid-of-owner/1"]


def test_a_slot_that_another_one_serves_is_not_wished_for_and_that_is_said() -> None:
    sight = SizeView(
        ActiveWindow(SIZE),
        followed=(needs("0", "1"),),
        covered_by_others=(("uid-of-owner/0", "Headroom/default/spare#a has room on a"),),
    )
    made = wish(HEADROOM, sight, NOON)
    assert [hold.slot for hold in made.slots] == ["uid-of-owner/1"]
    assert made.notes[0].reason == "RoomBeside"
    assert made.notes[0].message == "uid-of-owner/0: Headroom/default/spare#a has room on a"


def test_limits_hold_for_slots_that_follow_too() -> None:
    made = wished(needs("0", "1", "2"), limits=Limits(slots=2))
    assert (len(made.slots), made.asked) == (2, 3)
    assert made.notes[0].reason == "LimitReached"


def test_while_paused_what_stands_is_kept_as_it_is() -> None:
    made = replace(HEADROOM, paused=True)
    sight = SizeView(
        ActiveWindow(SIZE), standing=frozenset({"uid-of-owner/0"}), followed=(needs("0", "1"),)
    )
    slots = wish(made, sight, NOON).slots
    assert [hold.slot for hold in slots] == ["uid-of-owner/0"]
    assert slots[0].template.beside is not None


def test_a_slot_whose_owner_is_gone_is_given_back() -> None:
    sight = SizeView(ActiveWindow(SIZE), standing=frozenset({"uid-of-owner/0"}))
    assert surplus(HEADROOM, wish(HEADROOM, sight, NOON), sight) == ("uid-of-owner/0",)


def test_the_first_troubles_are_told_by_name_and_the_others_counted() -> None:
    bad = Following(reason="CannotFollow", message="no such claim")
    told = troubles(Followed(owner(name), bad) for name in ("a", "b", "c"))
    assert told == "pod default/a: no such claim; pod default/b: no such claim; and 1 more"
    assert troubles((needs("0"),)) == ""
