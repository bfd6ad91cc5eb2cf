"""The agenda: first come first served, timers, what is under way, and pauses after failure."""

from __future__ import annotations

from datetime import timedelta

from headroom.engine.agenda import FIRST_PAUSE, LONGEST_PAUSE, Agenda
from tests.builders import NOON

SECOND = timedelta(seconds=1)


def test_subjects_come_in_the_order_of_their_first_touch() -> None:
    agenda = Agenda()
    for subject in ("b", "a", "b"):
        agenda.touch(subject)
    assert agenda.take(NOON) == ("b", "a")
    assert agenda.take(NOON) == ()


def test_a_timer_rings_once_and_not_before_its_time() -> None:
    agenda = Agenda()
    agenda.later("a", NOON + SECOND)
    assert agenda.take(NOON) == ()
    assert agenda.wake_at() == NOON + SECOND
    assert agenda.take(NOON + SECOND) == ("a",)
    assert agenda.take(NOON + 2 * SECOND) == ()
    assert agenda.wake_at() is None


def test_the_sooner_of_two_timers_counts() -> None:
    agenda = Agenda()
    agenda.later("a", NOON + 3 * SECOND)
    agenda.later("a", NOON + SECOND)
    agenda.later("a", NOON + 2 * SECOND)
    assert agenda.take(NOON + SECOND) == ("a",)
    assert agenda.take(NOON + 3 * SECOND) == ()


def test_who_is_busy_waits_until_all_its_work_has_ended() -> None:
    agenda = Agenda()
    agenda.start(("a",))
    agenda.start(("a",))
    agenda.touch("a")
    assert agenda.take(NOON) == ()
    agenda.finish(("a",))
    assert agenda.take(NOON) == ()
    agenda.finish(("a",))
    assert agenda.take(NOON) == ("a",)


def test_what_has_ended_is_looked_at_again() -> None:
    agenda = Agenda()
    agenda.start(("a",))
    agenda.finish(("a",))
    assert not agenda.busy("a")
    assert agenda.take(NOON) == ("a",)


def test_pauses_double_up_to_a_limit() -> None:
    agenda = Agenda()
    pauses = []
    for _ in range(40):
        agenda.failed("a", NOON)
        until = agenda.not_before("a")
        assert until is not None
        pauses.append(until - NOON)
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_success_ends_the_pause_and_the_counting() -> None:
    agenda = Agenda()
    agenda.failed("a", NOON)
    agenda.succeeded("a")
    assert not agenda.resting("a", NOON)
    agenda.failed("a", NOON)
    assert agenda.not_before("a") == NOON + FIRST_PAUSE


def test_who_rests_comes_back_though_an_earlier_timer_was_used_up() -> None:
    """An owner stayed gated for ever: the timer that should end its pause was never set."""
    agenda = Agenda()
    agenda.later("a", NOON + FIRST_PAUSE / 2)
    agenda.failed("a", NOON)
    assert agenda.take(NOON + FIRST_PAUSE / 2) == ("a",)
    assert agenda.resting("a", NOON + FIRST_PAUSE / 2)
    assert agenda.take(NOON + FIRST_PAUSE) == ("a",)
    assert not agenda.resting("a", NOON + FIRST_PAUSE)


def test_of_a_subject_that_is_gone_nothing_is_left() -> None:
    agenda = Agenda()
    agenda.touch("a")
    agenda.failed("a", NOON)
    agenda.forget("a")
    assert agenda.take(NOON + LONGEST_PAUSE) == ()
    assert agenda.wake_at() is None
    assert agenda.not_before("a") is None
