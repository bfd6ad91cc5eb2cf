"""Owners that run and grow in place: the room held for them on their node is theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import ClaimInPlace, DeletePod
from headroom.core.claims import claim_of
from headroom.core.holds import Hold
from headroom.core.objects import Pod
from headroom.core.resources import EMPTY
from tests.builders import hold, node, pod, resources
from tests.engine.play import Play


def running(cpu: int = 1, **parts: Any) -> Pod:
    return pod(
        "web", cpu=cpu, **{"node": "a", "labels": {"app": "web"}, "phase": "Running", **parts}
    )


def held(kept: Hold, cpu: int = 4) -> Play:
    play = Play(node("a", cpu=cpu), running(), kept)
    play.run()
    play.done.clear()
    return play


def grow(play: Play, cpu: int) -> None:
    """Let the pod ask for more, and the kubelet put it off."""
    before = play.pod("web")
    asked = resources(cpu=cpu)
    play.put(replace(before, requests=asked, growth=asked.minus(before.requests)))


def test_a_pod_that_grows_takes_the_hold_on_its_node_and_the_guardian_goes() -> None:
    play = held(hold("h", cpu=3, memory=0))
    grow(play, 3)
    play.run()
    assert play.did(ClaimInPlace, DeletePod) == ["ClaimInPlace", "DeletePod"]
    assert claim_of(play.pod("web")) == ("Hold/default/h", "uid-of-h")
    status = play.hold("h").status
    assert (status.phase, status.allocated) == ("Succeeded", resources(cpu=2))


def test_of_a_hold_for_many_only_the_growth_is_used() -> None:
    play = held(hold("h", cpu=3, memory=0, allocate_once=False))
    grow(play, 2)
    play.run()
    (guardian,) = play.ours("guardian")
    assert guardian.requests == resources(cpu=2)
    status = play.hold("h").status
    assert (status.phase, status.allocated) == ("Available", resources(cpu=1))
    assert play.ours("latch") == []


def test_what_it_takes_is_counted_the_same_after_a_restart() -> None:
    play = held(hold("h", cpu=3, memory=0, allocate_once=False))
    grow(play, 2)
    play.run()
    play.put(replace(play.pod("web"), growth=EMPTY))
    play.restart()
    play.done.clear()
    play.run()
    assert play.did(DeletePod) == []
    assert play.hold("h").status.allocated == resources(cpu=1)


def test_when_it_shrinks_again_the_room_is_held_again() -> None:
    play = held(hold("h", cpu=3, memory=0, allocate_once=False))
    grow(play, 2)
    play.run()
    play.put(replace(play.pod("web"), requests=resources(cpu=1), growth=EMPTY))
    play.run()
    (guardian,) = play.ours("guardian")
    assert guardian.requests == resources(cpu=3)


def test_a_claimed_owner_that_grows_makes_the_guardian_smaller() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=4, memory=0, allocate_once=False))
    play.run()
    play.put(pod("web", cpu=1, labels={"app": "web"}, scheduler="headroom-scheduler"))
    play.run()
    grow(play, 3)
    play.run()
    (guardian,) = play.ours("guardian")
    assert guardian.requests == resources(cpu=1)
    assert play.hold("h").status.allocated == resources(cpu=3)


def test_a_hold_on_another_node_is_of_no_use() -> None:
    play = Play(node("a", cpu=1), node("b", cpu=4), running(), hold("h", cpu=3, memory=0))
    play.run()
    assert play.ours("guardian")[0].node == "b"
    grow(play, 3)
    play.run()
    assert claim_of(play.pod("web")) is None


def test_more_than_the_hold_and_the_node_have_is_not_given() -> None:
    play = held(hold("h", cpu=3, memory=0))
    grow(play, 6)
    play.run()
    assert claim_of(play.pod("web")) is None
    assert play.hold("h").status.phase == "Available"


def test_who_is_no_owner_grows_without_it() -> None:
    play = held(hold("h", cpu=3, memory=0, owners="api"))
    grow(play, 3)
    play.run()
    assert claim_of(play.pod("web")) is None


def test_a_pod_that_waits_to_grow_is_served_by_a_hold_that_comes_later() -> None:
    play = Play(node("a", cpu=4), replace(running(2), growth=resources(cpu=1)))
    play.run()
    assert claim_of(play.pod("web")) is None
    play.put(hold("h", cpu=1, memory=0))
    play.run()
    assert claim_of(play.pod("web")) == ("Hold/default/h", "uid-of-h")
