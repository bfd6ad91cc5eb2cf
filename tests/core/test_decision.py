"""A headroom is decided from values alone: its window, its slots, and when to look again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.headrooms.decision import LOAD_PAUSE, LONGEST_PAUSE, decide, opening
from headroom.core.headrooms.headrooms import HeadroomStatus, Window
from headroom.core.headrooms.memory import HeadroomMemory, Opening
from headroom.core.headrooms.wanted_slots import SizeView
from headroom.core.headrooms.windows import ActiveWindow
from headroom.core.sizes.adaptive import Adaptive
from headroom.core.sizes.replicas import Replicas
from headroom.core.sizes.utilization import Utilization
from headroom.engine.cron import calendar
from tests.builders import NOON
from tests.core.headroom_builder import headroom

HOUR = timedelta(hours=1)
NEW = HeadroomMemory()
LUNCH = Window("0 12 * * *", HOUR)


def told(found: Opening) -> list[str]:
    return [tell.reason for tell in found.tells]


def test_a_window_that_opens_has_its_slots_anew_and_is_told_of_once() -> None:
    made = headroom(schedule=(LUNCH,))
    before = opening(made, Opening(None), calendar, NOON - HOUR)
    assert (before.window, before.begun, told(before)) == (None, False, [])
    at_noon = opening(made, before, calendar, NOON)
    assert (at_noon.begun, told(at_noon)) == (True, ["WindowStarted"])
    later = opening(made, at_noon, calendar, NOON + HOUR / 2)
    assert (later.begun, told(later)) == (False, [])
    assert told(opening(made, later, calendar, NOON + HOUR)) == ["WindowEnded"]


def test_after_a_restart_a_window_is_told_of_only_if_its_status_did_not_know_it() -> None:
    made = headroom(schedule=(LUNCH,))
    knew = replace(made, status=HeadroomStatus(last_start=NOON, next_start=NOON + 24 * HOUR))
    found = opening(knew, None, calendar, NOON + HOUR / 2)
    assert (found.begun, told(found)) == (False, [])
    slept = replace(made, status=HeadroomStatus(next_start=NOON))
    found = opening(slept, None, calendar, NOON + HOUR / 2)
    assert (found.begun, told(found)) == (True, ["WindowStarted"])


def test_the_next_look_is_when_the_window_ends() -> None:
    made = headroom(Replicas(2), schedule=(LUNCH,))
    sight = SizeView(opening(made, None, calendar, NOON).window)
    found = decide(made, NEW, sight, calendar, NOON)
    assert len(found.wished.slots) == 2
    assert found.look_at == NOON + HOUR


def test_the_same_sight_gives_the_same_decision() -> None:
    made = headroom(Replicas(2))
    sight = SizeView(ActiveWindow(made.size), standing=frozenset({"0"}))
    assert decide(made, NEW, sight, calendar, NOON) == decide(made, NEW, sight, calendar, NOON)


@pytest.mark.slow
def test_many_slots_are_decided_less_often_and_the_load_at_most_every_two_seconds() -> None:
    for size, pause in ((Replicas(100_000), LONGEST_PAUSE), (Utilization(800), LOAD_PAUSE)):
        made = headroom(size)
        found = decide(made, NEW, SizeView(ActiveWindow(size)), calendar, NOON)
        assert found.not_before == NOON + pause


def test_an_open_window_is_the_floor_of_a_learnt_size() -> None:
    made = headroom(Adaptive(timedelta(seconds=2), 0.99), schedule=(replace(LUNCH, replicas=4),))
    at_noon, at_night = (opening(made, None, calendar, NOON + HOUR * each) for each in (0, 6))
    assert at_noon.window is not None
    assert at_noon.window.size.learnt_bounds(1).floor == 4
    assert at_night.window == ActiveWindow(made.size)
