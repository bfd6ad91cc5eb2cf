"""A guardian that is to grow, and pods placed on free room: both wait until their latch is firm."""

from __future__ import annotations

from datetime import timedelta

from headroom.core.actions import Bind, CreateGuardian, CreateLatch, DeletePod, Nominate
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.objects import Pod
from tests.builders import hold, node, pod, resources
from tests.engine.play import Play

ROOM = (CreateGuardian, CreateLatch, DeletePod, Nominate, Bind)


def owner(name: str, cpu: int) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, gates=(CLAIM_GATE,))


def partly_used() -> Play:
    """A hold of four, three of them in use: the guardian keeps one."""
    play = Play(node("a", cpu=4), hold("h", cpu=4, memory=0, allocate_once=False))
    play.run()
    play.put(owner("user", cpu=3))
    play.run()
    assert [each.requests for each in play.ours("guardian")] == [resources(cpu=1)]
    play.done.clear()
    return play


def test_what_is_returned_is_held_again_under_a_latch_that_has_stood() -> None:
    play = partly_used()
    play.toy.remove(play.pod("user"))
    while play.round():
        pass
    assert play.did(*ROOM) == ["CreateLatch", "Nominate"]
    play.run()
    assert play.did(*ROOM)[2:] == ["DeletePod", "CreateGuardian", "DeletePod"]
    assert [each.requests for each in play.ours("guardian")] == [resources(cpu=4)]
    assert play.ours("latch") == []


def test_a_rival_that_was_quicker_costs_the_hold_nothing_that_it_had() -> None:
    play = partly_used()
    kept = play.ours("guardian")
    play.toy.remove(play.pod("user"))
    while play.round():
        pass
    play.put(pod("rival", cpu=2, node="a", phase="Running"))
    play.run()
    assert play.ours("guardian") == kept
    assert play.hold("h").status.conditions[0].reason == "PartiallyHeld"
    assert play.ours("latch") == []


def test_free_room_is_not_taken_before_the_watch_shows_the_latch() -> None:
    play = Play(node("a", cpu=2), pod("p", cpu=1, scheduler=SCHEDULER_NAME))
    while not play.ours("latch"):
        play.round()
        play.now += timedelta(milliseconds=100)
    play.toy.events.clear()
    play.now += timedelta(seconds=3)
    assert play.engine.plan(play.now).sequences == ()
    for latch in play.ours("latch"):
        play.put(latch)
    play.run(1)
    assert play.pod("p").node == "a"


def test_room_that_was_lost_before_its_latch_stood_is_not_bound_to_again() -> None:
    """A stranger took the guardian just before its handover; a rival was quicker (seed 8896)."""
    play = Play(node("a", cpu=2), hold("h", cpu=2, memory=0, allocate_once=False))
    play.run()
    play.put(pod("ours", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    (handover,) = play.plan()
    play.toy.remove(play.ours("guardian")[0])
    play.put(pod("rival", cpu=2, node="a", phase="Running"))
    play.perform(handover)
    play.toy.remove(play.pod("ours"))
    play.run(60)
    assert all(not each.node for each in play.ours("guardian"))
    assert play.hold("h").status.phase == "Pending"
