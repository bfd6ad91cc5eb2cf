"""Preemption: who may be evicted, who is spared, and which node loses least."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from headroom.core.eviction.budgets import Budget
from headroom.core.objects import Key, LabelSelector, Pod
from headroom.scheduling.filters import feasible
from headroom.scheduling.preempt import (
    Futile,
    Preemption,
    candidates_to_find,
    explanation,
    preempt,
)
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import NOON, ZONE, cluster, near, node, pod, port, selector, spread


def victim(name: str, cpu: int = 500, on: str = "a", age: int = 0, **parts: Any) -> Pod:
    return pod(name, cpu, node=on, started=NOON - timedelta(hours=age), **parts)


def evicted(state: ClusterState, *budgets: Budget, **parts: Any) -> tuple[str, list[str]]:
    found = preempt(pod("new", **{"priority": 10, "cpu": 1000, **parts}), state, budgets)
    assert isinstance(found, Preemption), found
    return found.node, [one.key.name for one in found.victims]


def futile(state: ClusterState, **parts: Any) -> str:
    found = preempt(pod("new", **{"priority": 10, "cpu": 1000, **parts}), state)
    assert isinstance(found, Futile), found
    return found.message


def test_only_pods_of_lower_priority_are_evicted() -> None:
    state = cluster(node("a", 1000), victim("low", priority=9), victim("equal", priority=10))
    assert evicted(state, cpu=500) == ("a", ["low"])
    assert futile(state, cpu=1000) == "0/1 nodes are available: 1 Insufficient cpu."


def test_no_more_are_evicted_than_needed_and_the_most_important_are_spared() -> None:
    state = cluster(
        node("a", 1500),
        victim("least", priority=1),
        victim("more", priority=2),
        victim("most", priority=3),
    )
    assert evicted(state, cpu=500) == ("a", ["least"])
    assert evicted(state, cpu=1000) == ("a", ["more", "least"])


def test_among_equals_the_oldest_is_spared() -> None:
    state = cluster(node("a", 1000), victim("young", age=1), victim("old", age=2))
    assert evicted(state, cpu=500) == ("a", ["young"])
    state = cluster(node("a", 1000), victim("young", age=1), pod("unstarted", 500, node="a"))
    assert evicted(state, cpu=500) == ("a", ["unstarted"])


def test_a_budget_spares_its_pods_first_but_forbids_nothing() -> None:
    guarded = {"app": "db"}
    budget = Budget(Key("default", "db"), selector(app="db"), allowed=0)
    state = cluster(
        node("a", 1000), victim("guarded", priority=1, labels=guarded), victim("other", priority=2)
    )
    assert evicted(state, budget, cpu=500) == ("a", ["other"])
    assert evicted(state, cpu=500) == ("a", ["guarded"])
    both = preempt(pod("new", 1000, priority=10), state, [budget])
    assert isinstance(both, Preemption)
    assert (len(both.victims), both.violations) == (2, 1)


def test_budgets_count_down_and_some_protect_nobody() -> None:
    guarded = {"app": "db"}
    state = cluster(
        node("a", 1000),
        victim("one", priority=1, labels=guarded),
        victim("two", priority=2, labels=guarded),
    )
    key = Key("default", "db")

    def violations(budget: Budget) -> int:
        found = preempt(pod("new", 1000, priority=10), state, [budget])
        assert isinstance(found, Preemption)
        return found.violations

    assert violations(Budget(key, selector(app="db"), 0)) == 2
    assert violations(Budget(key, selector(app="db"), 1)) == 1
    assert violations(Budget(key, selector(app="db"), 0, frozenset({"one"}))) == 1
    assert violations(Budget(key, LabelSelector(), 0)) == 0
    assert violations(Budget(key, None, 0)) == 0
    assert violations(Budget(Key("other", "db"), selector(app="db"), 0)) == 0


def test_the_node_with_fewest_violations_wins_over_everything_else() -> None:
    budget = Budget(Key("default", "db"), selector(app="db"), allowed=0)
    state = cluster(
        node("a", 1000),
        node("b", 1000),
        victim("guarded", 1000, "a", labels={"app": "db"}),
        victim("precious", 1000, "b", priority=9),
    )
    assert evicted(state, budget) == ("b", ["precious"])


def test_then_the_lowest_top_priority_then_sum_then_number_then_age_then_name() -> None:
    lower = cluster(
        node("a", 1000),
        node("b", 1000),
        victim("a1", 1000, "a", priority=5),
        victim("b1", 500, "b", priority=4),
        victim("b2", 500, "b", priority=4),
    )
    assert evicted(lower)[0] == "b"
    lower.set_node(node("c", 1000))
    lower.add_pod(victim("c1", 500, "c", priority=4))
    lower.add_pod(victim("c2", 500, "c", priority=3))
    assert evicted(lower)[0] == "c"
    fewer = cluster(
        node("a", 1000),
        node("b", 1000),
        victim("a1", 500, "a"),
        victim("a2", 500, "a"),
        victim("b1", 1000, "b"),
    )
    assert evicted(fewer)[0] == "b"
    younger = cluster(
        node("a", 1000),
        node("b", 1000),
        victim("a1", 1000, "a", age=5),
        victim("b1", 1000, "b", age=4),
    )
    assert evicted(younger)[0] == "b"
    alike = cluster(
        node("b", 1000), node("a", 1000), victim("b1", 1000, "b"), victim("a1", 1000, "a")
    )
    assert evicted(alike)[0] == "a"


def test_a_pod_may_decline_to_preempt() -> None:
    state = cluster(node("a", 1000), victim("low"))
    assert futile(state, preempts=False) == "not eligible due to preemptionPolicy=Never."


def test_nobody_is_evicted_while_earlier_victims_are_still_ending() -> None:
    ending = victim("low", 1000, deleted=NOON, preempted=True)
    state = cluster(node("a", 1000), ending)
    waiting = "not eligible due to a terminating pod on the nominated node."
    assert futile(state, nominated="a") == waiting
    assert evicted(state) == ("a", ["low"])
    state.set_node(node("a", 1000, unschedulable=True))
    state.set_node(node("b", 1000))
    state.add_pod(victim("b1", 1000, "b"))
    assert evicted(state, nominated="a") == ("b", ["b1"])


def test_nodes_that_no_eviction_can_help_are_left_alone() -> None:
    state = cluster(
        node("small", 500),
        node("cordoned", 1000, unschedulable=True),
        node("full", 1000),
        victim("s", 500, "small"),
        victim("c", 1000, "cordoned"),
        victim("high", 1000, "full", priority=20),
    )
    assert futile(state) == (
        "0/3 nodes are available: 1 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )


def test_the_whole_message_is_kube_schedulers() -> None:
    state = cluster(node("a", 1000), victim("high", 1000, priority=20))
    new = pod("new", 1000, priority=10)
    found = feasible(new, state)
    assert explanation(found, preempt(new, state, feasibility=found)) == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )
    state.add_pod(victim("high", 1000, priority=1))
    found = feasible(new, state)
    assert explanation(found, preempt(new, state, feasibility=found)) == (
        "0/1 nodes are available: 1 Insufficient cpu."
    )


def test_ports_and_company_are_freed_by_eviction_too() -> None:
    state = cluster(node("a"), victim("web", 1, ports=(port(80),), labels={"app": "web"}))
    assert evicted(state, cpu=1, ports=(port(80),)) == ("a", ["web"])
    assert evicted(state, cpu=1, pod_anti_affinity=near(app="web")) == ("a", ["web"])
    state = cluster(node("a"), victim("shy", 1, pod_anti_affinity=near(app="web")))
    assert evicted(state, cpu=1, labels={"app": "web"}) == ("a", ["shy"])


def test_a_crowded_domain_is_thinned_as_far_as_spreading_asks() -> None:
    web = {"app": "web"}
    state = cluster(
        node("a", zone="x"),
        node("b", 0, zone="y"),
        *(victim(f"w{index}", 1, "a", index, labels=web) for index in range(3)),
    )
    hard = {"labels": web, "spread": (spread(ZONE, max_skew=2),)}
    assert evicted(state, cpu=1, **hard) == ("a", ["w1", "w0"])


def test_room_promised_to_others_is_not_won_by_eviction() -> None:
    state = cluster(node("a", 1000), victim("low", 500))
    state.nominate(pod("promised", 600, priority=10), "a")
    assert futile(state, cpu=500) == "0/1 nodes are available: 1 Insufficient cpu."
    state.nominate(pod("promised", 600, priority=9), "a")
    found = preempt(pod("new", 1000, priority=10), state)
    assert isinstance(found, Preemption)
    assert [one.key.name for one in found.outbid] == ["promised"]


def test_large_clusters_are_searched_for_candidates_only_in_part() -> None:
    assert [candidates_to_find(nodes) for nodes in (0, 5, 100, 500, 2000)] == [0, 5, 100, 100, 200]
    state = cluster(*(node(f"n{index:03}", 1000) for index in range(150)))
    for index in range(150):
        state.add_pod(victim(f"v{index:03}", 1000, f"n{index:03}"))
    new = pod("new", 1000, priority=10)
    first, later = preempt(new, state), preempt(new, state, offset=40)
    assert isinstance(first, Preemption)
    assert isinstance(later, Preemption)
    assert (first.node, later.node) == ("n000", "n040")
