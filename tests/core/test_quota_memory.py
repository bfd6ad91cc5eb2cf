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
    answer, _ = tight_now(NOTHING_SAID, tight(4), 0, NOON)
    assert (answer.tight, answer.sure_at) == (tight(4), None)


def test_a_smaller_answer_takes_nothing_away_until_it_has_lasted() -> None:
    _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    answer, memory = tight_now(memory, tight(1), 4, SOON)
    assert answer.tight is not None
    assert (answer.tight.count, answer.sure_at) == (4, SOON + SETTLED)
    answer, _ = tight_now(memory, tight(1), 4, LATER)
    assert answer.tight == tight(1)


def test_a_larger_answer_lets_nothing_be_made_until_it_has_lasted() -> None:
    _, memory = tight_now(NOTHING_SAID, tight(1), 1, NOON)
    answer, memory = tight_now(memory, None, 1, SOON)
    assert answer.tight == tight(1)
    answer, _ = tight_now(memory, None, 1, LATER)
    assert answer.tight is None


def test_an_answer_that_changes_again_begins_anew() -> None:
    _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    _, memory = tight_now(memory, tight(1), 4, SOON)
    _, memory = tight_now(memory, tight(2), 4, SOON + SETTLED / 2)
    answer, _ = tight_now(memory, tight(2), 4, LATER)
    assert answer.tight is not None
    assert answer.tight.count == 4


def test_asking_twice_at_one_moment_is_the_same_as_asking_once() -> None:
    _, memory = tight_now(NOTHING_SAID, tight(4), 4, NOON)
    once, after = tight_now(memory, tight(1), 4, SOON)
    assert tight_now(after, tight(1), 4, SOON) == (once, after)


def test_a_buffer_keeps_what_stands_until_an_allowance_has_lasted() -> None:
    room, memory = room_now(NOTHING_SAID, QuotaAllowance(1, ("q",)), 3, NOON)
    assert room is not None
    assert (room.allowance.count, room.look_again) == (3, NOON + SETTLED)
    room, memory = room_now(memory, QuotaAllowance(1, ("q",)), 3, NOON + SETTLED)
    assert room is not None
    assert (room.allowance.count, room.look_again) == (1, None)
    assert room_now(memory, None, 3, LATER) == (None, NOTHING_SAID)
