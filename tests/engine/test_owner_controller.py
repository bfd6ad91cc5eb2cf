"""Pods of our own scheduler: on a hold, on free room, or told why they wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import MarkUnschedulable, Tell, Unavailable
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME, WAIT_ANNOTATION
from headroom.core.objects import Pod
from tests.builders import hold, node, pod
from tests.engine.play import Play

PATIENT = {WAIT_ANNOTATION: "true"}


def ours(name: str = "p", cpu: int = 1, **parts: Any) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, scheduler=SCHEDULER_NAME, **parts)


def test_a_hold_is_better_than_free_room() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=1, memory=0))
    play.run()
    play.put(ours())
    play.run()
    assert play.hold("h").status.owners[0].name == "p"


def test_without_a_hold_free_room_will_do() -> None:
    play = Play(node("a"), ours())
    play.run()
    assert play.pod("p").node == "a"
    assert play.ours("latch") == []


def test_no_room_is_told_once_where_autoscalers_look() -> None:
    play = Play(node("a", cpu=1), ours(cpu=2))
    play.run(60)
    assert play.did(MarkUnschedulable, Tell) == ["MarkUnschedulable", "Tell"]
    assert "Insufficient cpu" in play.pod("p").unschedulable_message


def test_a_mark_that_did_not_get_through_is_made_again() -> None:
    play = Play(node("a", cpu=1), ours(cpu=2))
    play.answer = lambda act: Unavailable("lost") if isinstance(act, MarkUnschedulable) else None
    play.run(1)
    play.answer = None
    play.run(30)
    assert play.pod("p").unschedulable_since is not None


def test_who_waits_for_room_gets_it_when_there_is_some() -> None:
    play = Play(node("a", cpu=1), ours(cpu=2))
    play.run()
    play.put(node("b", cpu=2))
    play.run()
    assert play.pod("p").node == "b"


def test_what_we_cannot_judge_is_left_alone_and_told() -> None:
    play = Play(node("a"), ours(unsupported=("volume data",)))
    play.run(60)
    assert play.pod("p").node == ""
    assert [tell.reason for tell in play.toy.told] == ["Unschedulable"]
    assert "volume data" in play.toy.told[0].message


def test_a_pod_that_asks_to_wait_takes_no_free_room() -> None:
    play = Play(node("a", cpu=4), ours(annotations=PATIENT))
    play.run(60)
    assert play.pod("p").node == ""
    play.put(hold("h", cpu=1, memory=0))
    play.run()
    assert play.hold("h").status.owners[0].name == "p"


def test_a_pod_that_waits_is_not_forgotten_when_its_hold_is_out_of_reach_for_a_while() -> None:
    """It was looked at when the hold came, refused for a moment, and never looked at again."""
    for door in ({"scheduler": SCHEDULER_NAME}, {"gates": (CLAIM_GATE,)}):
        play = Play(node("a", cpu=1, unschedulable=True), hold("h", cpu=1, memory=0))
        play.put(pod("p", cpu=1, labels={"app": "web"}, annotations=PATIENT, **door))
        play.run()
        assert play.pod("p").node == ""
        play.put(node("a", cpu=1))
        play.run()
        assert play.pod("p").node == "a", door


def test_free_room_is_left_alone_while_owners_are_on_their_way_into_the_node() -> None:
    play = Play(node("a", cpu=2), hold("h", cpu=1, memory=0))
    play.run()
    play.put(pod("owner", cpu=1, labels={"app": "web"}, gates=(CLAIM_GATE,)))
    play.round()
    play.put(pod("other", cpu=1, scheduler=SCHEDULER_NAME))
    play.run(1, scheduling=False)
    assert play.ours("latch") == []
    play.run()
    assert (play.pod("owner").node, play.pod("other").node) == ("a", "a")


def test_a_stranger_nominated_to_the_node_does_not_keep_an_owner_out_of_its_hold() -> None:
    play = Play(node("a", cpu=1), hold("h", cpu=1, memory=0))
    play.run()
    play.put(pod("stranger", cpu=1, nominated="a", priority=1000), ours())
    play.run(scheduling=False)
    assert play.pod("p").node == "a"


def test_who_found_no_room_beside_a_latch_is_woken_when_it_goes() -> None:
    """A latch has no node of its own; its room is free all the same when it is gone."""
    play = Play(node("a", cpu=4), hold("h", cpu=2, memory=0, allocate_once=False))
    play.run()
    play.put(pod("first", cpu=2, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    while not play.pod("first").node:
        play.round()
    assert play.ours("latch")
    play.put(pod("stranger", cpu=2, scheduler=SCHEDULER_NAME))
    play.run(5)
    assert play.pod("stranger").node == "a"


def test_who_waits_for_room_waits_on_when_its_object_changes_in_nothing_that_counts() -> None:
    play = Play(node("a", cpu=1), ours(cpu=2))
    play.run(5)
    play.put(replace(play.pod("p"), version="changed"))
    play.run(5)
    play.put(node("b", cpu=2))
    play.run()
    assert play.pod("p").node == "b"
