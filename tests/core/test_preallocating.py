"""Which running pods a hold waits for: Koordinator's examples, and what is no candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.eviction.preallocation import Fits, may_succeed, permitted, succession
from headroom.core.holds import ControllerMatch, Hold, OwnerRule, Terms
from headroom.core.names import CLAIMED_ANNOTATION
from headroom.core.objects import Key, Pod, Wish
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, Resources
from tests.builders import NOON, hold, pod, resources, selector

MARKED: dict[str, Any] = {"labels": {}, "pre_allocatable": 0}


def running(name: str, cpu: int, memory: str = "0", priority: int = 0, **parts: Any) -> Pod:
    given = {"node": "a", "labels": {"app": "web"}, "pre_allocatable": priority or None}
    return pod(name, cpu, memory, **{**given, **parts})


def beside(wanted: Hold, free: Resources, pods: list[Pod]) -> Fits:
    """A node with so much free beside these pods."""

    def fits(node: str, without: frozenset[Key]) -> bool:
        room = free
        for each in pods:
            room = room + each.requests if each.key in without else room
        return wanted.template.pod.requests.fits_in(room)

    return fits


def taken(wanted: Hold, free: Resources, *pods: Pod) -> list[str] | None:
    found = succession(wanted, {"a": pods}, beside(wanted, free, list(pods)))
    return None if found is None else [each.key.name for each in found.pods]


def several(cpu: int, memory: str) -> Hold:
    return hold("r", cpu, memory, terms=Terms(takes_several=True))


def test_the_candidate_of_the_highest_priority_is_taken() -> None:
    pods = running("low", 2, priority=1), running("high", 2, priority=2)
    assert taken(hold("r", 2, 0), EMPTY, *pods) == ["high"]


def test_several_are_taken_until_the_hold_fits_and_none_that_is_too_large() -> None:
    pods = (
        running("a", 1, "2Gi", 70),
        running("b", 5, "10Gi", 90),
        running("c", 1, "2Gi", 50),
    )
    assert taken(several(4, "8Gi"), resources(2, "4Gi"), *pods) == ["a", "c"]


def test_no_more_are_taken_than_are_needed() -> None:
    pods = running("a", 1, "1Gi", 70), running("b", 2, "2Gi", 90), running("c", 1, "1Gi", 50)
    assert taken(several(8, "16Gi"), resources(6, "14Gi"), *pods) == ["b"]


def test_a_hold_for_one_does_not_take_two() -> None:
    pods = running("a", 1), running("b", 1)
    assert taken(hold("r", 2, 0), EMPTY, *pods) is None
    assert taken(several(2, "0"), EMPTY, *pods) == ["a", "b"]


def test_the_node_with_the_fewest_pods_to_wait_for_is_chosen_then_the_best_fit() -> None:
    wanted = several(4, "0")
    by_node = {
        "many": [running("a", 2), running("b", 2)],
        "loose": [running("c", 3)],
        "tight": [running("d", 4)],
    }
    found = succession(wanted, by_node, lambda node, without: node != "many" or len(without) == 2)
    assert found is not None
    assert found.node == "tight"


def test_a_candidate_is_a_running_pod_of_the_owners() -> None:
    assert may_succeed(hold("r", 2, 0), running("p", 2))


@pytest.mark.parametrize(
    "other",
    [
        running("p", 2, labels={"app": "api"}),
        running("p", 2, node=""),
        running("p", 2, phase="Succeeded"),
        running("p", 2, deleted=NOON),
        running("p", 3),
        running("p", 2, annotations={CLAIMED_ANNOTATION: "Hold/default/other"}),
        running("p", 2, wish=Wish(needs_hold=True, name="other")),
        running("p", 2, namespace="there"),
    ],
)
def test_no_other_pod_is_one(other: Pod) -> None:
    assert not may_succeed(hold("r", 2, 0), other)


def test_all_parts_of_an_owner_rule_must_match() -> None:
    rule = OwnerRule(controller=ControllerMatch(name="rs"), selector=selector(app="web"))
    assert not may_succeed(hold("r", 2, 0, owners=(rule,)), running("p", 2))


def test_what_it_waits_for_is_told() -> None:
    found = succession(hold("r", 2, 0), {"a": [running("p", 2)]}, lambda node, without: True)
    assert found is not None
    assert found.message == "waits on a for the end of default/p"
    assert replace(found, pods=()).message == "its room is free"


def for_marked(cpu: int = 2, memory: str = "0", **terms: Any) -> Hold:
    return hold("r", cpu, memory, terms=Terms(takes_marked=True, **terms))


def test_one_that_takes_marked_pods_is_refused_unless_the_operator_allows_it() -> None:
    (problem,) = permitted(for_marked(), Policy()).problems
    assert problem.path == "spec.preAllocationPolicy.mode"
    assert problem.message.endswith("runs with --allow-cluster-preallocation")
    assert permitted(for_marked(), Policy(cluster_preallocation=True)).problems == ()
    assert permitted(hold("r"), Policy()).problems == ()


def test_a_marked_pod_is_taken_whoever_owns_it_and_whatever_it_has_claimed() -> None:
    claimed = {CLAIMED_ANNOTATION: "Hold/default/other"}
    for other in (
        running("p", 2, **MARKED),
        running("p", 2, **MARKED, namespace="there"),
        running("p", 2, **MARKED, annotations=claimed),
        running("p", 2, **MARKED, wish=Wish(needs_hold=True, name="other")),
    ):
        assert may_succeed(for_marked(), other)


@pytest.mark.parametrize(
    "other",
    [
        running("p", 2),
        running("p", 3, **MARKED),
        running("p", 0, "1Gi", **MARKED),
        running("p", 2, **MARKED, node=""),
        running("p", 2, **MARKED, phase="Failed"),
        running("p", 2, **MARKED, deleted=NOON),
    ],
)
def test_no_pod_that_is_not_marked_running_and_small_enough_is_taken(other: Pod) -> None:
    assert not may_succeed(for_marked(), other)


def test_one_without_a_priority_has_none_and_equals_come_by_uid() -> None:
    odd = running("odd", 2, pre_allocatable=0, uid="3")
    none, below = running("none", 2, uid="2"), running("below", 2, priority=-1, uid="1")
    assert taken(for_marked(), EMPTY, odd, below, none) == ["none"]
    assert taken(for_marked(), EMPTY, odd, below) == ["odd"]


def test_the_order_and_the_node_follow_what_the_pods_say_now() -> None:
    first, second = running("first", 2, priority=2), running("second", 2, priority=1)
    assert taken(for_marked(), EMPTY, first, second) == ["first"]
    assert taken(for_marked(), EMPTY, first, running("second", 2, priority=3)) == ["second"]
    moved = succession(for_marked(), {"b": [replace(first, node="b")]}, lambda node, without: True)
    assert moved is not None
    assert moved.node == "b"


def test_of_candidates_too_large_in_one_dimension_nothing_is_left() -> None:
    pods = running("cpu", 5, "1Gi", **MARKED), running("memory", 1, "9Gi", **MARKED)
    wanted = for_marked(4, "8Gi", takes_several=True)
    assert not any(may_succeed(wanted, each) for each in pods)
    assert taken(several(4, "8Gi"), EMPTY) is None


def test_a_pod_that_asks_for_something_besides_is_taken_too() -> None:
    wanted = several(4, "0")
    more = Resources({"cpu": 2000, "memory": 2**30, "example.com/gpu": 1})
    pods = [replace(running(name, 2), requests=more) for name in ("p", "q", "r")]
    assert may_succeed(wanted, pods[0])
    assert taken(wanted, EMPTY, *pods) == ["p", "q"]


def test_a_pod_that_leaves_nothing_of_what_is_kept_is_not_waited_for() -> None:
    assert not may_succeed(several(4, "0"), running("p", 0, "1Gi"))
