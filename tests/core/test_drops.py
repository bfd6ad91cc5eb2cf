"""The more often a slot is given back, the longer it waits before it is held again."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.waits.drops import CALM, FIRST_PAUSE, Drops, dropped
from tests.builders import NOON

SECOND = timedelta(seconds=1)


def test_the_first_time_costs_nothing_and_each_further_one_more() -> None:
    first = dropped(None, NOON)
    assert first.not_before(NOON) is None
    second = dropped(first, NOON + SECOND)
    assert second.not_before(NOON + SECOND) == NOON + SECOND + FIRST_PAUSE
    assert second.not_before(NOON + SECOND + FIRST_PAUSE) is None
    third = dropped(second, NOON + 2 * SECOND)
    assert third.not_before(NOON + 2 * SECOND) == NOON + 2 * SECOND + 2 * FIRST_PAUSE


def test_what_was_long_ago_does_not_count() -> None:
    often = Drops(9, NOON)
    assert often.counts(NOON + CALM - SECOND)
    assert not often.counts(NOON + CALM)
    assert often.not_before(NOON + CALM) is None
    assert dropped(often, NOON + CALM) == Drops(1, NOON + CALM)
