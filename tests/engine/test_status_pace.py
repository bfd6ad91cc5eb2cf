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
from headroom.core.holds import HoldStatus
from headroom.core.names import API_VERSION
from headroom.core.objects import Parent
from headroom.core.policy import Policy
from headroom.core.sizes.replicas import Replicas
from headroom.core.subjects import headroom_subject
from headroom.engine.agenda import Agenda
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import (
    NAMESPACE_RATE,
    OBJECT_RATE,
    SPARE_NAMESPACES,
    TRUST_OWN_WRITE,
    StatusChange,
    StatusWriter,
    headroom_status_subject,
    status_subject,
)
from headroom.ports import Lost
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
    assert most_within(times, timedelta(seconds=1)) <= NAMESPACE_RATE.at_once + 11
    assert {play.hold(f"h{n}").status.conditions[0].reason for n in range(300)} == {
        "GuardianRefused"
    }


def a_writer() -> tuple[Agenda, StatusWriter]:
    ledger = Ledger(Policy(), Agenda())
    return ledger.agenda, StatusWriter(ledger)


def of(name: str, namespace: str = "a") -> Parent:
    return Parent(API_VERSION, "Hold", namespace, name)


def writes(writer: StatusWriter, parent: Parent, news: bool, now: datetime) -> bool:
    """Whether a status that differs is written at once; its object does not show it before."""
    write = WriteHoldStatus(parent, HoldStatus(phase="Pending"))
    return bool(list(writer.write(StatusChange(write, HoldStatus(), lambda _: (), news), now)))


def test_news_of_room_waits_for_no_refused_hold_of_its_namespace() -> None:
    _, writer = a_writer()
    for n in range(NAMESPACE_RATE.at_once):
        assert writes(writer, of(f"h{n}"), False, NOON)
    assert not writes(writer, of("late"), False, NOON)
    assert writes(writer, of("got"), True, NOON)
    assert writes(writer, of("other", "b"), False, NOON)


def test_those_who_wait_have_their_turns_in_the_order_in_which_they_came() -> None:
    agenda, writer = a_writer()
    for n in range(NAMESPACE_RATE.at_once):
        writes(writer, of(f"h{n}"), False, NOON)
    late = [of(f"late{n}") for n in range(3)]
    assert not any(writes(writer, each, False, NOON) for each in late)
    now = NOON + 2 * NAMESPACE_RATE.every
    assert agenda.take(now) == (subject("statuses a"),)
    writer.look("a", now)
    assert agenda.take(now) == tuple(map(status_subject, late[:2]))
    assert not writes(writer, of("new"), False, now)
    assert [writes(writer, each, False, now) for each in late] == [True, True, False]


def test_one_object_is_not_written_more_often_than_people_can_read() -> None:
    agenda, writer = a_writer()
    assert all(writes(writer, of("h"), True, NOON) for _ in range(OBJECT_RATE.at_once))
    assert not writes(writer, of("h"), True, NOON)
    assert agenda.wake_at() == NOON + OBJECT_RATE.every
    assert writes(writer, of("h"), True, NOON + OBJECT_RATE.every)
    assert not writes(writer, of("h"), True, NOON + OBJECT_RATE.every)


def test_a_status_that_is_right_again_gives_its_turn_back() -> None:
    _, writer = a_writer()
    most = NAMESPACE_RATE.at_once
    for n in range(most + 2):
        writes(writer, of(f"h{n}"), False, NOON)
    right = WriteHoldStatus(of(f"h{most}"), HoldStatus())
    assert not list(writer.write(StatusChange(right, HoldStatus(), lambda _: (), False), NOON))
    now = NOON + NAMESPACE_RATE.every
    writer.look("a", now)
    assert writes(writer, of(f"h{most + 1}"), False, now)


def test_what_is_gone_is_forgotten() -> None:
    play = Play(node("a", 64), *(hold(f"h{n}", cpu=1, memory=0) for n in range(150)))
    play.answer = Written(play)
    play.run(seconds=3)
    writer = play.engine._statuses
    assert writer.size() > 150
    for each in list(play.toy.holds.values()):
        play.engine.observe(Lost(each), play.now)
    assert writer.size() == 1  # The namespace.


def test_namespaces_that_are_quiet_are_forgotten() -> None:
    _, writer = a_writer()
    for n in range(10 * SPARE_NAMESPACES):
        now = NOON + n * timedelta(milliseconds=1)
        assert writes(writer, of("h", f"n{n}"), False, now)
        writer.forget(status_subject(of("h", f"n{n}")))
    assert writer.size() <= SPARE_NAMESPACES + 1


def named(n: int) -> Headroom:
    made = headroom(Replicas(1), cpu=1)
    return replace(made, parent=replace(made.parent, name=f"b{n}", uid=f"uid-{n}"))


def test_statuses_of_headrooms_are_bounded_by_namespace_too() -> None:
    play = Play(*map(named, range(NAMESPACE_RATE.at_once + 50)))  # There is no node.
    times: list[datetime] = []

    def answer(action: Action) -> Outcome | None:
        if isinstance(action, WriteHeadroomStatus):
            times.append(play.now)
        return None

    play.answer = answer
    play.run(seconds=60)
    assert most_within(times, timedelta(seconds=1)) <= NAMESPACE_RATE.at_once + 11
    assert all(each.status.conditions for each in play.toy.headrooms.values())


def test_a_look_in_between_does_not_end_the_wait_for_a_status_that_never_shows() -> None:
    agenda, writer = a_writer()
    shown = named(0)
    subject_of_write = headroom_status_subject(shown.parent)
    status = replace(shown.status, held=1)
    (sequence,) = writer.publish_headroom(shown, status, NOON)
    ((write,),) = sequence.steps
    assert isinstance(write, WriteHeadroomStatus)
    agenda.later(headroom_subject(shown.parent), NOON + timedelta(seconds=1))
    writer.done(write, NOON)
    now = NOON + timedelta(seconds=1)
    assert agenda.take(now) == (headroom_subject(shown.parent),)
    believed = writer.as_written(shown, subject_of_write, now)
    assert not list(writer.publish_headroom(believed, status, now))
    assert agenda.wake_at() == NOON + TRUST_OWN_WRITE
    assert writer.as_written(shown, subject_of_write, NOON + TRUST_OWN_WRITE) == shown


@pytest.mark.slow
def test_holds_that_got_their_room_are_told_at_once_however_many() -> None:
    play = Play(node("a", 640), *(hold(f"h{n}", cpu=1, memory=0) for n in range(200)))
    play.run(seconds=1)
    assert all(play.hold(f"h{n}").status.phase == "Available" for n in range(200))
