"""The conditions of a status."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.conditions import conditions_of
from tests.builders import NOON

LATER = NOON + timedelta(minutes=1)


def test_a_condition_keeps_its_time_for_as_long_as_its_status_stays() -> None:
    before = conditions_of((("Ready", "True", "Held", "one"),), (), 1, NOON)
    (same,) = conditions_of((("Ready", "True", "Used", "two"),), before, 2, LATER)
    assert (same.since, same.reason, same.message, same.generation) == (NOON, "Used", "two", 2)
    (other,) = conditions_of((("Ready", "False", "Lost", ""),), before, 2, LATER)
    assert other.since == LATER


def test_the_time_of_a_condition_has_whole_seconds() -> None:
    (told,) = conditions_of((("Ready", "True", "", ""),), (), 1, NOON + timedelta(milliseconds=5))
    assert told.since == NOON
