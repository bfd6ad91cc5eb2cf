"""What is decided about the objects that a Headroom has besides its slots, as values."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.actions import CreateSlotSet, Denied, Done, Outcome, Taken, WriteOverhead
from headroom.core.headrooms.companions import (
    NOT_MADE,
    Companion,
    decide_daemon_set,
    decide_slot_set,
)
from headroom.core.headrooms.memory import HeadroomMemory, guardian_settled
from headroom.core.headrooms.node_overhead import Overhead
from headroom.core.headrooms.wanted_slots import WantedSlots
from headroom.core.sizes.per_node import PerNode
from tests.builders import NOON
from tests.core.headroom_builder import headroom, shape, web

SOON = NOON + timedelta(seconds=30)
HEADROOM = headroom(PerNode(1))
OVERHEAD = Overhead(HEADROOM.parent, shape())
OURS = web(0, controller=HEADROOM.parent.uid, uid="of-ours")
FOREIGN = web(0, controller="somebody", uid="of-theirs")


def test_a_slot_set_is_made_once() -> None:
    decision = decide_slot_set(NOT_MADE, HEADROOM, None, NOON)
    assert decision == (NOT_MADE, CreateSlotSet(HEADROOM.parent), None)
    written = Companion("of-ours")
    assert decide_slot_set(written, HEADROOM, None, NOON) == (written, None, None)
    assert decide_slot_set(NOT_MADE, HEADROOM, OURS, NOON).companion.uid == "of-ours"


def test_a_slot_set_of_somebody_else_is_left_alone() -> None:
    decision = decide_slot_set(Companion("of-ours"), HEADROOM, FOREIGN, NOON)
    assert decision == (NOT_MADE, None, None)


def test_what_was_refused_is_tried_again_later() -> None:
    refused = Companion(paused_until=SOON)
    assert decide_slot_set(refused, HEADROOM, None, NOON) == (refused, None, SOON)
    assert decide_slot_set(refused, HEADROOM, None, SOON).write is not None
    assert decide_daemon_set(refused, HEADROOM, None, OVERHEAD, NOON).wake_at == SOON


def test_a_daemon_set_is_made_and_brought_up_to_date() -> None:
    made = decide_daemon_set(NOT_MADE, HEADROOM, None, OVERHEAD, NOON)
    assert made.write == WriteOverhead(OVERHEAD, "")
    there = replace(OURS, made_as="an older shape")
    anew = decide_daemon_set(NOT_MADE, HEADROOM, there, OVERHEAD, NOON)
    assert anew.write == WriteOverhead(OVERHEAD, "of-ours")
    current = replace(OURS, made_as=OVERHEAD.shape)
    assert decide_daemon_set(NOT_MADE, HEADROOM, current, OVERHEAD, NOON).write is None


def test_no_daemon_set_is_written_that_is_not_ours_or_not_known() -> None:
    for there, overhead in ((FOREIGN, OVERHEAD), (OURS, None), (None, None)):
        decision = decide_daemon_set(NOT_MADE, HEADROOM, there, overhead, NOON)
        assert decision == (NOT_MADE, None, None)
    assert decide_daemon_set(NOT_MADE, headroom(), None, OVERHEAD, NOON).write is None


@pytest.mark.parametrize(
    ("outcome", "counted", "before", "after", "again"),
    [
        (Denied("quota"), True, False, True, True),
        (Denied("quota"), False, False, False, False),
        (Denied("quota"), True, True, True, False),
        (Done(), True, True, False, True),
        (Taken(), True, True, True, False),
    ],
)
def test_what_a_guardian_tells_of_slots_on_new_nodes(
    outcome: Outcome, counted: bool, before: bool, after: bool, again: bool
) -> None:
    memory, decided_again = guardian_settled(
        HeadroomMemory(guardian_refused=before), outcome, counted
    )
    assert (memory.guardian_refused, decided_again) == (after, again)


def test_when_one_slot_stands_those_of_later_follow() -> None:
    memory = HeadroomMemory(wished=WantedSlots(later=2))
    assert guardian_settled(memory, Done(), False) == (memory, True)
