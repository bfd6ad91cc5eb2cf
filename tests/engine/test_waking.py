"""Pods that kube-scheduler has forgotten beside their room are brought to its mind again."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import CreateLatch, DeletePod, Nominate
from headroom.core.holds import LOCKED, PREEMPTIBLE
from headroom.core.sizes.replicas import Replicas
from tests.builders import node, pod
from tests.core.headroom_builder import headroom
from tests.engine.play import Play


def forgotten(mode: str = PREEMPTIBLE, cpu: int = 1) -> Play:
    """A pod that is nominated to a node with room for one, and that nobody binds."""
    play = Play(node("a", 2), headroom(Replicas(1), mode=mode))
    play.run()
    play.put(replace(pod("late", cpu, priority=0), nominated="a"))
    return play


def wakes(play: Play) -> int:
    """How often a latch was made and deleted again."""
    made = [action.key for action in play.done if isinstance(action, CreateLatch)]
    ended = [action.key for action in play.done if isinstance(action, DeletePod)]
    named = [action.key for action in play.done if isinstance(action, Nominate)]
    assert [key for key in ended if key in made] == made == [key for key in named if key in made]
    assert play.ours("latch") == []
    return len(made)


def test_a_pod_beside_its_room_is_brought_to_mind_after_a_second() -> None:
    play = forgotten()
    play.run(0.9, scheduling=False)
    assert wakes(play) == 0
    play.run(0.2, scheduling=False)
    assert wakes(play) == 1


def test_less_and_less_often() -> None:
    play = forgotten()
    play.run(300, scheduling=False)
    assert 6 <= wakes(play) <= 10


def test_no_longer_once_it_has_its_node() -> None:
    play = forgotten()
    play.run(1.5, scheduling=False)
    play.put(pod("late", 1, node="a", priority=0))
    play.run(100, scheduling=False)
    assert wakes(play) == 1


def test_a_pod_whose_victims_are_still_there_waits_in_peace() -> None:
    play = forgotten(cpu=2)
    play.run(30, scheduling=False)
    assert wakes(play) == 0


def test_where_nothing_of_ours_makes_way_preemption_is_none_of_our_business() -> None:
    play = forgotten(mode=LOCKED)
    play.run(30, scheduling=False)
    assert wakes(play) == 0
