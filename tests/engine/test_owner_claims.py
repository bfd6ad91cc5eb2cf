"""Owners at the gate: given a hold, let go, or followed until what was begun has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headroom.core.actions import DeletePod, Nominate, Unavailable, Ungate
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
    SCHEDULER_NAME,
    WAIT_ANNOTATION,
)
from headroom.core.objects import Pod
from headroom.core.plan import Work
from tests.builders import hold, node, pod
from tests.engine.play import Play


def gated(name: str = "p", cpu: int = 1, app: str = "web", **parts: Any) -> Pod:
    return pod(name, cpu=cpu, labels={"app": app}, **{"gates": (CLAIM_GATE,), **parts})


def claimed(which: Hold, **parts: Any) -> Pod:
    claim = {CLAIMED_ANNOTATION: str(which.parent), CLAIMED_UID_ANNOTATION: which.parent.uid}
    return gated(annotations=claim, **parts)


def held(*holds: Hold, cpu: int = 4) -> Play:
    play = Play(node("a", cpu=cpu), *holds)
    play.run()
    play.done.clear()
    return play


H = hold("h", cpu=1, memory=0)


def test_an_owner_is_nominated_before_its_guardian_goes_and_then_let_in() -> None:
    play = held(H, cpu=1)
    play.put(gated())
    play.run()
    assert play.did(Nominate, DeletePod, Ungate) == ["Nominate", "DeletePod", "Ungate"]
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")
    assert play.hold("h").status.phase == "Succeeded"


def test_the_oldest_hold_goes_first() -> None:
    play = held(hold("b", cpu=1, memory=0), hold("a", cpu=1, memory=0))
    play.put(gated())
    play.run()
    assert claim_of(play.pod("p")) == ("Hold/default/a", "uid-of-a")


def test_who_matches_nothing_is_let_go_and_told_why() -> None:
    play = held(H)
    play.put(gated(app="api"))
    play.run()
    assert play.pod("p").gates == ()
    assert claim_of(play.pod("p")) is None
    assert [(tell.kind, tell.reason) for tell in play.toy.told[1:]] == [("Pod", "NotMatched")]


def test_who_is_too_large_for_the_hold_and_its_node_is_let_go() -> None:
    play = held(H, cpu=1)
    play.put(gated(cpu=2))
    play.run()
    assert play.pod("p").gates == ()
    assert play.hold("h").status.phase == "Available"
    assert "Insufficient cpu" in play.toy.told[-1].message


def test_a_foreign_gate_has_its_say_first() -> None:
    play = held(H)
    play.put(gated(gates=("example.com/later", CLAIM_GATE)))
    play.run()
    assert play.done == []


def test_a_hold_that_is_on_its_way_is_waited_for_a_little() -> None:
    play = Play(node("a", cpu=1), hold("h", cpu=2, memory=0), gated())
    play.run(3)
    assert play.pod("p").gates == (CLAIM_GATE,)
    play.run(5)
    assert play.pod("p").gates == ()


def test_who_asks_to_wait_waits_for_as_long_as_it_takes() -> None:
    play = held()
    play.put(gated(annotations={WAIT_ANNOTATION: "true"}))
    play.run(3600)
    assert play.pod("p").gates == (CLAIM_GATE,)
    play.put(H)
    play.run()
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")


def test_one_hold_is_given_to_one_of_two_owners() -> None:
    play = held(H, cpu=2)
    play.put(gated("p"), gated("q"))
    play.run()
    assert [claim_of(play.pod(name)) is not None for name in ("p", "q")] == [True, False]
    assert play.pod("q").gates == ()


def test_a_forged_claim_gains_nothing() -> None:
    play = held(H)
    forged = claimed(H, app="api")
    play.put(forged)
    play.run()
    assert claim_of(play.pod("p")) is None
    assert play.pod("p").gates == ()
    assert play.hold("h").status.phase == "Available"


def test_a_claim_on_a_hold_that_is_gone_is_taken_off_a_pod_that_got_no_room() -> None:
    play = held()
    play.put(claimed(H, gates=(), nominated="a"))
    play.run(scheduling=False)
    assert claim_of(play.pod("p")) is None


def test_an_owner_that_runs_keeps_its_claim_though_the_hold_is_gone() -> None:
    play = held(H)
    play.put(gated())
    play.run()
    play.toy.remove(play.hold("h"))
    play.run()
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")


def test_a_claim_without_a_nomination_begins_anew() -> None:
    play = held(H)
    play.put(claimed(H))
    play.run()
    assert play.hold("h").status.phase == "Succeeded"
    assert play.pod("p").node == "a"


def test_a_released_owner_that_cannot_be_placed_gives_its_claim_back() -> None:
    play = held(H)
    stuck = claimed(H, gates=(), nominated="a", unschedulable_since=play.now)
    play.toy.remove(play.ours("guardian")[0])
    play.put(stuck)
    play.run(scheduling=False)
    assert claim_of(play.pod("p")) is None
    assert len(play.ours("guardian")) == 1
    assert "NotMatched" in [tell.reason for tell in play.toy.told]


def test_an_owner_that_went_elsewhere_gives_its_claim_back() -> None:
    play = held(H)
    play.put(node("b"), claimed(H, gates=(), node="b"))
    play.run()
    assert claim_of(play.pod("p")) is None
    assert play.hold("h").status.phase == "Available"


def test_an_owner_deleted_on_its_way_costs_nothing_but_time() -> None:
    play = held(H, cpu=1)
    play.put(gated())
    for sequence in play.plan():
        for step in sequence.steps[:2]:
            for action in step:
                play.engine.settle(action, play.toy.perform(action), play.now)
        play.toy.remove(play.pod("p"))
        play.engine.finish(sequence, False, play.now)
    play.run()
    assert [each.node for each in play.ours("guardian")] == ["a"]
    assert play.hold("h").status.phase == "Available"


def test_the_guardian_of_an_owner_that_lost_its_nomination_does_not_go() -> None:
    """A more important pod preempts there, and kube-scheduler clears the nominations below it."""
    play = held(H, cpu=1)
    play.put(gated())
    (sequence,) = [each for each in play.plan() if each.work is Work.DOOR1]
    for action in sequence.steps[0]:
        play.engine.settle(action, play.toy.perform(action), play.now)
    play.tell()
    assert play.engine.halts(sequence, 1, play.now) == ""
    play.put(replace(play.pod("p"), nominated=""))
    play.tell()
    assert play.engine.halts(sequence, 1, play.now) == "owner default/p is not nominated any more"


def test_a_hold_that_expires_in_the_middle_lets_nobody_wait_for_ever() -> None:
    soon = replace(H, expires=H.created)
    play = Play(node("a", cpu=1), replace(soon, expires=None))
    play.run()
    play.put(gated())
    sequence = play.plan()[0]
    (nominate,) = sequence.steps[0]
    play.engine.settle(nominate, play.toy.perform(nominate), play.now)
    play.put(replace(play.hold("h"), expires=play.now))
    play.engine.finish(sequence, False, play.now)
    play.run(60)
    assert play.pod("p").gates == ()
    assert play.pod("p").node == "a"
    assert play.ours("guardian") == []


def test_however_old_an_owner_is_it_has_its_time_once_the_gate_is_open() -> None:
    """The time to be placed was counted from the owner's birth: who had waited lost its claim."""
    play = held(H, cpu=1)
    play.now += timedelta(hours=1)
    play.put(gated())
    refuse_others(play, 20)
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")
    refuse_others(play, 20)
    assert claim_of(play.pod("p")) is None
    assert play.hold("h").status.phase == "Pending"


