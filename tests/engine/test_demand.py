"""Headrooms that follow the load, in the engine: counted once in a while, never per pod."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import CreateGuardian
from headroom.core.headrooms.headrooms import Headroom, Slot
from headroom.core.holds import PREEMPTIBLE
from headroom.core.resources import EMPTY
from headroom.core.sizes.utilization import Utilization
from headroom.engine.headrooms.load import use_of
from headroom.ports import Lost
from tests.builders import node, pod
from tests.core.headroom_builder import WEB, headroom, web
from tests.engine.play import Play


def half() -> Headroom:
    return headroom(Utilization(500), mode=PREEMPTIBLE)


def creates(play: Play) -> int:
    return sum(isinstance(action, CreateGuardian) for action in play.done)


def test_as_much_is_held_as_the_threshold_asks_for() -> None:
    play = Play(node("a", 8), pod("p", 3, node="a"), half())
    play.run()
    assert creates(play) == 3


def test_a_storm_of_pods_is_counted_once_in_a_while() -> None:
    play = Play(node("a", 64), half())
    play.run()
    for number in range(30):
        play.put(pod(f"p{number}", "100m", node="a"))
        play.round()
    assert creates(play) == 1  # The first pod is seen at once, the others in one look later.
    play.run()
    assert creates(play) == 3


def test_pods_that_the_workload_is_about_to_make_are_counted_first() -> None:
    copying = replace(headroom(Utilization(1000), mode=PREEMPTIBLE), slot=Slot(source=WEB))
    play = Play(node("a", 8), pod("p", 3, node="a"), copying, web(5, missing=2))
    play.run()
    assert creates(play) == 2
    play.put(web(5, missing=0))
    play.run(30)
    assert creates(play) == 2


def test_after_a_restart_what_stands_stays() -> None:
    play = Play(node("a", 8), pod("p", 3, node="a"), half())
    play.run()
    play.restart()
    play.run()
    assert creates(play) == 3
    assert len(play.ours("guardian")) == 3


def test_who_looks_ahead_counts_what_any_workload_is_slow_to_make() -> None:
    play = Play(node("a", 8), headroom(Utilization(1000, ahead=True), mode=PREEMPTIBLE))
    play.run()
    play.put(web(5, missing=3))
    play.run(3)
    assert creates(play) == 0  # Most pods are only a moment late.
    play.run(5)
    assert creates(play) == 3
    play.put(web(5, missing=1))
    play.run(10)
    assert len(play.ours("guardian")) == 1


def test_what_pods_ask_for_is_added_up_only_while_a_headroom_follows_the_load() -> None:
    play = Play(node("a", 8), pod("p", 3, node="a"), pod("over", 1, node="a", phase="Succeeded"))
    play.run()
    load = play.engine.ledger.slots.load
    assert use_of(load, ["a"]).pods == 0
    play.put(half())
    play.run()
    held = sum((each.requests for each in play.ours("guardian")), EMPTY)
    use = use_of(load, ["a"])
    assert use.pods == 1
    assert use.by_node["a"] == play.pod("p").requests
    assert use.taken["a"] == play.pod("p").requests + held
    play.engine.observe(Lost(play.pod("p")), play.now)
    assert use_of(load, ["a"]).by_node["a"] == EMPTY
    play.engine.observe(Lost(half()), play.now)
    assert use_of(load, ["a"]).taken["a"] == EMPTY
