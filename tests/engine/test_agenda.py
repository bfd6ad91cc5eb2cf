"""The agenda: first come first served, timers, what is under way, and pauses after failure."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.subjects import Awaited, Change, node_changed, node_subject
from headroom.engine.agenda import FIRST_PAUSE, LONGEST_PAUSE, Agenda
from tests.builders import NOON

A, B = node_subject("a"), node_subject("b")
SECOND = timedelta(seconds=1)


def test_subjects_come_in_the_order_of_their_first_touch() -> None:
    agenda = Agenda()
    for subject in (B, A, B):
        agenda.touch(subject)
    assert agenda.take(NOON) == (B, A)
    assert agenda.take(NOON) == ()


def test_a_timer_rings_once_and_not_before_its_time() -> None:
    agenda = Agenda()
    agenda.later(A, NOON + SECOND)
    assert agenda.take(NOON) == ()
    assert agenda.wake_at() == NOON + SECOND
    assert agenda.take(NOON + SECOND) == (A,)
    assert agenda.take(NOON + 2 * SECOND) == ()
    assert agenda.wake_at() is None


def test_the_sooner_of_two_timers_counts() -> None:
    agenda = Agenda()
    agenda.later(A, NOON + 3 * SECOND)
    agenda.later(A, NOON + SECOND)
    agenda.later(A, NOON + 2 * SECOND)
    assert agenda.take(NOON + SECOND) == (A,)
    assert agenda.take(NOON + 3 * SECOND) == ()


def test_who_is_busy_waits_until_all_its_work_has_ended() -> None:
    agenda = Agenda()
    agenda.start((A,))
    agenda.start((A,))
    agenda.touch(A)
    assert agenda.take(NOON) == ()
    agenda.finish((A,))
    assert agenda.take(NOON) == ()
    agenda.finish((A,))
    assert agenda.take(NOON) == (A,)


def test_what_has_ended_is_looked_at_again() -> None:
    agenda = Agenda()
    agenda.start((A,))
    agenda.finish((A,))
    assert not agenda.busy(A)
    assert agenda.take(NOON) == (A,)


def test_pauses_double_up_to_a_limit() -> None:
    agenda = Agenda()
    pauses = []
    for _ in range(40):
        agenda.failed(A, NOON)
        until = agenda.not_before(A)
        assert until is not None
        pauses.append(until - NOON)
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_success_ends_the_pause_and_the_counting() -> None:
    agenda = Agenda()
    agenda.failed(A, NOON)
    agenda.succeeded(A)
    assert not agenda.in_backoff(A, NOON)
    agenda.failed(A, NOON)
    assert agenda.not_before(A) == NOON + FIRST_PAUSE


def test_who_rests_comes_back_though_an_earlier_timer_was_used_up() -> None:
    """An owner stayed gated for ever: the timer that should end its pause was never set."""
    agenda = Agenda()
    agenda.later(A, NOON + FIRST_PAUSE / 2)
    agenda.failed(A, NOON)
    assert agenda.take(NOON + FIRST_PAUSE / 2) == (A,)
    assert agenda.in_backoff(A, NOON + FIRST_PAUSE / 2)
    assert agenda.take(NOON + FIRST_PAUSE) == (A,)
    assert not agenda.in_backoff(A, NOON + FIRST_PAUSE)


def test_of_a_subject_that_is_gone_nothing_is_left() -> None:
    agenda = Agenda()
    agenda.touch(A)
    agenda.failed(A, NOON)
    agenda.forget(A)
    assert agenda.take(NOON + LONGEST_PAUSE) == ()
    assert agenda.wake_at() is None
    assert agenda.not_before(A) is None


def test_who_waits_is_looked_at_once_when_it_happens_first_come_first_served() -> None:
    agenda = Agenda()
    for subject in (B, A, B):
        agenda.wait(subject, on=node_changed("n"))
    agenda.wake(node_changed("m"))
    assert agenda.take(NOON) == ()
    agenda.wake(node_changed("n"))
    assert agenda.take(NOON) == (B, A)
    agenda.wake(node_changed("n"))
    assert agenda.take(NOON) == ()


def test_who_waits_for_two_things_still_waits_for_the_other() -> None:
    agenda = Agenda()
    agenda.wait(A, on=node_changed("n"))
    agenda.wait(A, on=node_changed("m"))
    agenda.wake(node_changed("n"))
    assert agenda.take(NOON) == (A,)
    assert agenda.has_waiters(node_changed("m"))
    assert not agenda.has_waiters(node_changed("n"))
    agenda.stop_waiting(A, on=node_changed("m"))
    assert not agenda.has_waiters(node_changed("m"))
    assert agenda.size() == 0


def test_who_is_notified_waits_on() -> None:
    agenda, room = Agenda(), Awaited(Change.ROOM, "n")
    agenda.wait(A, on=room)
    agenda.wait(B, on=room)
    for _ in range(2):
        agenda.notify(room)
        assert agenda.take(NOON) == (A, B)
    assert agenda.waiting(room) == (A, B)


def test_of_a_subject_that_is_gone_no_wait_is_kept() -> None:
    agenda = Agenda()
    agenda.wait(A, on=node_changed("n"))
    agenda.wait(B, on=node_changed("n"))
    agenda.forget(A)
    agenda.wake(node_changed("n"))
    assert agenda.take(NOON) == (B,)
    assert agenda.size() == 0
