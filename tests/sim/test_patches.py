"""Patches change what they name and share the rest."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.sim.api.patches import TEST_FAILED, json_patch, merge, strategic_merge
from headroom.sim.errors import ApiError

DOC: dict[str, Any] = {"a": {"b": 1, "c": [1, 2]}, "k": {"x": {}}}


def test_a_merge_patch_goes_deep_and_null_removes() -> None:
    assert merge(DOC, {"a": {"b": None, "d": 2}}) == {"a": {"c": [1, 2], "d": 2}, "k": {"x": {}}}


def test_a_merge_patch_shares_what_it_does_not_touch() -> None:
    assert merge(DOC, {"a": {"b": 2}})["k"] is DOC["k"]


def test_a_merge_patch_replaces_lists_whole() -> None:
    assert merge(DOC, {"a": {"c": [3]}})["a"]["c"] == [3]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "/a/d", "value": 5}], {"b": 1, "c": [1, 2], "d": 5}),
        ([{"op": "replace", "path": "/a/b", "value": 5}], {"b": 5, "c": [1, 2]}),
        ([{"op": "remove", "path": "/a/c/0"}], {"b": 1, "c": [2]}),
        ([{"op": "add", "path": "/a/c/-", "value": 9}], {"b": 1, "c": [1, 2, 9]}),
        ([{"op": "add", "path": "/a/c/0", "value": 9}], {"b": 1, "c": [9, 1, 2]}),
        ([{"op": "test", "path": "/a/b", "value": 1}], {"b": 1, "c": [1, 2]}),
    ],
)
def test_a_json_patch_does_what_it_says(operations: Any, expected: Any) -> None:
    assert json_patch(DOC, operations)["a"] == expected
    assert DOC["a"] == {"b": 1, "c": [1, 2]}


def test_a_failed_test_is_told_apart_from_a_bad_patch() -> None:
    with pytest.raises(ApiError) as failed:
        json_patch(DOC, [{"op": "test", "path": "/a/b", "value": 2}])
    assert failed.value.reason == TEST_FAILED
    with pytest.raises(ApiError) as bad:
        json_patch(DOC, [{"op": "remove", "path": "/nowhere"}])
    assert bad.value.reason == "Invalid"


@pytest.mark.parametrize("path", ["/a/c/7", "/a/c/x", "/a/b/c", "a"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(ApiError):
        json_patch(DOC, [{"op": "replace", "path": path, "value": 1}])


def test_a_strategic_merge_goes_by_the_type_of_a_condition() -> None:
    old = {"status": {"conditions": [{"type": "A", "status": "True"}, {"type": "B"}]}}
    patch = {"status": {"conditions": [{"type": "A", "status": "False"}, {"type": "C"}]}}
    conditions = strategic_merge(old, patch)["status"]["conditions"]
    assert conditions == [{"type": "A", "status": "False"}, {"type": "B"}, {"type": "C"}]


def test_a_strategic_merge_deletes_an_item_when_asked() -> None:
    old = {"spec": {"schedulingGates": [{"name": "a"}, {"name": "b"}]}}
    patch = {"spec": {"schedulingGates": [{"name": "a", "$patch": "delete"}]}}
    assert strategic_merge(old, patch)["spec"]["schedulingGates"] == [{"name": "b"}]
