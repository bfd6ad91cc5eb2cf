"""Scores worked out by hand from the formulas of kube-scheduler's Go source, version 1.36."""

from __future__ import annotations

import math

import numpy as np

from headroom.core.objects import (
    Key,
    NodeAffinity,
    NodeTerm,
    OwnerReference,
    Pod,
    PodAffinity,
    PodTerm,
    PreferredNodeTerm,
    PreferredPodTerm,
    Requirement,
    Taint,
    Toleration,
)
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.scores import score
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import GI, HOSTNAME, ZONE, cluster, near, node, pod, selector, spread


def parts(
    pod_: Pod, state: ClusterState, version: tuple[int, int] = (1, 36)
) -> dict[str, list[int]]:
    found = score(Cycle(pod_, state), state.table.order(), version)
    assert np.array_equal(sum(found.parts.values()), found.total)
    return {plugin: part.tolist() for plugin, part in found.parts.items()}


def test_least_allocated_is_the_mean_of_free_shares_rounded_down_twice() -> None:
    state = cluster(node("a", 3000, 10 * GI), node("b", 4000, 4 * GI), node("none", 0, 0))
    state.add_pod(pod("old", 1000, 3 * GI, node="a"))
    # a: (3000-1000-500)*100/3000 = 50 and (10-3-1)*100/10 = 60, mean 55.
    # b: 3500*100/4000 = 87 and 3*100/4 = 75, mean 81. A node without either scores 0.
    assert parts(pod("new", 500, GI), state)["NodeResourcesFit"] == [55, 81, 0]


def test_least_allocated_counts_something_for_pods_that_ask_for_nothing() -> None:
    state = cluster(node("a", 1000, 1000 * 1024**2))
    state.add_pod(pod("old", node="a"))
    # 100m and 200Mi for each of the two: 800/1000 and 600/1000.
    assert parts(pod("new"), state)["NodeResourcesFit"] == [70]


def test_a_node_that_would_be_overbooked_by_defaults_scores_nothing_for_it() -> None:
    state = cluster(node("a", 50, 400 * 1024**2))
    assert parts(pod("new"), state)["NodeResourcesFit"] == [25]


def test_balanced_allocation_scores_the_change_since_1_36() -> None:
    state = cluster(node("a", 1000, 1000), node("b", 1000, 1000))
    state.add_pod(pod("old", 500, 100, node="a"))
    # a before: |0.5-0.1|/2 = 0.2 → 80; after 0.6, 0.6 → 100: 50+(50+20)/2 = 85.
    # b before: 100; after 0.1, 0.5: 0.2 → 80: 50+(50-20)/2 = 65.
    new = pod("new", 100, 500)
    assert parts(new, state)["NodeResourcesBalancedAllocation"] == [85, 65]
    assert parts(new, state, (1, 35))["NodeResourcesBalancedAllocation"] == [100, 80]


def test_balanced_allocation_says_nothing_of_pods_that_ask_for_nothing() -> None:
    assert "NodeResourcesBalancedAllocation" not in parts(pod("new"), cluster(node("a"), node("b")))


def test_unwelcome_taints_count_against_a_node_three_times() -> None:
    soft = tuple(Taint(key, effect="PreferNoSchedule") for key in ("x", "y", "z"))
    state = cluster(node("a"), node("b", taints=soft[:1]), node("c", taints=soft))
    assert parts(pod("new"), state)["TaintToleration"] == [300, 201, 0]
    tolerant = pod("new", tolerations=(Toleration("z", "Exists"), Toleration("y", "Exists")))
    assert parts(tolerant, state)["TaintToleration"] == [300, 0, 0]
    assert parts(pod("new"), cluster(node("a"), node("b")))["TaintToleration"] == [300, 300]


def test_preferred_node_terms_add_up_and_the_best_node_gets_everything() -> None:
    def prefer(weight: int, value: str) -> PreferredNodeTerm:
        term = NodeTerm(labels=(Requirement("disk", "In", (value, "both")),))
        return PreferredNodeTerm(weight, term)

    state = cluster(*(node(name, labels={"disk": name}) for name in ("ssd", "hdd", "both", "no")))
    wishes = NodeAffinity(preferred=(prefer(20, "ssd"), prefer(10, "hdd")))
    scores = parts(pod("new", node_affinity=wishes), state)["NodeAffinity"]
    assert scores == [2 * 66, 2 * 33, 2 * 100, 0]


