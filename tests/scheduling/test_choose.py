"""Choosing: where the search begins and ends, what is tried first, who wins a tie."""

from __future__ import annotations

from random import Random

import pytest

from headroom.scheduling.choose import (
    ChosenNode,
    Profile,
    Unschedulable,
    choose,
    feasible_nodes_to_find,
)
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import cluster, node, pod, to_node


def chosen(*arguments: object, **options: object) -> ChosenNode:
    found = choose(*arguments, **options)  # type: ignore[arg-type]  # the tests' own shorthand
    assert isinstance(found, ChosenNode)
    return found


def names_in_order(state: ClusterState) -> list[str]:
    return [state.table.name(row) for row in state.table.order().tolist()]


def test_the_emptier_node_is_chosen() -> None:
    state = cluster(node("a"), node("b"), pod("old", 1000, node="a"))
    assert chosen(pod("new", 100), state).node == "b"


def test_a_tie_goes_to_the_first_by_name_and_tells_who_else_was_as_good() -> None:
    state = cluster(node("c"), node("a"), node("b"), pod("old", 2000, node="b"))
    found = chosen(pod("new", 100), state)
    assert (found.node, found.maxima) == ("a", ("a", "c"))
    assert chosen(pod("new", 100), state, tie=lambda names: names[-1]).node == "c"


def test_a_single_feasible_node_is_not_scored() -> None:
    found = chosen(pod("new", 3000), cluster(node("a", 2000), node("b")))
    assert (found.node, found.scores) == ("b", None)


def test_nothing_feasible_says_why() -> None:
    found = choose(pod("new", 9000), cluster(node("a"), node("b")))
    assert isinstance(found, Unschedulable)
    assert found.message == "0/2 nodes are available: 2 Insufficient cpu."
    assert found.reasons == {"Insufficient cpu": 2}


def test_an_empty_cluster_says_so() -> None:
    found = choose(pod("new"), ClusterState())
    assert isinstance(found, Unschedulable)
    assert found.message == "no nodes available to schedule pods"


def test_the_nominated_node_is_tried_first_though_another_is_better() -> None:
    state = cluster(node("a"), node("b"), pod("old", 3000, node="a"))
    new = pod("new", 1000, nominated="a")
    state.nominate(new, "a")
    assert chosen(new, state).node == "a"
    state.add_pod(pod("taker", 1000, node="a"))
    assert chosen(new, state).node == "b"
    assert chosen(pod("new", nominated="gone"), state).node == "b"


def test_choosing_changes_nothing() -> None:
    state = cluster(node("a"), node("b"))
    first = chosen(pod("new", 100), state)
    assert chosen(pod("new", 100), state).maxima == first.maxima


@pytest.mark.parametrize(
    ("nodes", "percentage", "expected"),
    [
        (99, 0, 99),
        (100, 0, 100),
        (1000, 0, 420),
        (5000, 0, 500),
        (6000, 0, 300),
        (15000, 0, 750),
        (1000, 100, 1000),
        (1000, 5, 100),
    ],
)
def test_large_clusters_are_searched_only_in_part(
    nodes: int, percentage: int, expected: int
) -> None:
    assert feasible_nodes_to_find(nodes, percentage) == expected


def test_nodes_are_walked_one_zone_after_the_other() -> None:
    state = cluster(
        node("a1", zone="a"),
        node("a2", zone="a"),
        node("b1", zone="b"),
        node("a3", zone="a"),
        node("x"),
    )
    assert names_in_order(state) == ["a1", "b1", "x", "a2", "a3"]
    state.set_node(node("a1", zone="b"))
    assert names_in_order(state) == ["a2", "b1", "x", "a3", "a1"]
    state.remove_node("x")
    assert names_in_order(state) == ["a2", "b1", "a3", "a1"]


def test_the_search_goes_on_where_it_ended() -> None:
    state = cluster(*(node(f"n{index:03}") for index in range(200)))
    state.set_node(node("n001", cpu=0))
    half = Profile(percentage=50)
    # 100 feasible ones among the first 101; the surplus node 101 is looked at again.
    first = chosen(pod("new", 1), state, profile=half)
    assert first.next_start == 101
    assert first.scores is not None
    assert first.scores.rows.tolist() == [0, *range(2, 101)]
    second = chosen(pod("new", 1), state, start=first.next_start, profile=half)
    assert second.scores is not None
    # Ninety-nine to the end and one from the beginning; n001 is refused before the surplus.
    assert second.scores.rows.tolist() == [*range(101, 200), 0]
    assert second.next_start == 2


@pytest.mark.parametrize("seed", range(30))
def test_a_search_takes_the_nodes_of_a_walk(seed: int) -> None:
    chance = Random(seed)
    count = chance.randrange(100, 160)
    share = chance.choice((0.1, 0.8, 0.97, 1.0))
    open_rows = {row for row in range(count) if row < 2 or chance.random() < share}
    state = cluster(
        *(node(f"n{row:03}", cpu=1000 if row in open_rows else 0) for row in range(count))
    )
    start = chance.randrange(2 * count)
    enough = feasible_nodes_to_find(count, 70)
    walked: list[int] = []
    surplus = None
    for step in range(count):
        row = (start + step) % count
        if row in open_rows and len(walked) < enough:
            walked.append(row)
        elif row in open_rows:
            surplus = (start + step) % count
            break
    found = chosen(pod("new", 1), state, start=start, profile=Profile(percentage=70))
    assert found.scores is not None
    assert found.scores.rows.tolist() == walked
    assert found.next_start == (start % count if surplus is None else surplus)


def test_a_search_of_all_nodes_begins_where_it_began() -> None:
    state = cluster(*(node(f"n{index}") for index in range(5)))
    assert chosen(pod("new"), state, start=3).next_start == 3


def test_a_pod_that_names_its_node_moves_the_search_by_one() -> None:
    state = cluster(*(node(f"n{index}") for index in range(5)))
    found = chosen(pod("new", node_affinity=to_node("n4")), state, start=3)
    assert (found.node, found.next_start) == ("n4", 4)
