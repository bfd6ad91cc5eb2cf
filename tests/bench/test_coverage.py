"""Coverage counts distinct nodes with a live, bound guardian, and remembers the worst moment."""

from __future__ import annotations

from dataclasses import replace

from bench.coverage import Coverage
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod
from tests.builders import NOON, pod

LABELS = {ROLE_LABEL: ROLE_GUARDIAN}


def guardian(name: str, node: str = "") -> Pod:
    return pod(name, cpu=1, labels=LABELS, node=node)


def covered(*guardians: Pod) -> Coverage:
    coverage = Coverage()
    for number, one in enumerate(guardians):
        coverage.see(one, float(number))
    return coverage


def test_two_guardians_on_one_node_cover_one_node() -> None:
    coverage = covered(guardian("g1", "a"), guardian("g2", "a"), guardian("g3", "b"))
    assert coverage.covered == 2
    assert coverage.most_on_one == 2


def test_a_pod_without_a_node_and_a_strangers_pod_cover_nothing() -> None:
    coverage = covered(guardian("g1"), pod("web", cpu=1, node="a"))
    assert coverage.covered == 0
    assert len(coverage.born) == 1


def test_a_guardian_that_is_being_deleted_or_has_failed_covers_nothing() -> None:
    one, two = guardian("g1", "a"), guardian("g2", "b")
    coverage = covered(one, two, replace(one, deleted=NOON), replace(two, phase="Failed"))
    assert coverage.covered == 0


def test_the_lowest_count_is_remembered() -> None:
    one, two = guardian("g1", "a"), guardian("g2", "b")
    coverage = covered(one, two)
    coverage.begin_anew()
    coverage.lose(one.key)
    coverage.see(guardian("g3", "a"), 9.0)
    assert (coverage.covered, coverage.lowest) == (2, 1)


def test_a_second_guardian_before_the_first_goes_leaves_no_bare_moment() -> None:
    old = guardian("old", "a")
    coverage = covered(old)
    coverage.begin_anew()
    coverage.see(guardian("new", "a"), 9.0)
    coverage.lose(old.key)
    assert (coverage.covered, coverage.lowest, coverage.most_on_one) == (1, 1, 2)


def test_only_new_pods_count_as_made_after_a_new_beginning() -> None:
    old = guardian("old", "a")
    coverage = covered(old)
    coverage.begin_anew()
    coverage.see(replace(old, deleted=NOON), 8.0)
    coverage.see(guardian("new", "a"), 9.0)
    assert list(coverage.homes.values()) == ["a"]
    assert len(coverage.born) == 1


def test_a_node_is_first_covered_once() -> None:
    one = guardian("g1", "a")
    coverage = covered(one)
    coverage.lose(one.key)
    coverage.see(guardian("g2", "a"), 9.0)
    assert coverage.bound_at == {"a": 0.0}
