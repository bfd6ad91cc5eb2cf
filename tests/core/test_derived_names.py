"""Names that we make: stable, safe, short, and never shared by two that differ."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from headroom.core import derived_names
from headroom.core.derived_names import (
    LIMIT,
    MOST_NAMES,
    dns_label,
    forget_names,
    guardian_name,
    guardian_names,
    hashed,
    label_value,
)
from headroom.core.holds import Hold, PodTemplate
from headroom.core.objects import Key, Parent, Pod

DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?")


def hold(name: str, uid: str = "u", slot: str = "") -> Hold:
    parent = Parent("headroom.dev/v1alpha1", "Hold", "ml", name, uid, slot)
    return Hold(parent, PodTemplate(Pod(Key("ml", ""))))


def test_a_short_name_is_kept_and_a_long_one_ends_with_its_hash() -> None:
    assert hashed("web") == "web"
    long = "a" * 100
    assert len(hashed(long)) == LIMIT
    assert hashed(long) != hashed(long + "b")


def test_the_guardian_of_a_hold_has_one_name_for_ever() -> None:
    assert guardian_name(hold("nightly")) == guardian_name(hold("nightly"))
    assert guardian_name(hold("nightly")).startswith("nightly-")


def test_a_namesake_made_later_has_another_guardian() -> None:
    assert guardian_name(hold("nightly", "u1")) != guardian_name(hold("nightly", "u2"))


def test_the_slots_of_one_parent_have_guardians_of_their_own() -> None:
    assert guardian_name(hold("web", slot="0")) != guardian_name(hold("web", slot="1"))


def test_names_that_differ_only_where_they_are_unsafe_stay_apart() -> None:
    assert dns_label("a.b") != dns_label("a-b")
    assert label_value("x" * 80) != label_value("x" * 81)


@given(st.text(max_size=300), st.text(max_size=5))
def test_every_name_gives_a_safe_guardian_name_and_label(name: str, uid: str) -> None:
    made = guardian_name(hold(name, uid))
    assert DNS_LABEL.fullmatch(made)
    assert len(made) <= LIMIT
    value = label_value(name)
    assert LABEL_VALUE.fullmatch(value)
    assert len(value) <= LIMIT


def test_a_name_that_may_stand_as_a_label_does() -> None:
    assert label_value("Web_1.x") == "Web_1.x"
    assert label_value("") == ""


def test_only_the_parent_and_the_slot_make_the_name() -> None:
    plain = hold("nightly")
    assert guardian_name(replace(plain, allocate_once=False, version="9")) == guardian_name(plain)


def test_names_are_remembered_until_their_hold_is_gone() -> None:
    before, some = len(derived_names._names), hold("remembered", slot="7")
    first = guardian_names(some)
    assert len(derived_names._names) == before + 1
    assert guardian_names(some) is first
    forget_names(some)
    assert len(derived_names._names) == before
    assert guardian_names(some) == first
    forget_names(some)


def test_only_so_many_names_are_remembered() -> None:
    for number in range(MOST_NAMES + 100):
        guardian_names(hold("many", slot=str(number)))
        assert len(derived_names._names) <= MOST_NAMES
