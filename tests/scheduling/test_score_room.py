"""Scores that are kept for a shape of pods are those that would be worked out anew."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headroom.core.objects import Key, Node, Pod
from headroom.core.resources import Resources
from headroom.scheduling import nodes as tables
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.nodes import MOST, NodeTable
from headroom.scheduling.score_room import Balanced, LeastAllocated
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import ZONE

GI = 2**30
amounts = (
    st.integers(0, 40)
    | st.sampled_from((1000, 16_000, 64 * GI, 2**52, 2**53 + 1, MOST, 2 * MOST))
    | st.integers(0, MOST)
)
pairs = st.tuples(amounts, amounts)
weights = st.builds(LeastAllocated, pairs) | st.builds(Balanced, pairs, st.booleans())


@given(pairs, st.lists(st.tuples(pairs, pairs), max_size=3), weights)
def test_one_node_alone_weighs_as_among_others(
    offered: tuple[int, int],
    pods: list[tuple[tuple[int, int], tuple[int, int]]],
    weight: LeastAllocated | Balanced,
) -> None:
    table = NodeTable()
    row = table.set(Node("a", allocatable=amount(*offered)))
    for asked, counted in pods:
        table.occupy(row, amount(*asked), counted, 1)
    assert weight.of_row(table, row) == weight.of_rows(table, np.array([row])).item()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_kept_scores_are_those_of_a_fresh_look(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(seed)
    monkeypatch.setattr(tables, "FEW", chance.choice((0, 2, 16)))
    monkeypatch.setattr(tables, "MAX_WEIGHTS", chance.choice((2, 64)))
    state = ClusterState()
    nodes: dict[str, Node] = {}
    pods: dict[Key, tuple[Pod, str]] = {}
    chosen = 0
    for number in range(250):
        change(state, nodes, pods, chance, number)
        pod = shape(chance, f"new-{number}")
        found, *answer = told(pod, state)
        assert answer == list(told(pod, fresh(nodes, pods))[1:])
        if found is not None:
            chosen += found.scores is not None
            state.add_pod(pod, found.node)
            pods[pod.key] = (pod, found.node)
    assert chosen > 20


def told(
    pod: Pod, state: ClusterState
) -> tuple[ChosenNode | None, tuple[str, ...], dict[str, int]]:
    """The choice, all that are as good, and the score of each node by name."""
    found = choose(pod, state)
    if not isinstance(found, ChosenNode):
        return None, (), {}
    if found.scores is None:
        return found, found.maxima, {}
    names = state.table.names_of(found.scores.rows)
    return found, found.maxima, dict(zip(names, found.scores.total.tolist(), strict=True))


def change(
    state: ClusterState,
    nodes: dict[str, Node],
    pods: dict[Key, tuple[Pod, str]],
    chance: Random,
    number: int,
) -> None:
    """Nodes come, go and change their size; pods end."""
    draw, name = chance.random(), f"n{chance.randrange(90)}"
    if draw < 0.6 or number < 20:
        cpu, memory = chance.choice((0, 4000, 16_000)), chance.choice((0, 8, 64)) * GI
        room = Resources({"cpu": cpu, "memory": memory, "pods": 20})
        node = Node(name, labels={ZONE: chance.choice("ab")}, allocatable=room)
        nodes[name] = node
        state.set_node(node)
    elif draw < 0.7 and name in nodes:
        del nodes[name]
        state.remove_node(name)
    for key in chance.sample(sorted(pods), min(len(pods), chance.randrange(3))):
        del pods[key]
        state.remove_pod(key)


def fresh(nodes: dict[str, Node], pods: dict[Key, tuple[Pod, str]]) -> ClusterState:
    state = ClusterState()
    for node in nodes.values():
        state.set_node(node)
    for pod, name in pods.values():
        state.add_pod(pod, name)
    return state


def shape(chance: Random, name: str) -> Pod:
    cpu, memory = chance.choice(((0, 0), (500, GI), (2000, 4 * GI), (1000, 0)))
    return Pod(Key("default", name), requests=amount(cpu, memory))


def amount(cpu: int, memory: int) -> Resources:
    return Resources({"cpu": cpu, "memory": memory})
