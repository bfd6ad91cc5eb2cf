"""Guardians counted by headroom, and who waits for one of them to go."""

from __future__ import annotations

from headroom.core.names import PARENT_ANNOTATION, ROLE_LABEL, SLOT_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.subjects import Awaited, Change
from headroom.engine.agenda import Agenda
from headroom.engine.headrooms.headcount import Headcount
from tests.builders import NOON, pod, resources
from tests.subjects import subject

ROOM = "Headroom/default/room"


def guardian(name: str, slot: str = "0", **more: str) -> Pod:
    kept = {PARENT_ANNOTATION: ROOM, SLOT_ANNOTATION: slot} if slot else {PARENT_ANNOTATION: ROOM}
    return pod(name, cpu=2, labels={ROLE_LABEL: "guardian"}, annotations=kept, **more)


def test_what_they_use_is_the_sum_of_those_that_are_there() -> None:
    headcount = Headcount(Agenda())
    first, second = guardian("first"), guardian("second")
    headcount.add(first)
    headcount.add(second)
    assert headcount.used(ROOM) == resources(cpu=4, pods=2)
    headcount.remove(first)
    assert list(headcount.of(ROOM)) == [second.key]
    assert headcount.used(ROOM) == resources(cpu=2, pods=1)
    headcount.remove(second)
    assert not headcount.of(ROOM)
    assert headcount.used(ROOM) == resources()


def test_others_and_those_that_have_ended_do_not_count() -> None:
    headcount = Headcount(Agenda())
    headcount.add(pod("real", cpu=1))
    headcount.add(guardian("alone", slot=""))
    headcount.add(guardian("ended", phase="Failed"))
    assert not headcount.of(ROOM)


def test_who_waits_is_looked_at_when_one_goes() -> None:
    agenda = Agenda()
    headcount = Headcount(agenda)
    there = guardian("there")
    headcount.add(there)
    agenda.wait(subject("hold x"), on=Awaited(Change.GUARDIAN_GONE, ROOM))
    assert agenda.take(NOON) == ()
    headcount.remove(there)
    assert agenda.take(NOON) == (subject("hold x"),)
