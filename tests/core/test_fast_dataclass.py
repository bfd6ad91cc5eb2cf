"""The dataclass of `core.fast_dataclass` gives the same values as that of the library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from headroom.core.fast_dataclass import changes, dataclass
from headroom.core.objects import Condition, Placement
from tests.builders import hold, node, pod


@dataclass(frozen=True, slots=True)
class Ours:
    name: str
    parts: tuple[int, ...] = ()
    made: int = field(default=7, init=False, compare=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    name: str
    parts: tuple[int, ...] = ()
    made: int = field(default=7, init=False, compare=False)


@dataclass(frozen=True, slots=True)
class Hashed:
    name: str

    def __hash__(self) -> int:
        return 1


def test_values_compare_and_hash_as_those_of_the_library() -> None:
    assert Ours("a", (1,)) == Ours("a", (1,)) != Ours("a", (2,))
    assert hash(Ours("a", (1,))) == hash(Theirs("a", (1,)))
    assert hash(Hashed("a")) == 1
    assert repr(Ours("a")) == repr(Theirs("a")).replace("Theirs", "Ours")
    assert dataclasses.fields(Ours)[2].name == dataclasses.fields(Theirs)[2].name


@pytest.mark.parametrize("value", [pod("p"), hold("h"), node("n"), Condition("R", "True", "x")])
def test_a_value_can_be_copied(value: Any) -> None:
    assert copy.copy(value) == value


def test_a_value_survives_a_pickle() -> None:
    value = Placement(node_selector=(("a", "b"),))
    again = pickle.loads(pickle.dumps(value))
    assert again == value
    assert hash(again) == hash(value)


@dataclass(slots=True)
class Changing:
    name: str


@dataclass(frozen=True, slots=True)
class Child(Ours):
    more: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Unique:
    name: str


def test_a_value_has_its_fields_and_no_others() -> None:
    value: Any = Ours("a")
    with pytest.raises(AttributeError):
        value.other = 1


def test_only_what_may_change_says_so() -> None:
    assert changes(Changing("a"))
    assert not any(map(changes, (Ours("a"), Child("a"), Unique("a"), Theirs("a"), "a", None)))


def test_a_value_may_inherit_from_another() -> None:
    assert Child("a", more="b") == Child("a", more="b") != Child("a")
    assert hash(Child("a", more="b")) == hash(Child("a", more="b"))


def test_a_value_without_equality_is_only_itself() -> None:
    assert Unique("a") != Unique("a")
    assert len({Unique("a"), Unique("a")}) == 2
