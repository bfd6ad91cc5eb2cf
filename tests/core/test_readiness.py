"""What a headroom says of itself: ready or not, and everything that is in the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus, Limits
from headroom.core.headrooms.readiness import SlotTally, selector_of, status_of
from headroom.core.headrooms.wanted_slots import SizeView, wish
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.holds import Problem
from headroom.core.objects import Condition
from headroom.core.sizes.per_node import PerNode
from headroom.core.sizes.percent import Percent
from headroom.core.sizes.replicas import Replicas
from tests.builders import NOON, node
from tests.core.headroom_builder import headroom


def told(made: Headroom, tally: SlotTally, **sight: Any) -> HeadroomStatus:
    window = sight.pop("window", ActiveWindow(made.size))
    return status_of(made, wish(made, SizeView(window, **sight), NOON), tally, NOON)


def counted(trouble: str = "", nodes: int = 0, **counts: Any) -> SlotTally:
    return SlotTally(HeadroomStatus(**counts), nodes=nodes, trouble=trouble)


def states(status: HeadroomStatus) -> str:
    """The conditions that are true, and their reason."""
    true = [each.type for each in status.conditions if each.status == "True"]
    return f"{' '.join(true)}: {status.conditions[0].reason}"


def message(status: HeadroomStatus) -> str:
    return status.conditions[0].message


@pytest.mark.parametrize(
    ("made", "tally", "says"),
    [
        (headroom(Replicas(3)), counted(held=3), "Ready: Held"),
        (headroom(Replicas(3)), counted(held=1, pending=2), "Progressing: Holding"),
        (headroom(Replicas(0)), counted(), "Ready: Held"),
        (headroom(Replicas(3), limits=Limits(slots=2)), counted(held=2), "Ready: LimitReached"),
        (headroom(Replicas(3), limits=Limits(slots=2)), counted(held=1), "Progressing: Holding"),
        (headroom(Percent(5)), counted(), "Degraded: WorkloadMissing"),
        (
            headroom(problems=(Problem("spec.size", "is empty"),)),
            counted(),
            "Degraded: InvalidSpec",
        ),
        (headroom(paused=True), counted(), "Ready: Paused"),
        (headroom(), counted(held=1, trouble="no node fits"), "Degraded: Unschedulable"),
    ],
)
def test_the_conditions_follow_from_wish_and_tally(
    made: Headroom, tally: SlotTally, says: str
) -> None:
    assert states(told(made, tally)) == says


def test_between_windows_it_is_ready_with_nothing() -> None:
    status = told(headroom(), counted(next_start=NOON), window=None)
    assert states(status) == "Ready: OutsideSchedule"
    assert (status.desired, status.next_start) == (0, NOON)


def test_everything_in_the_way_is_in_the_message() -> None:
    made = headroom(PerNode(slots=1), limits=Limits(nodes=1))
    nodes = (node("a"), node("b"), node("c", unschedulable=True))
    status = told(made, counted(nodes=3, pending=1, trouble="a: 1 cpu short"), nodes=nodes)
    assert message(status) == (
        "0 of 1 slots held; spec.limits.nodes allows 1 of 2 slots; "
        "1 of 3 nodes left out: 1 cordoned; a: 1 cpu short"
    )


def test_counts_are_passed_on() -> None:
    status = told(headroom(), counted(held=2, pending=1, claimed=17, hits=18, misses=4))
    assert (status.desired, status.held, status.pending) == (3, 2, 1)
    assert (status.claimed, status.hits, status.misses) == (17, 18, 4)


def test_a_condition_keeps_its_time_until_it_turns() -> None:
    before = NOON - timedelta(hours=1)
    old = (Condition("Ready", "True", "Held", "", before), Condition("Degraded", "True", "", ""))
    made = replace(headroom(), status=HeadroomStatus(conditions=old), generation=7)
    ready, progressing, degraded = told(made, counted(held=3)).conditions
    assert (ready.since, progressing.since, degraded.since) == (before, NOON, NOON)
    assert {ready.generation, degraded.generation} == {7}


def test_the_same_facts_make_the_same_status_again() -> None:
    made = headroom()
    first = told(made, counted(held=3))
    assert told(replace(made, status=first), counted(held=3)) == first


def test_guardians_are_found_by_the_selector_of_the_scale() -> None:
    assert selector_of(headroom()) == "headroom.dev/for=burst,headroom.dev/role=guardian"
