"""Pods may name resources and topologies that no node has: that costs what they are, no more."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.objects import Key, Pod
from headroom.core.resources import Resources
from headroom.scheduling.filters import feasible
from headroom.scheduling.nodes import MAX_ANSWERS
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import ZONE, cluster, node, pod


def asking(name: str, **amounts: int) -> Pod:
    made = pod(name, 100, node="a")
    return replace(made, requests=Resources({**made.requests, **amounts}))


def lines(state: ClusterState) -> int:
    return int(state.table.free.shape[0])


def test_resources_that_only_pods_name_take_no_place_in_the_arrays() -> None:
    state = cluster(node("a", 1000))
    before = lines(state)
    for number in range(50):
        named = {f"example.com/{number}-{index}": 1 for index in range(100)}
        state.add_pod(asking("odd", **named))
        feasible(replace(asking("probe", **named), node=""), state)
    assert lines(state) == before
    assert len(state.table._unknown[state.table.row_of["a"]]) == 100
    state.remove_pod(Key("default", "odd"))
    assert state.table._unknown == {}


def test_a_pod_that_asks_for_what_nobody_has_fits_nowhere_and_is_told_so() -> None:
    state = cluster(node("a", 1000))
    found = feasible(replace(asking("probe", **{"example.com/x": 1}), node=""), state)
    assert found.nodes() == []
    assert "Insufficient example.com/x" in str(found.reasons())


def test_what_pods_ask_for_counts_once_a_node_has_it() -> None:
    state = cluster(node("a", 1000), asking("early", **{"example.com/x": 3}))
    assert state.overbooked("a")["example.com/x"] == 3
    plain = node("a", 1000)
    state.set_node(replace(plain, allocatable=plain.allocatable + Resources({"example.com/x": 5})))
    assert state.overbooked("a") == Resources()
    assert state.table.exact_free("example.com/x", state.table.row_of["a"]) == 2
    two, three = (replace(asking("probe", **{"example.com/x": count}), node="") for count in (2, 3))
    assert feasible(two, state).nodes() == ["a"]
    assert feasible(three, state).nodes() == []
    state.remove_pod(Key("default", "early"))
    assert feasible(three, state).nodes() == ["a"]


def test_topologies_that_pods_name_are_remembered_up_to_a_bound() -> None:
    state = cluster(node("a", 1000, labels={ZONE: "one"}), node("b", 1000, labels={ZONE: "two"}))
    first, _ = state.domains(ZONE)
    kept = first.copy()
    for number in range(3 * MAX_ANSWERS):
        state.domains(f"example.com/key-{number}")
    assert len(state._domains) <= MAX_ANSWERS
    again, count = state.domains(ZONE)
    assert (again.tolist(), count) == (kept.tolist(), 2)
    assert feasible(pod("probe"), state).nodes() == ["a", "b"]
