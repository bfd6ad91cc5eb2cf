"""Statuses: one write at a time for each hold, made until the object shows it, told once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.actions import Action, Outcome, Stale, Unavailable, WriteHoldStatus
from headroom.core.holds import HoldStatus
from headroom.core.plan import Work
from headroom.ports import Seen
from tests.builders import hold, node
from tests.engine.play import Play


def refuse_status(outcome: Outcome) -> Play:
    """A play in which statuses are refused until `answer` is taken away."""
    play = Play(node("a"), hold("h", cpu=2))
    play.answer = lambda action: outcome if isinstance(action, WriteHoldStatus) else None
    return play


def statuses(play: Play) -> list[str]:
    return [each.status.phase for each in play.done if isinstance(each, WriteHoldStatus)]


def test_a_status_that_nobody_answered_is_written_again() -> None:
    play = refuse_status(Unavailable("timed out"))
    play.run(1)
    assert play.hold("h").status.phase == ""
    play.answer = None
    play.run(300)
    assert play.hold("h").status.phase == "Available"


def test_a_status_refused_for_a_conflict_is_written_again() -> None:
    play = refuse_status(Stale("conflict"))
    play.run(1)
    play.answer = None
    play.run(300)
    assert play.hold("h").status.phase == "Available"


def test_a_status_that_fails_is_tried_with_pauses() -> None:
    play = refuse_status(Unavailable("timed out"))
    tries: list[Action] = []

    def count(action: Action) -> Outcome | None:
        if isinstance(action, WriteHoldStatus):
            tries.append(action)
            return Unavailable("timed out")
        return None

    play.answer = count
    play.run(60)
    assert 3 < len(tries) < 12


def test_its_events_are_told_once_though_it_was_written_twice() -> None:
    play = refuse_status(Unavailable("timed out"))
    play.run(1)
    play.answer = None
    play.run(300)
    assert [tell.reason for tell in play.toy.told] == ["Held"]


def test_two_statuses_of_one_hold_are_never_under_way_together() -> None:
    play = Play(node("a", cpu=1), hold("h", cpu=2))
    play.run(1, scheduling=False)
    play.now += timedelta(seconds=5)
    first = play.plan()
    assert [sequence.work for sequence in first] == [Work.STATUS]
    guardian = play.ours("guardian")[0]
    play.put(replace(guardian, unschedulable_message="0/1 nodes are available"))
    assert play.plan() == ()
    play.perform(first[0])
    second = play.plan()
    assert Work.STATUS in [sequence.work for sequence in second]


def test_an_older_status_that_comes_late_is_not_believed() -> None:
    play = Play(node("a"), hold("h", cpu=2))
    while not statuses(play):
        play.round()
        play.toy.schedule()
    play.toy.events.clear()
    older = replace(play.hold("h"), status=HoldStatus())
    play.engine.observe(Seen(older), play.now)
    assert play.plan() == ()


def test_a_status_that_was_taken_but_never_shows_is_written_again() -> None:
    play = Play(node("a"), hold("h", cpu=2))
    play.run(1)
    play.put(replace(play.hold("h"), status=HoldStatus()))
    play.run(30)
    assert statuses(play) == ["Available", "Available"]
    assert play.hold("h").status.phase == "Available"
