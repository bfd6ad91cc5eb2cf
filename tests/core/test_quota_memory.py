"""An answer of quotas counts once it has lasted; what stands is not given back before."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.demand.quota_memory import NOTHING_SAID, SETTLED, room_now, tight_now
from headroom.core.demand.resource_quotas import QuotaAllowance, Tight
from tests.builders import NOON

SOON = NOON + timedelta(seconds=1)
LATER = SOON + SETTLED


def tight(count: int) -> Tight:
    return Tight(count, "q", "pods", 10, 10 - count, 1)


def test_the_first_answer_counts_at_once() -> None:
    answer, sure_at, _ = tight_now(NOTHING_SAID, tight(4), 0, NOON)
    assert (answer, sure_at) == (tight(4), None)


def test_a_smaller_answer_takes_nothing_away_until_it_has_lasted() -> None:
    _, _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    answer, sure_at, memory = tight_now(memory, tight(1), 4, SOON)
    assert answer is not None
    assert (answer.count, sure_at) == (4, SOON + SETTLED)
    answer, _, _ = tight_now(memory, tight(1), 4, LATER)
    assert answer == tight(1)


def test_a_larger_answer_lets_nothing_be_made_until_it_has_lasted() -> None:
    _, _, memory = tight_now(NOTHING_SAID, tight(1), 1, NOON)
    answer, _, memory = tight_now(memory, None, 1, SOON)
    assert answer == tight(1)
    answer, _, _ = tight_now(memory, None, 1, LATER)
    assert answer is None


def test_an_answer_that_changes_again_begins_anew() -> None:
    _, _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    _, _, memory = tight_now(memory, tight(1), 4, SOON)
    _, _, memory = tight_now(memory, tight(2), 4, SOON + SETTLED / 2)
    answer, _, _ = tight_now(memory, tight(2), 4, LATER)
    assert answer is not None
    assert answer.count == 4


def test_asking_twice_at_one_moment_is_the_same_as_asking_once() -> None:
    _, _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    once = tight_now(memory, tight(1), 4, SOON)
    assert tight_now(once[-1], tight(1), 4, SOON) == once


def test_a_buffer_keeps_what_stands_until_an_allowance_has_lasted() -> None:
    room, again, memory = room_now(NOTHING_SAID, QuotaAllowance(1, ("q",)), 3, NOON)
    assert room is not None
    assert (room.count, again) == (3, NOON + SETTLED)
    room, again, memory = room_now(memory, QuotaAllowance(1, ("q",)), 3, NOON + SETTLED)
    assert room is not None
    assert (room.count, again) == (1, None)
    assert room_now(memory, None, 3, LATER) == (None, None, NOTHING_SAID)
