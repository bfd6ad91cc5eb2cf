"""The state: what comes in any order, twice or not at all, ends in the same sums."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from headroom.core.objects import Key
from headroom.core.resources import Resources
from headroom.scheduling import nodes as tables
from headroom.scheduling import pod_counts
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.filters import feasible, feasible_on
from headroom.scheduling.scores import score
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import GI, NOON, ZONE, cluster, near, node, pod, selector, spread


def fits(state: ClusterState, cpu: int) -> bool:
    return bool(feasible(pod("probe", cpu), state).nodes())


def test_a_pod_may_be_seen_before_its_node() -> None:
    state = cluster(pod("early", 600, node="a"), node("a", 1000))
    assert fits(state, 400)
    assert not fits(state, 401)


def test_a_node_that_comes_back_still_has_its_pods() -> None:
    state = cluster(node("a", 1000), pod("old", 600, node="a"))
    state.remove_node("a")
    assert feasible(pod("probe"), state).nodes() == []
    state.set_node(node("a", 1000))
    assert not fits(state, 401)


def test_a_pod_seen_twice_counts_once_in_its_newest_form() -> None:
    state = cluster(node("a", 1000), pod("old", 600, node="a"), pod("old", 200, node="a"))
    assert fits(state, 800)
    state.add_pod(pod("old", 200, node="a", phase="Failed"))
    assert fits(state, 1000)
    state.remove_pod(Key("default", "old"))
    assert fits(state, 1000)


def test_a_status_that_changes_nothing_is_still_remembered() -> None:
    state = cluster(node("a", 1000), pod("old", 600, node="a", labels={"app": "web"}))
    running = pod("old", 600, node="a", labels={"app": "web"}, started=NOON)
    state.add_pod(running)
    assert state.pod(running.key) is running
    assert state.pods_on("a") == (running,)
    assert not fits(state, 401)
    state.add_pod(pod("old", 600, node="b", labels={"app": "web"}))
    assert fits(state, 1000)


def test_a_bound_pod_is_nominated_no_more() -> None:
    state = cluster(node("a", 1000), node("b", 1000))
    promised = pod("promised", 800)
    state.nominate(promised, "a")
    state.add_pod(promised, node="b")
    assert feasible(pod("probe", 1000), state).nodes() == ["a"]


def test_a_nomination_moves_with_its_pod() -> None:
    state = cluster(node("a", 1000), node("b", 1000))
    state.nominate(pod("promised", 800), "a")
    state.nominate(pod("promised", 800), "b")
    assert feasible(pod("probe", 1000), state).nodes() == ["a"]


def test_a_nomination_to_an_unknown_node_harms_nobody() -> None:
    state = cluster(node("a", 1000))
    state.nominate(pod("promised", 800), "gone")
    assert fits(state, 1000)


def test_capacity_and_labels_may_change_under_the_pods() -> None:
    state = cluster(node("a", 1000), pod("old", 600, node="a"))
    state.set_node(node("a", 2000, labels={"disk": "ssd"}))
    assert feasible(pod("probe", 1400, node_selector=(("disk", "ssd"),)), state).nodes() == ["a"]
    state.set_node(node("a", 2000))
    assert feasible(pod("probe", 1400, node_selector=(("disk", "ssd"),)), state).nodes() == []


def test_a_resource_may_vanish_from_a_node() -> None:
    state = cluster(node("a", extra={"example.com/gpu": 2}))
    new = pod("probe", extra={"example.com/gpu": 1})
    assert feasible(new, state).nodes() == ["a"]
    state.set_node(replace(node("a"), allocatable=Resources({"cpu": 1, "pods": 1})))
    assert feasible(new, state).nodes() == []


def test_many_nodes_and_many_resources_make_the_arrays_grow() -> None:
    state = ClusterState()
    for index in range(200):
        state.set_node(node(f"n{index}", extra={f"example.com/r{index % 20}": 1}))
    new = pod("probe", extra={"example.com/r7": 1}, labels={"app": "web"})
    assert len(feasible(new, state).nodes()) == 10
    for index in range(200):
        state.add_pod(pod(f"p{index}", labels={"app": "web"}, node=f"n{index}"))
    apart = pod("probe", pod_anti_affinity=near(app="web"))
    assert feasible(apart, state).nodes() == []
    state.remove_pod(Key("default", "p150"))
    assert feasible(apart, state).nodes() == ["n150"]


def test_rows_of_nodes_that_are_gone_are_used_again() -> None:
    state = ClusterState()
    for index in range(1000):
        state.set_node(node(f"n{index}"))
        state.add_pod(pod(f"p{index}", node=f"n{index}"))
        state.remove_node(f"n{index}")
        state.remove_pod(Key("default", f"p{index}"))
    assert state.table.capacity == 64


def test_kept_answers_and_tallies_have_a_bound() -> None:
    state = cluster(node("a", zone="x"), pod("old", labels={"app": "1"}, node="a"))
    for index in range(2 * tables.MAX_ANSWERS):
        feasible(pod("probe", node_selector=(("key", str(index)),)), state)
        chosen = selector(app=str(index))
        feasible(pod("probe", spread=(spread(ZONE, chosen=chosen),)), state)
    assert len(state.table._answers) == tables.MAX_ANSWERS
    assert len(state.pods._followed) == pod_counts.MAX_TALLIES
    assert [len(group.followers) for group in state.pods._groups.values()] == [0]


def test_domains_of_nodes_that_are_gone_are_forgotten() -> None:
    state = ClusterState()
    web = {"app": "web"}
    for index in range(500):
        state.set_node(node(f"n{index}", zone=f"z{index}"))
        found = feasible(pod("probe", labels=web, spread=(spread(ZONE),)), state)
        assert found.nodes() == [f"n{index}"]
        state.remove_node(f"n{index}")
    assert len(state._domains[ZONE].numbers) <= 2 * state.table.capacity + 1


def test_a_guardians_room_is_tried_as_if_it_were_gone() -> None:
    state = cluster(node("a", 1000), pod("guardian", 800, node="a"), pod("other", 200, node="a"))
    owner = pod("owner", 800)
    guardian = pod("guardian").key
    assert feasible_on(owner, "a", state) == "Insufficient cpu"
    assert feasible_on(owner, "a", state, {guardian}) is None
    assert feasible_on(pod("owner", 801), "a", state, {guardian}) == "Insufficient cpu"
    assert feasible_on(owner, "b", state, {guardian}) == "node b is not known"


def test_a_latch_can_be_thought_away_with_the_guardian_it_covers() -> None:
    state = cluster(node("a", 1000), pod("guardian", 1000, node="a"))
    latch = pod("latch", 1000, priority=100)
    state.nominate(latch, "a")
    guardian = pod("guardian").key
    assert feasible_on(pod("owner", 500), "a", state, {guardian}) == "Insufficient cpu"
    assert feasible_on(pod("owner", 500), "a", state, {guardian, latch.key}) is None


def test_a_pod_on_its_way_is_kept_clear_of_but_takes_no_room() -> None:
    state = cluster(node("a", 1000), pod("keeper", 1000, node="a"))
    alone = pod("first", 1000, labels={"app": "web"}, pod_anti_affinity=near(app="web"))
    other = replace(alone, key=Key("default", "second"))
    without = frozenset({Key("default", "keeper")})
    state.expect(alone, "a")
    assert feasible_on(pod("anybody", 1000), "a", state, without) is None
    assert "anti-affinity" in (feasible_on(other, "a", state, without) or "")
    assert feasible_on(alone, "a", state, without) is None
    state.unexpect(alone.key)
    assert feasible_on(other, "a", state, without) is None


def test_a_pod_that_has_come_is_expected_no_more() -> None:
    state = cluster(node("a", 1000), node("b", 1000))
    alone = pod("first", labels={"app": "web"}, pod_anti_affinity=near(app="web"))
    other = replace(alone, key=Key("default", "second"))
    state.expect(alone, "a")
    state.add_pod(alone, node="b")
    assert feasible(other, state).nodes() == ["a"]
    state.expect(alone, "a")  # Too late: it is there.
    state.remove_pod(alone.key)
    assert feasible(other, state).nodes() == ["a", "b"]


def test_nobody_is_expected_on_a_node_that_is_gone() -> None:
    state = cluster(node("a", 1000), node("b", 1000))
    alone = pod("first", labels={"app": "web"}, pod_anti_affinity=near(app="web"))
    state.expect(alone, "a")
    state.expect(replace(alone, key=Key("default", "lost")), "nowhere")
    state.remove_node("a")
    state.set_node(node("c", 1000))
    assert feasible(replace(alone, key=Key("default", "x")), state).nodes() == ["b", "c"]


HUGE = 2**63 - 1


@pytest.mark.parametrize("resource", ["cpu", "memory", "ephemeral-storage", "example.com/gpu"])
def test_a_node_asked_for_more_than_numbers_can_say_never_looks_roomy(resource: str) -> None:
    state = cluster(node("a", 1000, extra={"ephemeral-storage": 500, "example.com/gpu": 2}))
    probe = replace(pod("probe"), requests=Resources({resource: 1}))
    for number in range(5):
        state.add_pod(replace(pod(f"p{number}", node="a"), requests=Resources({resource: HUGE})))
        assert feasible(probe, state).nodes() == []
        assert feasible_on(probe, "a", state, {Key("default", "p0")}) is None or number
    room = {"cpu": 1000, "memory": 8 * GI, "ephemeral-storage": 500, "example.com/gpu": 2}
    assert state.overbooked("a")[resource] == 5 * HUGE - room[resource]
    for number in range(5):
        state.remove_pod(Key("default", f"p{number}"))
    assert feasible(probe, state).nodes() == ["a"]
    whole = replace(pod("whole"), requests=Resources({resource: room[resource]}))
    assert feasible(whole, state).nodes() == ["a"]
    more = replace(pod("more"), requests=Resources({resource: room[resource] + 1}))
    assert feasible(more, state).nodes() == []


def test_a_huge_node_and_a_huge_pod_are_scored_without_overflow() -> None:
    state = cluster(node("a", HUGE, HUGE), node("b", 1000))
    for requests in ({"cpu": HUGE, "memory": HUGE}, {"cpu": 1, "memory": 1}):
        asked = Resources(requests)
        wish = replace(pod("probe"), requests=asked, nonzero_requests=asked)
        with np.errstate(all="raise"):
            scores = score(Cycle(wish, state), np.array([0, 1], np.int64))
        assert all(0 <= each <= 1200 for each in scores.total.tolist())


def test_who_has_lower_pods_is_known_without_looking() -> None:
    chance = Random(7)
    state = cluster(node("a"), node("b"), node("c"))
    for number in range(600):
        name, where = f"p{chance.randrange(12)}", chance.choice("abcd")
        draw = chance.random()
        if draw < 0.6:
            phase = chance.choice(("Running", "Running", "Succeeded"))
            rank = chance.choice((-5, 0, 3))
            state.add_pod(pod(name, 1, node=where, priority=rank, phase=phase))
        elif draw < 0.8:
            state.remove_pod(Key("default", name))
        elif draw < 0.9:
            state.remove_node(where)
        else:
            state.set_node(node(where))
        asked = number % 7 - 3
        rows = {
            row
            for row in state.table.row_of.values()
            if any(each.priority < asked for each in state.pods_on_row(row))
        }
        assert state.rows_with_pods_below(asked) == rows
