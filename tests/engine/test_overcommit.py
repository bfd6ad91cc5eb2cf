"""A node with more on it than it has: the holds there say so, and take it back when it is over."""

from __future__ import annotations

from headroom.core.objects import Pod
from tests.builders import hold, node, pod
from tests.engine.play import Play


def reason(play: Play, name: str = "h") -> str:
    return play.hold(name).status.conditions[0].reason


def thief(cpu: int = 2) -> Pod:
    """A pod that named its node itself, and that the kubelet let in."""
    return pod("thief", cpu=cpu, memory=0, node="a")


def test_a_hold_whose_room_was_taken_past_the_schedulers_says_so_with_the_amount() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=3, memory=0))
    play.run()
    play.put(thief())
    play.run()
    ready, _, degraded = play.hold("h").status.conditions
    assert (play.hold("h").status.phase, ready.reason) == ("Available", "PartiallyHeld")
    assert degraded.status == "True"
    assert degraded.message.endswith("those on a ask for 1 cpu more than it has")
    play.toy.remove(thief())
    play.run()
    assert reason(play) == "Available"


def test_a_node_that_shrinks_under_a_hold_is_told_until_it_is_large_again() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=3, memory=0))
    play.run()
    play.put(node("a", cpu=2))
    play.run()
    assert reason(play) == "PartiallyHeld"
    play.put(node("a", cpu=3))
    play.run()
    assert reason(play) == "Available"


def test_a_pod_that_a_kubelet_turns_away_soon_is_not_worth_a_word() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=3, memory=0))
    play.run()
    version = play.hold("h").status
    play.put(thief())
    play.run(1)
    play.toy.remove(thief())
    play.run()
    assert play.hold("h").status == version


def test_who_is_short_of_something_else_is_not_concerned() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=1, memory=0), hold("m", cpu=0, memory="1Gi"))
    play.run()
    play.put(thief(4))
    play.run()
    assert (reason(play), reason(play, "m")) == ("PartiallyHeld", "Available")


def test_a_node_with_one_pod_too_many_is_told() -> None:
    play = Play(node("a", cpu=4, pods=2), hold("h", cpu=1, memory=0))
    play.run()
    play.put(pod("one", node="a"), pod("two", node="a"))
    play.run()
    told = play.hold("h").status.conditions[2].message
    assert told.endswith("those on a ask for 1 pods more than it has")
