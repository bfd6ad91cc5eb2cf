"""Facts that count once they have lasted."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.waits.stabilization import Lasting
from tests.builders import NOON

SECOND = timedelta(seconds=1)


def test_a_fact_that_stays_the_same_lasts_since_it_was_first_told() -> None:
    assert Lasting(1, NOON).told(1, NOON + SECOND).since == NOON


def test_a_fact_that_changes_has_to_last_anew() -> None:
    changed = Lasting(1, NOON).told(2, NOON + SECOND)
    assert changed == Lasting(2, NOON + SECOND)
    assert changed.told(1, NOON + 2 * SECOND).since == NOON + 2 * SECOND
