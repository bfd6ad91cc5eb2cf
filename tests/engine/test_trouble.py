"""An API server that says no to everything: tried again with pauses, and made good afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headroom.core.actions import Action, Denied, Gone, Invalid, Outcome, Stale, Taken, Unavailable
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMS_NAMESPACE_LABEL,
    SCHEDULER_NAME,
)
from headroom.core.objects import Namespace
from tests.builders import hold, node, pod
from tests.engine.play import Play

MINUTES = 3
MOST_TRIES = 60  # in that time, for each of the subjects
ANSWERS: list[Outcome] = [
    Unavailable("timed out"),
    Denied("forbidden"),
    Invalid("nonsense"),
    Stale("conflict"),
    Gone("not found"),
    Taken("exists"),
]


def busy_world() -> Play:
    """Holds and owners in many states, all of which call for a write."""
    play = Play(
        node("a", cpu=8),
        Namespace("default", {CLAIMS_NAMESPACE_LABEL: "enabled"}),
        *(hold(f"h{number}", cpu=1, memory=0, owners=f"app{number}") for number in range(3)),
        hold("many", cpu=2, memory=0, owners="many", allocate_once=False),
    )
    play.run()
    play.put(
        pod("gated", cpu=1, labels={"app": "app0"}, gates=(CLAIM_GATE,)),
        pod("ours", cpu=1, labels={"app": "app1"}, scheduler=SCHEDULER_NAME),
        pod("free", cpu=1, scheduler=SCHEDULER_NAME),
        pod("large", cpu=99, scheduler=SCHEDULER_NAME),
        pod("nobody", cpu=1, gates=(CLAIM_GATE,)),
        pod("some", cpu=1, labels={"app": "many"}, gates=(CLAIM_GATE,)),
        replace(play.hold("h2"), expires=play.now),
        hold("new", cpu=1, memory=0),
    )
    return play


@pytest.mark.parametrize("outcome", ANSWERS, ids=lambda each: type(each).__name__)
def test_nothing_is_tried_without_pause_and_all_is_well_when_it_is_over(outcome: Outcome) -> None:
    play = busy_world()
    tries: dict[str, int] = {}

    def refuse(action: Action) -> Outcome:
        about = f"{type(action).__name__} {getattr(action, 'key', getattr(action, 'name', ''))}"
        tries[about] = tries.get(about, 0) + 1
        return outcome

    play.answer = refuse
    for _ in range(MINUTES * 6):
        play.run(10)
    assert {about: count for about, count in tries.items() if count > MOST_TRIES} == {}
    play.answer = None
    play.run(600)
    assert play.pod("gated").node == "a"
    assert [play.pod(name).node for name in ("ours", "free", "nobody", "some")] == ["a"] * 4
    assert play.pod("large").unschedulable_since is not None
    assert play.hold("h2").status.phase == "Failed"
    assert play.hold("new").status.phase == "Available"
    assert play.hold("many").status.phase == "Available"
    assert play.ours("latch") == []


@pytest.mark.parametrize("door", [{"gates": (CLAIM_GATE,)}, {"scheduler": SCHEDULER_NAME}])
@pytest.mark.parametrize("well", range(4))
def test_an_owner_whose_slow_handover_fails_gets_its_hold_all_the_same(
    door: dict[str, Any], well: int
) -> None:
    """What was begun has first to be undone, and its hold is offered to nobody meanwhile."""
    play = Play(node("a", cpu=8), hold("h", cpu=2, memory=0))
    play.run()
    answers: Iterator[Outcome | None] = iter((*[None] * well, *[Unavailable("too busy")] * 3))

    def slowly(action: Action) -> Outcome | None:
        play.now += timedelta(seconds=3)
        return next(answers, None)

    play.answer = slowly
    play.put(pod("owner", cpu=2, labels={"app": "web"}, **door))
    play.run(120)
    claimed = play.pod("owner").annotations.get(CLAIMED_ANNOTATION)
    assert (play.pod("owner").node, claimed) == ("a", "Hold/default/h")
    assert play.ours("latch") == []


@pytest.mark.parametrize("door", [{"gates": (CLAIM_GATE,)}, {"scheduler": SCHEDULER_NAME}])
def test_an_owner_that_waits_for_its_node_gets_its_hold_although_the_guardian_is_lost(
    door: dict[str, Any],
) -> None:
    """Its hold is reserved for it, and is offered to nobody until it is held again."""
    play = Play(
        node("a", cpu=4),
        hold("h", cpu=2, memory=0, owners="one"),
        hold("i", cpu=2, memory=0, owners="two"),
    )
    play.run()
    play.put(pod("one", cpu=2, labels={"app": "one"}, **door))
    begun = play.plan()
    play.put(pod("two", cpu=2, labels={"app": "two"}, **door))
    begun += play.plan()
    play.now += timedelta(seconds=1)
    (guardian,) = (each for each in play.ours("guardian") if each.key.name.startswith("i"))
    play.toy.remove(guardian)
    begun += play.plan()
    for sequence in begun:
        play.perform(sequence)
    play.run(30)
    claimed = play.pod("two").annotations.get(CLAIMED_ANNOTATION)
    assert (play.pod("two").node, claimed) == ("a", "Hold/default/i")
