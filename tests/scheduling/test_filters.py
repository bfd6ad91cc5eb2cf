"""Each of kube-scheduler's filters, by example: who is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.objects import (
    HostPort,
    LabelSelector,
    Namespace,
    NodeAffinity,
    NodeTerm,
    PodAffinity,
    PodTerm,
    Requirement,
    Taint,
    Toleration,
)
from headroom.scheduling.filters import feasible, feasible_on
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import (
    HOSTNAME,
    NOON,
    ZONE,
    affinity,
    cluster,
    near,
    node,
    pod,
    port,
    selector,
    spread,
    to_node,
)


def where(state: ClusterState, **parts: Any) -> list[str]:
    return feasible(pod("new", **parts), state).nodes()


def why(state: ClusterState, **parts: Any) -> dict[str, int]:
    return feasible(pod("new", **parts), state).reasons()


def test_a_full_node_refuses() -> None:
    state = cluster(node("a", cpu=1000), pod("old", cpu=600, node="a"))
    assert where(state, cpu=400) == ["a"]
    assert why(state, cpu=401) == {"Insufficient cpu": 1}


def test_a_node_names_everything_it_lacks() -> None:
    state = cluster(node("a", cpu=1000, memory=100, pods=0))
    reasons = why(state, cpu=2000, memory=200, extra={"example.com/gpu": 1})
    assert reasons == {
        "Too many pods": 1,
        "Insufficient cpu": 1,
        "Insufficient memory": 1,
        "Insufficient example.com/gpu": 1,
    }


def test_a_pod_that_asks_for_nothing_fits_on_an_overcommitted_node() -> None:
    state = cluster(node("a", cpu=1000), pod("old", cpu=5000, node="a"))
    assert where(state) == ["a"]
    assert where(state, memory=1) == ["a"]


def test_a_finished_pod_uses_nothing() -> None:
    state = cluster(node("a", cpu=1000), pod("old", cpu=900, node="a", phase="Succeeded"))
    assert where(state, cpu=1000) == ["a"]


def test_a_cordoned_node_refuses_unless_the_cordon_is_tolerated() -> None:
    state = cluster(node("a", unschedulable=True))
    assert why(state) == {"node(s) were unschedulable": 1}
    toleration = Toleration("node.kubernetes.io/unschedulable", "Exists")
    assert where(state, tolerations=(toleration,)) == ["a"]


def test_a_taint_refuses_unless_tolerated() -> None:
    state = cluster(
        node("hard", taints=(Taint("dedicated", "db"),)),
        node("now", taints=(Taint("dedicated", "db", "NoExecute"),)),
        node("soft", taints=(Taint("dedicated", "db", "PreferNoSchedule"),)),
    )
    assert where(state) == ["soft"]
    assert why(state) == {"node(s) had untolerated taint(s)": 2}
    assert where(state, tolerations=(Toleration("dedicated", value="db"),)) == [
        "hard",
        "now",
        "soft",
    ]
    assert where(state, tolerations=(Toleration("dedicated", value="web"),)) == ["soft"]


def test_the_first_check_that_fails_gives_the_reason() -> None:
    state = cluster(node("a", cpu=1, unschedulable=True, taints=(Taint("x"),)))
    assert why(state, cpu=2000) == {"node(s) were unschedulable": 1}


def test_a_node_selector_and_an_affinity_must_both_match() -> None:
    state = cluster(node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "ssd", "n": "2"}))
    wanted = affinity(Requirement("n", "Gt", ("1",)))
    assert where(state, node_selector=(("disk", "ssd"),)) == ["a", "b"]
    assert where(state, node_selector=(("disk", "ssd"),), node_affinity=wanted) == ["b"]
    assert why(state, node_selector=(("disk", "hdd"),)) == {
        "node(s) didn't match Pod's node affinity/selector": 2
    }


def test_an_affinity_without_terms_matches_no_node() -> None:
    state = cluster(node("a"))
    assert where(state, node_affinity=NodeAffinity(required=())) == []
    assert where(state, node_affinity=NodeAffinity(required=(NodeTerm(),))) == []


def test_a_pod_that_names_its_nodes_is_not_tried_elsewhere() -> None:
    state = cluster(node("a"), node("b"), node("c", cpu=0))
    assert where(state, node_affinity=to_node("b")) == ["b"]
    assert why(state, cpu=1, node_affinity=to_node("c", "gone")) == {
        "Insufficient cpu": 1,
        "node(s) didn't satisfy plugin(s) [NodeAffinity]": 2,
    }


def test_a_pod_that_names_two_nodes_at_once_is_refused_as_a_whole() -> None:
    both = (
        Requirement("metadata.name", "In", ("a",)),
        Requirement("metadata.name", "In", ("b",)),
    )
    found = feasible(
        pod("new", node_affinity=NodeAffinity(required=(NodeTerm(fields=both),))),
        cluster(node("a"), node("b")),
    )
    assert found.nodes() == []
    assert found.message() == "0/2 nodes are available: pod affinity terms conflict."


@pytest.mark.parametrize(
    ("used", "wanted", "fits"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80, protocol="UDP"), port(80), True),
        (port(80, "10.0.0.1"), port(80, "10.0.0.2"), True),
        (port(80, "10.0.0.1"), port(80), False),
        (port(80), port(80, "10.0.0.1"), False),
    ],
)
def test_a_host_port_is_given_once(used: HostPort, wanted: HostPort, fits: bool) -> None:
    state = cluster(node("a"), pod("old", ports=(used,), node="a"))
    assert where(state, ports=(wanted,)) == (["a"] if fits else [])
    assert feasible_on(pod("new", ports=(wanted,)), "a", state, [pod("old").key]) is None


def test_a_hard_spread_keeps_domains_within_the_skew() -> None:
    web = {"app": "web"}
    state = cluster(
        node("a", zone="x"),
        node("b", zone="y"),
        node("nowhere"),
        pod("one", labels=web, node="a"),
        pod("other", labels={"app": "db"}, node="b"),
    )
    assert where(state, labels=web, spread=(spread(ZONE),)) == ["b"]
    assert why(state, labels=web, spread=(spread(ZONE),)) == {
        "node(s) didn't match pod topology spread constraints": 1,
        "node(s) didn't match pod topology spread constraints (missing required label)": 1,
    }
    assert where(state, labels=web, spread=(spread(ZONE, max_skew=2),)) == ["a", "b"]


def test_a_spread_does_not_count_pods_that_are_being_deleted() -> None:
    web = {"app": "web"}
    state = cluster(node("a", zone="x"), node("b", zone="y"), pod("one", labels=web, node="a"))
    assert where(state, labels=web, spread=(spread(ZONE),)) == ["b"]
    state.add_pod(pod("one", labels=web, node="a", deleted=NOON))
    assert where(state, labels=web, spread=(spread(ZONE),)) == ["a", "b"]
    state.add_pod(pod("two", labels=web, node="b", deleted=NOON))
    assert where(state, labels=web, spread=(spread(ZONE),)) == ["a", "b"]


def test_too_few_domains_count_as_one_that_is_empty() -> None:
    web = {"app": "web"}
    state = cluster(node("a", zone="x"), pod("one", labels=web, node="a"))
    assert where(state, labels=web, spread=(spread(ZONE),)) == ["a"]
    assert where(state, labels=web, spread=(spread(ZONE, min_domains=2),)) == []


def test_a_spread_counts_only_nodes_that_its_policies_include() -> None:
    web = {"app": "web"}
    state = cluster(
        node("a", zone="x", labels={"pool": "p"}),
        node("b", zone="y"),
        node("c", zone="z", labels={"pool": "p"}, taints=(Taint("t"),)),
        pod("one", labels=web, node="a"),
    )
    in_pool = {"labels": web, "node_selector": (("pool", "p"),)}
    assert where(state, **in_pool, spread=(spread(ZONE),)) == []
    honoured = spread(ZONE, node_taints_policy="Honor")
    assert where(state, **in_pool, spread=(honoured,)) == ["a"]
    ignored = spread(ZONE, node_affinity_policy="Ignore", node_taints_policy="Honor")
    assert where(state, **in_pool, spread=(ignored,)) == []


def test_a_spread_over_an_empty_selector_counts_nobody() -> None:
    state = cluster(node("a", zone="x"), node("b", zone="y"), pod("one", node="a"))
    everyone = spread(ZONE, chosen=LabelSelector())
    assert where(state, spread=(everyone,)) == ["a", "b"]


def test_match_label_keys_narrow_a_spread_to_the_pods_own_values() -> None:
    old = {"app": "web", "hash": "1"}
    state = cluster(node("a", zone="x"), node("b", zone="y"), pod("one", labels=old, node="a"))
    wanted = spread(ZONE, match_label_keys=("hash",))
    assert where(state, labels={"app": "web", "hash": "2"}, spread=(wanted,)) == ["a", "b"]
    assert where(state, labels=old, spread=(wanted,)) == ["b"]


def test_affinity_wants_company_in_the_domain() -> None:
    state = cluster(
        node("a", zone="x"),
        node("b", zone="x"),
        node("c", zone="y"),
        pod("db", labels={"app": "db"}, node="a"),
    )
    assert where(state, pod_affinity=near(ZONE, app="db")) == ["a", "b"]
    assert where(state, pod_affinity=near(HOSTNAME, app="db")) == ["a"]
    assert why(state, pod_affinity=near(ZONE, app="none")) == {
        "node(s) didn't match pod affinity rules": 3
    }


def test_the_first_of_a_group_may_begin_anywhere_with_the_label() -> None:
    state = cluster(node("a", zone="x"), node("b"))
    itself = near(ZONE, app="web")
    assert where(state, labels={"app": "web"}, pod_affinity=itself) == ["a"]
    assert where(state, labels={"app": "db"}, pod_affinity=itself) == []


def test_company_that_is_thought_away_is_no_company() -> None:
    state = cluster(node("a"), pod("db", labels={"app": "db"}, node="a"))
    new = pod("new", pod_affinity=near(app="db"))
    assert feasible_on(new, "a", state) is None
    alone = feasible_on(new, "a", state, {pod("db").key})
    assert alone == "node(s) didn't match pod affinity rules"
    itself = pod("new", labels={"app": "db"}, pod_affinity=near(app="db"))
    assert feasible_on(itself, "a", state, {pod("db").key}) is None


def test_one_pod_must_match_all_affinity_terms() -> None:
    terms = PodAffinity(
        required=(
            PodTerm(selector(app="web"), HOSTNAME),
            PodTerm(selector(tier="front"), HOSTNAME),
        )
    )
    apart = cluster(
        node("a"),
        pod("one", labels={"app": "web"}, node="a"),
        pod("two", labels={"tier": "front"}, node="a"),
    )
    assert where(apart, pod_affinity=terms) == []
    together = cluster(node("a"), pod("one", labels={"app": "web", "tier": "front"}, node="a"))
    assert where(together, pod_affinity=terms) == ["a"]


def test_anti_affinity_works_both_ways() -> None:
    lonely = near(ZONE, app="web")
    state = cluster(
        node("a", zone="x"),
        node("b", zone="y"),
        pod("one", labels={"app": "web"}, node="a"),
    )
    assert where(state, pod_anti_affinity=lonely) == ["b"]
    assert why(state, pod_anti_affinity=lonely) == {
        "node(s) didn't match pod anti-affinity rules": 1
    }
    state.add_pod(pod("shy", pod_anti_affinity=lonely, node="b"))
    assert where(state, labels={"app": "web"}) == ["a"]
    assert why(state, labels={"app": "web"}) == {
        "node(s) didn't satisfy existing pods anti-affinity rules": 1
    }


def test_a_term_is_about_its_own_namespace_unless_it_says_otherwise() -> None:
    state = cluster(
        node("a"), node("b"), pod("one", labels={"app": "db"}, namespace="other", node="a")
    )
    state.set_namespace(Namespace("other", {"team": "data"}))
    assert where(state, pod_affinity=near(app="db")) == []
    named = PodTerm(selector(app="db"), HOSTNAME, namespaces=("other",))
    assert where(state, pod_affinity=PodAffinity(required=(named,))) == ["a"]
    chosen = PodTerm(selector(app="db"), HOSTNAME, namespace_selector=selector(team="data"))
    assert where(state, pod_affinity=PodAffinity(required=(chosen,))) == ["a"]
    state.set_namespace(Namespace("other", {"team": "web"}))
    assert where(state, pod_affinity=PodAffinity(required=(chosen,))) == []


def test_room_promised_to_a_nominated_pod_is_not_given_to_its_equals() -> None:
    state = cluster(node("a", cpu=1000))
    state.nominate(pod("promised", cpu=800, priority=10), "a")
    assert where(state, cpu=400, priority=10) == []
    assert why(state, cpu=400, priority=10) == {"Insufficient cpu": 1}
    assert where(state, cpu=200, priority=10) == ["a"]
    assert where(state, cpu=400, priority=11) == ["a"]
    state.unnominate(pod("promised").key)
    assert where(state, cpu=400, priority=10) == ["a"]


def test_a_nominated_pod_is_not_in_its_own_way() -> None:
    state = cluster(node("a", cpu=1000))
    promised = pod("promised", cpu=800)
    state.nominate(promised, "a")
    assert feasible(promised, state).nodes() == ["a"]


def test_company_is_not_counted_on_before_it_is_there() -> None:
    state = cluster(node("a"))
    state.nominate(pod("promised", labels={"app": "db"}), "a")
    assert where(state, pod_affinity=near(app="db")) == []


def test_a_nominated_pods_anti_affinity_counts_only_where_company_matters_at_all() -> None:
    shy = near(app="web")
    state = cluster(node("a"), node("b"), node("c"))
    state.nominate(pod("promised", pod_anti_affinity=shy), "a")
    assert where(state, labels={"app": "web"}) == ["a", "b", "c"]
    state.add_pod(pod("there", pod_anti_affinity=shy, node="c"))
    assert where(state, labels={"app": "web"}) == ["b"]
    assert where(state, labels={"app": "web"}, priority=1) == ["a", "b"]


def test_the_message_is_kube_schedulers() -> None:
    state = cluster(
        *(node(f"small-{index}", cpu=100) for index in range(2)),
        *(node(f"tainted-{index}", taints=(Taint("x"),)) for index in range(3)),
    )
    assert feasible(pod("new", cpu=500), state).message() == (
        "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s)."
    )
    assert feasible(pod("new"), cluster()).message() == "no nodes available to schedule pods"


def test_a_node_that_does_not_reach_a_bound_volume_refuses() -> None:
    state = cluster(node("a", zone="x"), node("b", zone="y"), node("c"))
    in_x = (NodeTerm((Requirement(ZONE, "In", ("x",)),)),)
    anywhere = (NodeTerm((Requirement(ZONE, "Exists"),)),)
    assert where(state, reach=(in_x, anywhere)) == ["a"]
    reason = "node(s) didn't match PersistentVolume's node affinity"
    assert why(state, reach=(in_x, anywhere)) == {reason: 2}
    assert feasible_on(pod("new", reach=(in_x,)), "b", state) == reason
    assert feasible_on(pod("new", reach=(in_x,)), "a", state) is None


def test_room_comes_before_reach_and_neither_is_cured_by_preemption_of_the_other() -> None:
    state = cluster(node("a", cpu=100, zone="y"), pod("old", cpu=100, node="a"))
    in_x = (NodeTerm((Requirement(ZONE, "In", ("x",)),)),)
    found = feasible(pod("new", cpu=50, reach=(in_x,)), state)
    assert found.reasons() == {"Insufficient cpu": 1}
    nothing_asked = feasible(pod("new", reach=(in_x,)), state)
    assert [*nothing_asked.curable()] == []
