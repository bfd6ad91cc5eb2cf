"""The dataclass of `core.fast_replace` gives the same values as that of the library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from headroom.core.fast_replace import dataclass
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


def test_a_value_has_its_fields_and_no_others_and_says_that_it_is_frozen() -> None:
    value: Any = Ours("a")
    with pytest.raises(AttributeError):
        value.other = 1
    assert Ours.__dict__["__dataclass_params__"].frozen
