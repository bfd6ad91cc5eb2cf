"""Facts that count once they have lasted."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.waits.stabilization import Stabilization
from tests.builders import NOON

NEEDED, SECOND = timedelta(seconds=3), timedelta(seconds=1)


def test_a_fact_counts_once_it_has_been_the_same_for_long_enough() -> None:
    heard: Stabilization[str, int] = Stabilization(NEEDED)
    assert heard.tell("a", 1, NOON) == NOON + NEEDED
    assert heard.tell("a", 1, NOON + SECOND) == NOON + NEEDED
    assert heard.counts_from("a") == NOON + NEEDED


def test_a_fact_that_changes_has_to_last_anew() -> None:
    heard: Stabilization[str, int] = Stabilization(NEEDED)
    heard.tell("a", 1, NOON)
    assert heard.tell("a", 2, NOON + SECOND) == NOON + SECOND + NEEDED
    assert heard.tell("a", 1, NOON + 2 * SECOND) == NOON + 2 * SECOND + NEEDED


def test_a_fact_that_is_forgotten_counts_from_nothing() -> None:
    heard: Stabilization[str, int] = Stabilization(NEEDED)
    heard.tell("a", 1, NOON)
    heard.tell("b", 1, NOON)
    heard.forget("a")
    assert heard.counts_from("a") is None
    assert heard.counts_from("b") is not None
