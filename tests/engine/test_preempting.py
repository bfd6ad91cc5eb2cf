"""Owners of a hold that is in use: who gives way, who keeps the room meanwhile, who gets it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import EndPod, MarkPreempted
from headroom.core.claims import claim_of
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import Pod, Wish
from tests.builders import hold, node, pod
from tests.engine.play import Play

DEAR = 100


def owner(name: str, cpu: int = 2, **parts: Any) -> Pod:
    return pod(name, cpu=cpu, labels={"app": "web"}, scheduler=SCHEDULER_NAME, **parts)


def in_use(*owners: Pod, size: int = 4, cpu: int = 4, **parts: Any) -> Play:
    """A node with a shared hold, and these owners in it."""
    play = Play(node("a", cpu=size), hold("h", cpu=cpu, memory=0, allocate_once=False, **parts))
    play.run()
    for each in owners:
        play.put(each)
        play.run()
        assert play.pod(each.key.name).node == "a"
    play.done.clear()
    return play


def ended(play: Play) -> list[str]:
    return [action.key.name for action in play.done if isinstance(action, EndPod)]


def is_owner(play: Play, name: str) -> bool:
    return claim_of(play.pod(name)) == ("Hold/default/h", "uid-of-h")


def test_a_latch_stands_for_the_owner_before_its_victim_knows_and_until_it_is_gone() -> None:
    play = in_use(owner("low", 4))
    play.put(owner("high", 4, priority=DEAR))
    play.run()
    kinds = [name for name in play.did() if name not in ("Tell", "WriteHoldStatus")]
    assert kinds == ["CreateLatch", "Nominate", "MarkPreempted", "EndPod"]
    assert play.pod("low").preempted
    (latch,) = play.ours("latch")
    assert latch.requests == play.pod("low").requests
    play.run(600)
    assert [each.key for each in play.ours("latch")] == [latch.key]
    play.toy.remove(play.pod("low"))
    play.run()
    assert play.pod("high").node == "a"
    assert is_owner(play, "high")
    assert play.ours("latch") == []


def test_the_pod_that_a_controller_makes_in_a_victims_place_does_not_get_its_room() -> None:
    play = in_use(owner("low", 4))
    play.put(owner("high", 4, priority=DEAR))
    play.run()
    play.put(owner("again", 4))
    play.run()
    play.toy.remove(play.pod("low"))
    play.run()
    assert (play.pod("high").node, play.pod("again").node) == ("a", "")


def test_two_that_are_as_important_get_in_one_after_the_other() -> None:
    play = in_use(owner("low-0"), owner("low-1"))
    play.put(owner("high-0", priority=DEAR), owner("high-1", priority=DEAR))
    for _ in range(2):
        play.run(20)
        for name in ended(play):
            play.toy.remove(play.pod(name))
        play.done.clear()
    play.run(20)
    assert all(is_owner(play, name) for name in ("high-0", "high-1"))


def test_pods_outside_give_way_where_owners_are_not_enough() -> None:
    play = in_use(owner("low", 2), owner("dear", 2, priority=DEAR), size=6)
    play.put(pod("outside", cpu=2, node="a"))
    play.put(owner("high", 4, priority=50))
    play.run(20)
    assert sorted(ended(play)) == ["low", "outside"]
    play.toy.remove(play.pod("low"))
    play.run()
    assert play.pod("high").node == ""
    play.toy.remove(play.pod("outside"))
    play.run()
    assert is_owner(play, "high")


def test_owners_of_another_hold_are_of_no_use_and_spared() -> None:
    play = Play(
        node("a", cpu=4),
        hold("h", cpu=2, memory=0, allocate_once=False),
        hold("k", cpu=2, memory=0, owners="other", allocate_once=False),
    )
    play.run()
    other = replace(owner("other"), labels={"app": "other"})
    play.put(owner("dear", priority=DEAR), other)
    play.run()
    play.put(owner("high", priority=50))
    play.run(20)
    assert ended(play) == []
    assert play.pod("high").node == ""


def test_an_owner_that_goes_leaves_what_was_freed_to_the_hold() -> None:
    play = in_use(owner("low", 4))
    play.put(owner("high", 4, priority=DEAR))
    play.run()
    play.toy.remove(play.pod("high"))
    play.run()
    (latch,) = play.ours("latch")
    assert "headroom.dev/claims" not in {key for key, text in latch.annotations.items() if text}
    play.toy.remove(play.pod("low"))
    play.run()
    (guardian,) = play.ours("guardian")
    assert (guardian.node, guardian.requests) == ("a", latch.requests)
    assert play.ours("latch") == []


def test_an_owner_that_may_no_longer_go_there_leaves_what_was_freed_to_the_hold() -> None:
    play = in_use(owner("low", 4))
    play.put(owner("high", 4, priority=DEAR))
    play.run()
    play.put(replace(play.hold("h"), unschedulable=True, generation=2))
    play.toy.remove(play.pod("low"))
    play.run(30)
    assert play.pod("high").node == ""
    assert [each.node for each in play.ours("guardian")] == ["a"]
    assert play.ours("latch") == []


def test_another_operator_ends_those_who_are_still_to_be_ended() -> None:
    play = in_use(owner("low-0"), owner("low-1"))
    play.put(owner("high", 4, priority=DEAR))
    play.run(7, scheduling=False)
    for name in ended(play)[1:]:  # As if the operator had died before the second.
        play.put(replace(play.pod(name), deleted=None, preempted=False))
    play.toy.remove(play.pod(ended(play)[0]))
    play.restart()
    play.done.clear()
    play.run()
    assert play.did(MarkPreempted, EndPod) == ["MarkPreempted", "EndPod"]


def test_an_owner_that_needs_its_hold_takes_a_place_in_it_though_the_node_has_room() -> None:
    play = in_use(owner("low", 4), size=16, allocate_policy="Restricted")
    play.put(owner("high", 4, priority=DEAR, wish=Wish(needs_hold=True)))
    play.run(20)
    assert ended(play) == ["low"]
    assert play.pod("high").node == ""
    play.toy.remove(play.pod("low"))
    play.run()
    assert is_owner(play, "high")


def test_where_free_room_will_do_nobody_gives_way() -> None:
    play = in_use(owner("low", 4), size=16)
    play.put(owner("high", 4, priority=DEAR))
    play.run(20)
    assert ended(play) == []
    assert play.pod("high").node == "a"


def test_a_hold_that_is_all_in_use_is_not_on_its_way() -> None:
    """Neither is it waited for where there is free room, nor before others give way for it."""
    play = in_use(owner("low", 4), size=8)
    play.put(owner("second", 4))
    play.run(2)
    assert play.pod("second").node == "a"
    play.put(owner("high", 4, priority=DEAR))
    play.run(2)
    assert ended(play) == ["low"]
