"""How fast guardians are created, as values: what each answer of the API server changes."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.waits.pace import (
    LONGEST_PAUSE,
    MOST_AT_A_TIME,
    NAMESPACE_PAUSE,
    QUOTA_PAUSE,
    Pace,
    for_shape,
    leaves_more,
    made,
    quota_grew,
    quota_lifted,
    refused,
    refused_in_namespace,
    slowed,
)
from tests.builders import NOON

FIRST = timedelta(seconds=1)
FREE = Pace("shop", 10)


def test_so_many_are_free_as_are_not_under_way() -> None:
    assert [FREE.free(each, NOON) for each in (0, 9, 10, 11)] == [10, 1, 0, 0]


def test_a_refusal_pauses_all_and_one_tries_again_later_each_time() -> None:
    first = refused(FREE, "no room", "a", FIRST, NOON)
    assert (first.window, first.why, first.not_before) == (1, "no room", NOON + FIRST)
    assert first.free(0, NOON) == 0
    again = NOON + FIRST
    assert first.free(0, again) == 1
    assert refused(first, "no room", "a", FIRST, again).not_before == again + 2 * FIRST


def test_refusals_at_the_same_time_count_once() -> None:
    first = refused(FREE, "no room", "a", FIRST, NOON)
    assert refused(first, "no room", "a", FIRST, NOON) == first


def test_a_pause_has_a_longest() -> None:
    often = refused(Pace("shop", 1, refusals=50), "no room", "a", FIRST, NOON)
    assert often.not_before == NOON + LONGEST_PAUSE


def test_each_success_allows_one_more_and_ends_the_pause() -> None:
    after = made(refused(FREE, "no room", "a", FIRST, NOON))
    assert after == Pace("shop", 2, shape="a")
    assert made(Pace("shop", MOST_AT_A_TIME)).window == MOST_AT_A_TIME


def test_a_namespace_slows_down_and_pauses_only_at_one_at_a_time() -> None:
    assert refused_in_namespace(FREE, NOON) == slowed(FREE) == Pace("shop", 5)
    assert refused_in_namespace(Pace("shop", 2), NOON).not_before == NOON + NAMESPACE_PAUSE


def test_another_shape_does_not_wait_for_what_was_refused_to_the_last() -> None:
    paused = refused(FREE, "no room", "a", FIRST, NOON)
    assert for_shape(paused, "a") is paused
    assert for_shape(paused, "b").not_before is None


def test_a_quota_that_grows_shortens_the_pause_and_one_that_is_raised_ends_it() -> None:
    def quota(hard: int, used: int) -> ResourceQuota:
        return ResourceQuota("q", {"pods": hard}, {"pods": used}, namespace="shop")

    paused = Pace("shop", 1, refusals=9, not_before=NOON + LONGEST_PAUSE)
    assert leaves_more(quota(2, 2), quota(2, 1))
    assert not leaves_more(quota(2, 1), quota(2, 2))
    freed = quota_grew(paused, quota(2, 2), quota(2, 1), NOON)
    assert (freed.not_before, freed.refusals) == (NOON + QUOTA_PAUSE, 9)
    raised = quota_grew(paused, quota(2, 2), quota(3, 2), NOON)
    assert (raised.not_before, raised.refusals) == (NOON, 0)
    assert quota_lifted(paused) == Pace("shop", 1)
    assert quota_grew(FREE, quota(2, 2), quota(3, 2), NOON) is FREE
