"""How fast the number of placeholders moves, and when asking for nodes is held back."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.demand.scale_rate import (
    ScalePolicy,
    ScaleRate,
    Stall,
    Trail,
    judged,
    next_judgement,
    next_move,
    paced,
)
from tests.builders import NOON

PACE = ScalePolicy()


def after(**parts: float) -> timedelta:
    return timedelta(**parts)


def played(trail: Trail, *wishes: tuple[float, int], pace: ScalePolicy = PACE) -> Trail:
    """Hear wishes at so many seconds after noon."""
    for second, wish in wishes:
        trail = paced(trail, wish, pace, NOON + after(seconds=second))
    return trail


def test_growth_begins_at_once_and_doubles_every_half_minute() -> None:
    seconds = (0, 10, 29, 30, 60, 90)
    counts = [played(Trail(), *((s, 100) for s in seconds[: n + 1])).count for n in range(6)]
    assert counts == [10, 10, 10, 20, 40, 80]


def test_a_small_wish_is_met_at_once() -> None:
    assert played(Trail(count=5), (0, 9)).count == 9


def test_shrinking_waits_five_minutes_and_then_halves_every_minute() -> None:
    trail = played(Trail(count=80), (0, 80), (1, 0), (300, 0))
    assert trail.count == 80
    trail = played(trail, (301.5, 0))
    assert trail.count == 40
    assert played(trail, (330, 0)).count == 40
    assert played(trail, (330, 0), (362, 0)).count == 20


def test_a_wish_that_comes_back_in_time_keeps_everything() -> None:
    trail = played(Trail(count=80), (0, 80), (10, 0), (250, 80), (260, 0), (520, 0))
    assert trail.count == 80


def test_a_wish_lasts_until_the_next_one_is_heard() -> None:
    trail = played(Trail(count=80), (0, 80), (1000, 0))
    assert trail.count == 80  # It was wanted until a moment ago.


def test_the_last_one_goes_too() -> None:
    trail = Trail(count=1)
    assert played(trail, (0, 0), (400, 0)).count == 0


def test_growth_can_wait_too() -> None:
    slow = ScalePolicy(up=ScaleRate(100, after(seconds=30), after(seconds=60), least=10))
    trail = played(Trail(), (0, 0), (1, 8), (60, 8), pace=slow)
    assert trail.count == 0
    assert played(trail, (62, 8), pace=slow).count == 8


def test_the_next_look_is_when_the_pace_allows_more() -> None:
    trail = played(Trail(), (0, 100))
    assert next_move(trail, PACE, NOON) == NOON + after(seconds=30)
    trail = played(Trail(count=8), (0, 8), (5, 2))
    due = next_move(trail, PACE, NOON + after(seconds=5))
    assert due is not None
    assert paced(trail, 2, PACE, due).count == 4


def test_who_is_there_looks_no_more() -> None:
    trail = played(Trail(), (0, 7))
    assert next_move(trail, PACE, NOON) is None


def test_asking_again_and_again_moves_nothing() -> None:
    trail = played(Trail(), (0, 100))
    assert played(trail, *((0.1 * n, 100) for n in range(1, 200))).count == 10


def test_what_is_remembered_has_a_bound() -> None:
    trail = played(Trail(count=50), *((0.5 * n, n % 7) for n in range(500)))
    assert len(trail.wishes) <= 64
    assert trail.count == 50


def test_nodes_that_do_not_come_are_asked_for_once_more_and_more_rarely() -> None:
    since, now = NOON, NOON + after(minutes=10)
    assert judged(Stall(), since, False, now - after(seconds=1)) == Stall()
    first = judged(Stall(), since, False, now)
    assert first.held_back(now)
    assert first == Stall(1, now + after(minutes=5))
    again = now + after(minutes=5)
    assert not first.held_back(again)
    assert judged(first, since, False, again + after(minutes=9)) == first
    pauses = []
    stall = first
    for _ in range(6):
        if stall.until is None:
            break
        moment = stall.until + after(minutes=10)
        stall = judged(stall, since, False, moment)
        if stall.until is not None:
            pauses.append((stall.until - moment).total_seconds() / 60)
    assert pauses == [7.5, 11.25, 16.875, 25.3125, 30, 30]


def test_one_that_is_placed_ends_the_back_off() -> None:
    stall = Stall(3, NOON + after(minutes=20))
    assert judged(stall, NOON, True, NOON + after(minutes=1)) == Stall()


def test_without_anything_waiting_nothing_is_judged() -> None:
    assert judged(Stall(), None, False, NOON) == Stall()
    assert next_judgement(Stall(), None, NOON) is None


def test_the_next_judgement_is_when_patience_ends() -> None:
    assert next_judgement(Stall(), NOON, NOON) == NOON + after(minutes=10)
    held = Stall(1, NOON + after(minutes=5))
    assert next_judgement(held, NOON, NOON) == held.until
    later = NOON + after(minutes=6)
    assert next_judgement(held, NOON, later) == NOON + after(minutes=15)
