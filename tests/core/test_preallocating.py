"""Which running pods a hold waits for: Koordinator's examples, and what is no candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headroom.core.holds import ControllerMatch, Hold, OwnerRule, Terms
from headroom.core.names import CLAIMED_ANNOTATION
from headroom.core.objects import Key, Pod, Wish
from headroom.core.preallocating import Fits, may_succeed, succession
from headroom.core.resources import EMPTY, Resources
from tests.builders import NOON, hold, pod, resources, selector

PRIORITY = "pod.koordinator.sh/pre-allocatable-priority"


def running(name: str, cpu: int, memory: str = "0", priority: int = 0, **parts: Any) -> Pod:
    annotations = {PRIORITY: str(priority)} if priority else {}
    labels = {"app": "web"}
    return pod(
        name, cpu, memory, **{"node": "a", "labels": labels, "annotations": annotations, **parts}
    )


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
