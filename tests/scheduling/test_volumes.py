"""Volumes as filters: zones that labels name, and volumes that one pod uses at a time."""

from __future__ import annotations

from headroom.core.objects import Key
from headroom.scheduling.filters import feasible, feasible_on
from headroom.scheduling.reasons import VOLUME_IN_USE, VOLUME_ZONE
from tests.scheduling.build import cluster, node, pod

ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def test_a_node_in_another_zone_than_the_labels_of_a_volume_refuses() -> None:
    state = cluster(node("a", zone="x"), node("b", zone="y"), node("c"))
    wish = pod("new", zones=((ZONE, ("x", "z")),))
    assert feasible(wish, state).nodes() == ["a", "c"]  # A node that says nothing takes all.
    assert feasible(wish, state).reasons() == {VOLUME_ZONE: 1}
    assert feasible_on(wish, "b", state) == VOLUME_ZONE
    assert feasible(pod("new", zones=((OLD_ZONE, ("y",)),)), state).nodes() == ["b", "c"]


def test_a_volume_for_one_pod_keeps_others_off_every_node_until_its_user_is_gone() -> None:
    user = pod("user", node="a", claims=("data",))
    state = cluster(node("a"), node("b"), user)
    wish = pod("new", claims=("data",), sole=("data",))
    found = feasible(wish, state)
    assert (found.nodes(), found.reasons()) == ([], {VOLUME_IN_USE: 2})
    assert [*found.curable()] != []  # Preemption of the user would help.
    assert feasible_on(wish, "b", state, {user.key}) == VOLUME_IN_USE
    assert feasible_on(wish, "a", state, {user.key}) is None
    state.remove_pod(user.key)
    assert feasible(wish, state).nodes() == ["a", "b"]


def test_a_pod_on_its_way_counts_as_a_user_and_is_not_in_its_own_way() -> None:
    state = cluster(node("a"), node("b"))
    first, second = (pod(name, claims=("data",), sole=("data",)) for name in ("one", "two"))
    state.expect(first, "a")
    assert feasible(second, state).reasons() == {VOLUME_IN_USE: 2}
    assert feasible_on(first, "a", state) is None
    elsewhere = pod("three", claims=("data",), sole=("data",))
    assert [*state.claim_users(Key(elsewhere.key.namespace, "data"))] == [first.key]
