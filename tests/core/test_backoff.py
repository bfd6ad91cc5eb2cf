"""The pause after a failure."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.waits.backoff import backoff

FIRST, LONGEST = timedelta(seconds=1), timedelta(seconds=5)


def test_a_pause_doubles_up_to_the_longest() -> None:
    pauses = [backoff(FIRST, failures, LONGEST) for failures in range(5)]
    assert pauses == [timedelta(seconds=number) for number in (1, 2, 4, 5, 5)]


def test_a_pause_may_be_in_seconds() -> None:
    assert [backoff(0.5, failures, 3.0) for failures in range(4)] == [0.5, 1.0, 2.0, 3.0]


def test_no_number_of_failures_is_too_large() -> None:
    assert backoff(FIRST, 10**9, timedelta(days=1)) == timedelta(days=1)