def refuse_others(play: Play, seconds: int) -> None:
    """kube-scheduler is at work: it refuses a stranger every five seconds, and places nobody."""
    for _ in range(0, seconds, 5):
        play.put(pod("stranger", cpu=64))
        play.run(0, scheduling=False)
        play.put(pod("stranger", cpu=64, unschedulable_since=play.now))
        play.run(5, scheduling=False)
        play.toy.remove(play.pod("stranger"))


def test_while_kube_scheduler_is_away_an_owner_keeps_its_claim_and_its_room() -> None:
    """The claim was taken back after half a minute, and whoever was first then had the room."""
    play = held(H, cpu=1)
    play.put(gated())
    refuse_others(play, 5)
    play.run(300, scheduling=False)
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")
    assert play.pod("p").nominated == "a"
    refuse_others(play, 20)  # It is back, and the time begins anew.
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")
    play.run(5)
    assert play.pod("p").node == "a"
    assert play.hold("h").status.phase == "Succeeded"


def test_an_owner_that_nobody_looks_at_does_not_keep_its_room_for_ever() -> None:
    play = held(H, cpu=1)
    play.put(gated())
    play.run(590, scheduling=False)
    assert claim_of(play.pod("p")) == ("Hold/default/h", "uid-of-h")
    play.run(20, scheduling=False)
    assert claim_of(play.pod("p")) is None


@pytest.mark.parametrize("door", [{"gates": (CLAIM_GATE,)}, {"scheduler": SCHEDULER_NAME}])
def test_a_claim_that_comes_to_light_late_does_not_give_a_hold_twice(door: dict[str, Any]) -> None:
    """Its answer was lost, and before the watch showed it the hold was given to the next."""
    play = held(H, cpu=3)
    play.put(gated("p"))
    (handover,) = play.plan()
    (nominate,) = handover.steps[0]
    play.toy.perform(nominate)
    late, play.toy.events = play.toy.events, []
    play.engine.settle(nominate, Unavailable("timed out"), play.now)
    play.engine.finish(handover, False, play.now)
    play.put(pod("o", cpu=1, labels={"app": "web"}, **door))
    play.round()
    play.toy.events += late
    play.run(60)
    claims = [claim_of(play.pod(name)) for name in ("o", "p")]
    assert sorted(claim is None for claim in claims) == [False, True]
    assert [play.pod(name).node for name in ("o", "p")] == ["a", "a"]
    assert len(play.hold("h").status.owners) == 1
