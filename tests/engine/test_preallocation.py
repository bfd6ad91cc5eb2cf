"""Holds that take the place of running pods: whom they wait for, and when they look again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.holds import Hold, Terms
from headroom.core.names import SCHEDULER_NAME
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from tests.builders import hold, node, pod
from tests.engine.play import Play

ALLOWING = Policy(cluster_preallocation=True)


def succeeding(cpu: int = 3, **terms: Any) -> Hold:
    return hold(
        "h",
        cpu,
        0,
        allocate_once=False,
        allocate_policy="Restricted",
        pre_allocation=True,
        terms=Terms(**terms),
    )


def running(name: str, cpu: int = 3, **parts: Any) -> Pod:
    return pod(name, cpu, 0, **{"node": "a", "pre_allocatable": 0, "labels": {}, **parts})


def message(play: Play) -> str:
    return play.hold("h").status.conditions[0].message


def test_a_marked_pod_of_anybody_is_waited_for_and_its_room_is_held_when_it_ends() -> None:
    play = Play(
        node("a", cpu=4),
        running("p", namespace="there"),
        succeeding(takes_marked=True),
        policy=ALLOWING,
    )
    play.run()
    assert (play.hold("h").status.phase, message(play)) == (
        "Waiting",
        "waits on a for the end of there/p",
    )
    play.put(pod("rival", 3, 0))
    play.run()
    play.toy.remove(running("p", namespace="there"))
    play.run()
    assert (play.hold("h").status.phase, play.pod("rival").node) == ("Available", "")


def test_without_leave_it_is_told_and_nothing_is_kept() -> None:
    play = Play(node("a", cpu=4), running("p"), succeeding(takes_marked=True))
    play.run()
    assert play.hold("h").status.conditions[0].reason == "InvalidSpec"
    assert "--allow-cluster-preallocation" in message(play)
    assert (play.ours("guardian"), play.ours("latch")) == ([], [])


def test_one_that_must_have_a_candidate_takes_no_free_room_and_sees_one_that_comes() -> None:
    play = Play(
        node("a", cpu=8), succeeding(takes_marked=True, needs_candidate=True), policy=ALLOWING
    )
    play.run()
    assert play.hold("h").status.phase == "Pending"
    assert "that is marked for it" in message(play)
    plain = running("p", pre_allocatable=None)
    play.put(plain, pod("crowd", 4, 0, node="a"))
    play.run()
    assert play.hold("h").status.phase == "Pending"
    play.put(replace(plain, pre_allocatable=0))
    play.run()
    assert (play.hold("h").status.phase, message(play)) == (
        "Waiting",
        "waits on a for the end of default/p",
    )


def test_a_priority_that_changes_changes_whom_it_waits_for() -> None:
    pods = [running(name, 2, pre_allocatable=1) for name in ("p", "q")]
    play = Play(node("a", cpu=4), *pods, succeeding(2, takes_marked=True), policy=ALLOWING)
    play.run()
    assert message(play).endswith("default/p")
    play.put(replace(pods[1], pre_allocatable=2))
    play.run()
    assert message(play).endswith("default/q")


def test_what_a_pod_gives_back_to_its_own_hold_is_not_promised_to_another() -> None:
    reusable = hold("mine", 3, 0, allocate_once=False)
    play = Play(node("a", cpu=4), reusable, policy=ALLOWING)
    play.run()
    play.put(pod("p", 3, 0, labels={"app": "web"}, pre_allocatable=0, scheduler=SCHEDULER_NAME))
    play.run()
    assert [use.name for use in play.hold("mine").status.owners] == ["p"]
    play.put(succeeding(takes_marked=True))
    play.run()
    assert play.hold("h").status.phase == "Pending"
