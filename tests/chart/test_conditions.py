"""Conditions in few words, and trees that give back each variant they were made of."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tools.chart.conditions import Combination, cubes, expression, holds
from tools.chart.merging import Fields, Items, Node, Same, Text, merge

SWITCHES = ("a", "b", "c")
ALL = frozenset(
    frozenset(each)
    for each in chain.from_iterable(combinations(SWITCHES, count) for count in range(4))
)
TESTS = {name: f".{name}" for name in SWITCHES}

WORDS = st.text("xy z", max_size=6)
VALUES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def picked(node: Node, combination: Combination) -> Any:
    """What the tree says in one combination."""
    match node:
        case Same(value):
            return value
        case Text(pieces):
            return "".join(text for when, text in pieces if combination in when)
        case Items(items):
            return [picked(item, combination) for when, item in items if combination in when]
        case Fields(fields):
            return {
                name: picked(inner, combination)
                for when, name, inner in fields
                if combination in when
            }


@given(st.sets(st.sampled_from(sorted(ALL, key=sorted)), min_size=1))
@example({frozenset("ab"), frozenset("b"), frozenset("a"), frozenset("bc"), frozenset("ac")})
def test_a_condition_holds_exactly_where_it_should(when: set[Combination]) -> None:
    found = cubes(frozenset(when), ALL)
    assert {each for each in ALL if any(holds(cube, each) for cube in found)} == when


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (lambda on: "a" in on, ".a"),
        (lambda on: "a" not in on, "not .a"),
        (lambda on: {"a", "b"} <= on, "and .a .b"),
        (lambda on: bool({"a", "b"} & on), "or .a .b"),
    ],
)
def test_a_condition_asks_for_what_matters_only(when: Any, said: str) -> None:
    assert expression(frozenset(filter(when, ALL)), ALL, TESTS) == said


@given(st.fixed_dictionaries({each: st.lists(VALUES, max_size=4) for each in ALL}))
def test_a_tree_gives_back_every_list_it_was_made_of(variants: dict[Combination, Any]) -> None:
    try:
        tree = merge(variants)
    except TypeError:
        return  # Lists of lists beside lists of texts: no object of ours is like that.
    assert {each: picked(tree, each) for each in ALL} == variants


@given(st.fixed_dictionaries({each: st.text("ab ", max_size=12) for each in ALL}))
def test_a_tree_gives_back_every_text_it_was_made_of(variants: dict[Combination, str]) -> None:
    tree = merge(variants)
    assert {each: picked(tree, each) for each in ALL} == variants
