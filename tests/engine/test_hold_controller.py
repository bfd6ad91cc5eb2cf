"""Keeping holds: one guardian each, of the right size, for as long as the hold lasts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core import derived_names
from headroom.core.actions import CreateGuardian, Denied, Taken, Unavailable, WriteHoldStatus
from headroom.core.derived_names import guardian_name
from headroom.core.holds import Hold, HoldStatus, Problem
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.objects import Pod
from tests.builders import NOON, hold, node, pod, resources
from tests.engine.play import Play

H = hold("h", cpu=1, memory=0)


def gated(name: str, cpu: int = 1) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, gates=(CLAIM_GATE,))


def ready(which: Hold) -> str:
    return which.status.conditions[0].reason


def test_a_hold_is_held_with_one_guardian_and_one_status() -> None:
    play = Play(node("a"), hold("h", cpu=2, memory=0))
    play.run()
    assert [(each.node, each.requests) for each in play.ours("guardian")] == [
        ("a", resources(cpu=2))
    ]
    assert play.did(CreateGuardian, WriteHoldStatus) == ["CreateGuardian", "WriteHoldStatus"]
    assert play.hold("h").status.phase == "Available"


def test_a_hold_without_room_says_so_after_a_short_while() -> None:
    play = Play(node("a", cpu=1), hold("h", cpu=2))
    play.run(1)
    assert play.hold("h").status.phase == ""
    play.run(5)
    assert (play.hold("h").status.phase, ready(play.hold("h"))) == ("Pending", "WaitingForNode")


def test_a_lost_guardian_is_made_again() -> None:
    play = Play(node("a"), hold("h", cpu=2))
    play.run()
    first = play.ours("guardian")[0]
    play.toy.remove(first)
    play.run()
    assert [each.uid != first.uid for each in play.ours("guardian")] == [True]
    assert play.hold("h").status.phase == "Available"


def test_a_guardian_that_failed_is_replaced() -> None:
    play = Play(node("a"), hold("h", cpu=2))
    play.run()
    first = play.ours("guardian")[0]
    play.put(replace(first, phase="Failed", reason="Evicted"))
    play.run()
    assert [each.phase for each in play.ours("guardian")] == ["Pending"]


def test_an_invalid_hold_promises_nothing_and_says_why() -> None:
    play = Play(node("a"), hold("h", problems=(Problem("spec.ttl", "is not a duration"),)))
    play.run()
    assert play.ours("guardian") == []
    assert ready(play.hold("h")) == "InvalidSpec"


def test_an_expired_hold_lets_go_on_time() -> None:
    play = Play(node("a"), hold("h", ttl=timedelta(minutes=1)))
    play.run(30)
    assert play.ours("guardian") != []
    play.run(31)
    assert play.ours("guardian") == []
    assert (play.hold("h").status.phase, ready(play.hold("h"))) == ("Failed", "Expired")


def test_a_hold_that_has_ended_is_never_held_again() -> None:
    ended = replace(hold("h"), status=HoldStatus(phase="Succeeded"))
    play = Play(node("a"), ended)
    play.run()
    assert play.done == []


def test_a_refused_guardian_is_told_and_tried_again_with_pauses() -> None:
    play = Play(node("a"), hold("h"))
    tries = []

    def refuse(action: object) -> Denied | None:
        if isinstance(action, CreateGuardian):
            tries.append(play.now)
            return Denied("quota is used up")
        return None

    play.answer = refuse
    play.run(60)
    assert ready(play.hold("h")) == "GuardianRefused"
    assert 3 <= len(tries) <= 7
    play.answer = None
    play.run(150)
    assert play.hold("h").status.phase == "Available"


def test_a_guardian_whose_answer_was_lost_is_not_made_twice() -> None:
    play = Play(node("a"), hold("h"))

    def lose(action: object) -> Unavailable | None:
        if isinstance(action, CreateGuardian):
            play.toy.perform(action)
            return Unavailable("timed out")
        return None

    play.answer = lose
    play.round()
    play.answer = None
    play.run(30)
    assert len(play.ours("guardian")) == 1
    assert (play.hold("h").status.phase, ready(play.hold("h"))) == ("Available", "Available")


def test_trouble_that_is_over_is_not_told_again() -> None:
    play = Play(node("a"), hold("h", cpu=1, memory=0))
    play.answer = lambda act: Unavailable("lost") if isinstance(act, CreateGuardian) else None
    play.round()
    play.answer = None
    play.toy.perform(CreateGuardian(guardian_name(H), H, H.template.pod.requests))
    play.run(30)
    play.done.clear()
    play.toy.remove(play.ours("guardian")[0])
    play.run(10)
    said = [each.status for each in play.done if isinstance(each, WriteHoldStatus)]
    assert [status.conditions[0].reason for status in said] == ["WaitingForNode", "Available"]


def test_a_name_that_is_taken_by_a_stranger_is_told() -> None:
    play = Play(node("a"), hold("h"))
    play.answer = lambda action: Taken() if isinstance(action, CreateGuardian) else None
    play.run(5)
    assert ready(play.hold("h")) == "GuardianRefused"


def test_a_reusable_hold_knows_its_node_from_its_owner_after_a_restart() -> None:
    """Killed between the guardian's end and the first status, it forgot where its room was."""
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0, allocate_once=False))
    play.answer = lambda act: Unavailable("lost") if isinstance(act, WriteHoldStatus) else None
    play.run(1)
    play.put(gated("p", cpu=2))
    for _ in range(4):
        play.round()
    play.answer = None
    play.restart()
    play.run()
    assert play.pod("p").node == "a"
    assert (play.hold("h").status.node, ready(play.hold("h"))) == ("a", "FullyUsed")


def test_two_owners_of_a_reusable_hold_share_it_and_a_third_waits_no_longer_than_allowed() -> None:
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0, allocate_once=False))
    play.run()
    play.put(gated("p"), gated("q"), gated("r"))
    play.run()
    assert sorted(use.name for use in play.hold("h").status.owners) == ["p", "q"]
    assert play.pod("r").gates == ()
    assert play.hold("h").status.allocated == resources(cpu=2)


def test_a_hold_that_takes_no_new_owners_keeps_its_room() -> None:
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0, unschedulable=True))
    play.put(pod("p", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run()
    assert play.pod("p").node == ""
    assert [each.node for each in play.ours("guardian")] == ["a"]


def test_a_guardian_of_nobody_is_swept() -> None:
    play = Play(node("a"), hold("h"))
    play.run()
    guardian = play.ours("guardian")[0]
    play.toy.remove(play.hold("h"))
    play.run()
    assert guardian.key not in play.toy.pods


def test_the_life_of_a_hold_is_told_in_events() -> None:
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0, created=NOON))
    play.run()
    play.put(gated("p", cpu=2))
    play.run()
    assert [(tell.kind, tell.reason) for tell in play.toy.told] == [
        ("Hold", "Held"),
        ("Hold", "Claimed"),
        ("Pod", "Claimed"),
    ]


def test_of_holds_that_come_and_go_no_name_is_remembered() -> None:
    play = Play(node("a"))
    play.run()
    before = len(derived_names._names)
    for number in range(20):
        brief = hold(f"brief-{number}", cpu=1, memory=0)
        play.put(brief)
        play.run()
        play.toy.remove(brief)
        for guardian in play.ours("guardian"):
            play.toy.remove(guardian)
        play.run()
    assert len(derived_names._names) <= before
