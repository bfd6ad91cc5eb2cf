"""The arrays say what the plain reference says, and changes leave no trace but their sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headroom.core.objects import Namespace, Pod
from headroom.scheduling.filters import feasible, feasible_on
from headroom.scheduling.state import ClusterState
from tests.samples import examples
from tests.scheduling.reference import World, refusal
from tests.scheduling.strategies import NODE_NAMES, nodes, pods

NAMESPACES: dict[str, Mapping[str, str]] = {"a": {"team": "x"}, "b": {"team": "y"}}
LENIENT = settings(examples(60), suppress_health_check=[HealthCheck.too_slow])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World(namespaces=NAMESPACES)
    for name in draw(st.lists(st.sampled_from(NODE_NAMES), min_size=1, unique=True)):
        world.nodes[name] = draw(nodes(name))
    there = st.sampled_from(sorted(world.nodes))
    for index in range(draw(st.integers(0, 6))):
        name = draw(there)
        pod = replace(draw(pods(f"p{index}")), node=name)
        world.pods.setdefault(name, []).append(pod)
    for index in range(draw(st.integers(0, 2))):
        world.nominated.setdefault(draw(there), []).append(draw(pods(f"q{index}")))
    return world


def state_of(world: World) -> ClusterState:
    state = ClusterState()
    for name, labels in world.namespaces.items():
        state.set_namespace(Namespace(name, labels))
    for node in world.nodes.values():
        state.set_node(node)
    for there in world.pods.values():
        for pod in there:
            state.add_pod(pod)
    for name, nominated in world.nominated.items():
        for pod in nominated:
            state.nominate(pod, name)
    return state


@LENIENT
@given(worlds(), pods("new"))
def test_all_nodes_at_once_are_judged_as_one_by_one(world: World, pod: Pod) -> None:
    expected = {name: refusal(pod, name, world) for name in world.nodes}
    state = state_of(world)
    found = feasible(pod, state)
    assert sorted(found.nodes()) == sorted(name for name in expected if not expected[name])
    counts: dict[str, int] = {}
    for reasons in expected.values():
        for reason in reasons:
            counts[reason] = counts.get(reason, 0) + 1
    assert found.reasons() == counts
    for name, reasons in expected.items():
        verdict = found.verdict(state.table.row_of[name])
        assert sorted(verdict.reasons if verdict else ()) == sorted(reasons)


@LENIENT
@given(worlds(), pods("new"), st.integers(0, 5))
def test_one_node_without_some_pods_is_judged_as_if_they_had_never_been(
    world: World, pod: Pod, number: int
) -> None:
    state = state_of(world)
    for name in world.nodes:
        gone = world.on(name)[:number]
        left = [one for one in world.on(name) if one not in gone]
        without = World(world.nodes, {**world.pods, name: left}, world.nominated, NAMESPACES)
        expected = refusal(pod, name, without, before=world)
        found = feasible_on(pod, name, state, {one.key for one in gone})
        assert sorted((found or "").split(", ")) == sorted(", ".join(expected).split(", "))


@LENIENT
@given(worlds(), pods("new"), st.randoms(use_true_random=False))
def test_a_state_that_changed_answers_as_one_built_afresh(
    world: World, pod: Pod, chance: Random
) -> None:
    state = state_of(world)
    feasible(pod, state)
    _shake(state, world, chance)
    fresh = state_of(world)
    assert feasible(pod, state).reasons() == feasible(pod, fresh).reasons()
    assert sorted(feasible(pod, state).nodes()) == sorted(feasible(pod, fresh).nodes())
    for name in world.nodes:
        one, other = state.table.row_of[name], fresh.table.row_of[name]
        for resource, line in fresh.table.lines.items():
            kept = state.table.free_of(resource)[one]
            assert kept == fresh.table.free[line, other]
        assert np.array_equal(state.table.nonzero[:, one], fresh.table.nonzero[:, other])


def _shake(state: ClusterState, world: World, chance: Random) -> None:
    """Take things away, put wrong ones in their place, and put it all back."""
    for name, node in world.nodes.items():
        state.remove_node(name)
        if chance.random() < 0.5:
            state.set_node(replace(node, labels={"rack": "1"}, taints=(), unschedulable=True))
        state.set_node(node)
    for there in world.pods.values():
        for pod in there:
            state.add_pod(replace(pod, labels={"app": "wrong"}), node="n0")
            state.add_pod(pod, node="nowhere")
            state.add_pod(pod)
