"""The data format: a difference applied to the old picture is the new one, whoever looks."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headroom.dashboard.document import (
    EVERYTHING,
    MAPS,
    VisibleScope,
    difference,
    namespaces_of,
    visible,
)
from tests.dashboard.differences import applied

NAMESPACES = st.sampled_from(["shop", "billing", ""])
ROWS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.fixed_dictionaries({"namespace": NAMESPACES, "held": st.integers(0, 3)}),
    max_size=5,
)
COST = st.dictionaries(NAMESPACES, st.integers(0, 5), max_size=3).map(
    lambda by: {"unit": "cpu", "total": sum(by.values()), "pools": {}, "namespaces": by}
)
PICTURES = st.fixed_dictionaries(
    {
        **dict.fromkeys(MAPS, ROWS),
        "cost": COST,
        "windows": st.lists(st.fixed_dictionaries({"namespace": NAMESPACES}), max_size=3),
        "more_waiting": st.integers(0, 2),
    }
)
SCOPES = st.builds(
    VisibleScope,
    st.booleans(),
    st.one_of(st.none(), st.frozensets(NAMESPACES)),
    st.one_of(st.none(), st.frozensets(NAMESPACES)),
)


def numbered(picture: dict[str, Any], revision: int) -> dict[str, Any]:
    return {**picture, "revision": revision, "at": f"moment {revision}"}


@given(PICTURES, PICTURES, SCOPES)
def test_a_difference_applied_to_the_old_picture_is_the_new_one(
    first: dict[str, Any], second: dict[str, Any], scope: VisibleScope
) -> None:
    old, new = visible(numbered(first, 1), scope), visible(numbered(second, 2), scope)
    change = difference(old, new)
    if change is None:
        assert {**old, "revision": 2, "at": "moment 2"} == new
    else:
        assert applied(old, change) == new


@given(PICTURES, SCOPES)
def test_nobody_sees_a_row_of_a_namespace_that_they_may_not_list(
    picture: dict[str, Any], scope: VisibleScope
) -> None:
    shown = visible(numbered(picture, 1), scope)
    assert all(scope.sees_pods(row["namespace"]) for row in shown["waiting"].values())
    assert all(scope.sees_objects(row["namespace"]) for row in shown["objects"].values())
    assert all(scope.sees_objects(window["namespace"]) for window in shown["windows"])
    assert all(scope.sees_pods(name) for name in shown["cost"]["namespaces"])
    assert scope.nodes or (shown["nodes"] == {} and shown["labels"] == {})
    if scope.pods is not None or scope.objects is not None:
        assert shown["timeline"] == {}
    if scope == EVERYTHING:
        assert shown == numbered(picture, 1)


def test_a_picture_that_stands_still_has_no_difference() -> None:
    picture: dict[str, Any] = {name: {} for name in MAPS}
    assert difference(numbered(picture, 1), numbered(picture, 2)) is None


def test_the_namespaces_of_a_picture_are_those_that_it_has_anything_of() -> None:
    picture = {
        "objects": {"a": {"namespace": "shop"}},
        "waiting": {"b": {"namespace": "web"}},
        "cost": {"namespaces": {"billing": 1}},
    }
    assert namespaces_of(picture) == {"shop", "web", "billing"}
