"""Statuses are written at a pace: of one object, and of one namespace."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from headroom.core.actions import (
    Action,
    CreateGuardian,
    Denied,
    Outcome,
    WriteHeadroomStatus,
    WriteHoldStatus,
)
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.sizes.replicas import Replicas
from headroom.core.subjects import Subject
from headroom.engine.agenda import Agenda
from headroom.engine.rate_limits.statuses import (
    NAMESPACE_AT_ONCE,
    NAMESPACE_EVERY,
    OBJECT_AT_ONCE,
    OBJECT_EVERY,
    SPARE_NAMESPACES,
    StatusPace,
)
from headroom.ports import HoldGone
from tests.builders import NOON, hold, node
from tests.core.headroom_builder import headroom
from tests.engine.play import Play
from tests.subjects import subject

REFUSED = Denied("exceeded quota: q")


class Written:
    """An API server that refuses guardians in one namespace, and notes when statuses come."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.when: dict[str, list[datetime]] = {}

    def __call__(self, action: Action) -> Outcome | None:
        if isinstance(action, CreateGuardian) and action.hold.home == "default":
            return REFUSED
        if isinstance(action, WriteHoldStatus):
            self.when.setdefault(action.parent.namespace, []).append(self._play.now)
        return None


def most_within(times: list[datetime], span: timedelta) -> int:
    return max(sum(first <= each < first + span for each in times) for first in times)


def test_statuses_of_refused_holds_are_bounded_by_namespace() -> None:
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(300)))
    play.answer = written = Written(play)
    play.run(seconds=60)
    times = written.when["default"]
    assert most_within(times, timedelta(seconds=1)) <= NAMESPACE_AT_ONCE + 11
    assert {play.hold(f"h{n}").status.conditions[0].reason for n in range(300)} == {
        "GuardianRefused"
    }


def may_write(pace: StatusPace, told: Subject, news: bool, now: datetime) -> bool:
    """Ask, and do what whoever asks does then."""
    may = pace.may_write(told, news, now)
    if may:
        pace.wrote(told, news, now)
    else:
        pace.wait(told, now)
    return may


def test_news_of_room_waits_for_no_refused_hold_of_its_namespace() -> None:
    agenda = Agenda()
    pace = StatusPace(agenda)
    for n in range(NAMESPACE_AT_ONCE):
        assert may_write(pace, subject(f"status Hold/a/h{n}"), False, NOON)
    assert not may_write(pace, subject("status Hold/a/late"), False, NOON)
    assert may_write(pace, subject("status Hold/a/got"), True, NOON)
    assert may_write(pace, subject("status Hold/b/other"), False, NOON)


def test_those_who_wait_have_their_turns_in_the_order_in_which_they_came() -> None:
    agenda = Agenda()
    pace = StatusPace(agenda)
    for n in range(NAMESPACE_AT_ONCE):
        may_write(pace, subject(f"status Hold/a/h{n}"), False, NOON)
    late = [subject(f"status Hold/a/late{n}") for n in range(3)]
    assert not any(may_write(pace, each, False, NOON) for each in late)
    now = NOON + 2 * NAMESPACE_EVERY
    assert agenda.take(now) == (subject("statuses a"),)
    pace.look("a", now)
    assert agenda.take(now) == tuple(late[:2])
    assert not may_write(pace, subject("status Hold/a/new"), False, now)
    assert [may_write(pace, each, False, now) for each in late] == [True, True, False]


def test_one_object_is_not_written_more_often_than_people_can_read() -> None:
    agenda = Agenda()
    pace = StatusPace(agenda)
    told = subject("status Hold/a/h")
    assert all(may_write(pace, told, True, NOON) for _ in range(OBJECT_AT_ONCE))
    assert not may_write(pace, told, True, NOON)
    assert agenda.wake_at() == NOON + OBJECT_EVERY
    assert may_write(pace, told, True, NOON + OBJECT_EVERY)
    assert not may_write(pace, told, True, NOON + OBJECT_EVERY)


def test_a_status_that_is_right_again_gives_its_turn_back() -> None:
    agenda = Agenda()
    pace = StatusPace(agenda)
    for n in range(NAMESPACE_AT_ONCE + 2):
        may_write(pace, subject(f"status Hold/a/h{n}"), False, NOON)
    pace.withdraw(subject(f"status Hold/a/h{NAMESPACE_AT_ONCE}"))
    now = NOON + NAMESPACE_EVERY
    pace.look("a", now)
    assert may_write(pace, subject(f"status Hold/a/h{NAMESPACE_AT_ONCE + 1}"), False, now)


def test_what_is_gone_is_forgotten() -> None:
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(150)))
    play.answer = Written(play)
    play.run(seconds=3)
    pace = play.engine._publisher.pace
    assert pace.size() > 150
    for each in list(play.toy.holds.values()):
        play.engine.observe(HoldGone(each.parent), play.now)
    assert pace.size() == 1  # The namespace.


def test_namespaces_that_are_quiet_are_forgotten() -> None:
    pace = StatusPace(Agenda())
    for n in range(10 * SPARE_NAMESPACES):
        now = NOON + n * timedelta(milliseconds=1)
        may_write(pace, subject(f"status Hold/n{n}/h"), False, now)
        pace.forget(subject(f"status Hold/n{n}/h"))
    assert pace.size() <= SPARE_NAMESPACES + 1


def named(n: int) -> Headroom:
    made = headroom(Replicas(1), cpu=1)
    return replace(made, parent=replace(made.parent, name=f"b{n}", uid=f"uid-{n}"))


def test_statuses_of_headrooms_are_bounded_by_namespace_too() -> None:
    play = Play(*map(named, range(NAMESPACE_AT_ONCE + 50)))  # There is no node.
    times: list[datetime] = []

    def answer(action: Action) -> Outcome | None:
        if isinstance(action, WriteHeadroomStatus):
            times.append(play.now)
        return None

    play.answer = answer
    play.run(seconds=60)
    assert most_within(times, timedelta(seconds=1)) <= NAMESPACE_AT_ONCE + 11
    assert all(each.status.conditions for each in play.toy.headrooms.values())


@pytest.mark.slow
def test_holds_that_got_their_room_are_told_at_once_however_many() -> None:
    play = Play(node("a", 640), *(hold(f"h{n}", cpu=1, memory=0) for n in range(200)))
    play.run(seconds=1)
    assert all(play.hold(f"h{n}").status.phase == "Available" for n in range(200))