def test_an_empty_preferred_term_prefers_nothing() -> None:
    wishes = NodeAffinity(preferred=(PreferredNodeTerm(5, NodeTerm()),))
    state = cluster(node("a"), node("b"))
    assert parts(pod("new", node_affinity=wishes), state)["NodeAffinity"] == [0, 0]


def test_soft_spreading_prefers_the_emptier_zone_and_ignores_nodes_without_one() -> None:
    web = {"app": "web"}
    state = cluster(node("a", zone="x"), node("b", zone="y"), node("c", zone="y"), node("d"))
    state.add_pod(pod("one", labels=web, node="a"))
    for name in ("two", "three"):
        state.add_pod(pod(name, labels=web, node="b"))
    soft = pod("new", labels=web, spread=(spread(ZONE, max_skew=2, hard=False),))
    # Two zones: weight log(4). x: round(1*1.386+1) = 2; y: round(2*1.386+1) = 4.
    assert [round(count * math.log(4) + 1) for count in (1, 2)] == [2, 4]
    # 100*(4+2-2)/4 and 100*(4+2-4)/4, twice; order is a, b, d, c by zones in turn.
    names = [state.table.name(row) for row in state.table.order().tolist()]
    assert names == ["a", "b", "d", "c"]
    assert parts(soft, state)["PodTopologySpread"] == [200, 100, 0, 100]


def test_default_spreading_needs_somebody_who_says_which_pods_belong_together() -> None:
    web = {"app": "web"}
    state = cluster(node("a", zone="x"), node("b"), pod("one", labels=web, node="a"))
    owner = OwnerReference("apps/v1", "ReplicaSet", "web", "u", controller=True)
    new = pod("new", labels=web, owners=(owner,))
    assert "PodTopologySpread" not in parts(new, state)
    state.set_controller("ReplicaSet", Key("default", "web"), selector(app="web"))
    # Two nodes, two zones (none is one): both weights log(4).
    # a: round(1.386+2 + 1.386+4) = 9; b has no zone: round(0+2) = 2. Then (9+2-s)*100/9.
    assert parts(new, state)["PodTopologySpread"] == [2 * (200 // 9), 2 * 100]
    state.remove_controller("ReplicaSet", Key("default", "web"))
    state.set_service(Key("default", "web"), web)
    assert parts(new, state)["PodTopologySpread"] == [2 * (200 // 9), 2 * 100]
    state.set_service(Key("default", "web"), {"app": "db"})
    assert "PodTopologySpread" not in parts(new, state)


def test_equally_empty_domains_all_score_the_most() -> None:
    state = cluster(node("a", zone="x"), node("b", zone="y"))
    soft = pod("new", labels={"app": "web"}, spread=(spread(ZONE, hard=False),))
    assert parts(soft, state)["PodTopologySpread"] == [200, 200]


def test_preferred_company_is_stretched_over_the_scale() -> None:
    state = cluster(
        node("a"),
        node("b"),
        node("c"),
        pod("db", labels={"app": "db"}, node="a"),
        pod("noise", labels={"app": "noise"}, node="b"),
    )
    towards = PreferredPodTerm(3, PodTerm(selector(app="db"), HOSTNAME))
    away = PreferredPodTerm(1, PodTerm(selector(app="noise"), HOSTNAME))
    new = pod(
        "new",
        pod_affinity=PodAffinity(preferred=(towards,)),
        pod_anti_affinity=PodAffinity(preferred=(away,)),
    )
    # Raw 3, -1, 0: (s+1)*100/4.
    assert parts(new, state)["InterPodAffinity"] == [2 * 100, 0, 2 * 25]


def test_pods_that_are_there_draw_and_push_away_too() -> None:
    new = pod("new", labels={"app": "web"})
    state = cluster(node("a"), node("b"), node("c"))
    assert "InterPodAffinity" not in parts(new, state)
    state.add_pod(pod("needs", pod_affinity=near(app="web"), node="a"))
    away = PreferredPodTerm(3, PodTerm(selector(app="web"), HOSTNAME))
    state.add_pod(pod("shuns", pod_anti_affinity=PodAffinity(preferred=(away,)), node="b"))
    # Raw 1 (a required affinity counts one), -3, 0: (s+3)*100/4.
    assert parts(new, state)["InterPodAffinity"] == [2 * 100, 0, 2 * 75]
