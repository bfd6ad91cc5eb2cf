"""Fences in the engine: put up once, for those who wait for what owners have, and for no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headroom.core.actions import (
    Action,
    CreateFence,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Denied,
    Outcome,
)
from headroom.core.names import LOCKED_PRIORITY, ROLE_FENCE, ROLE_LABEL, SCHEDULER_NAME
from headroom.core.objects import Pod
from tests.builders import NOON, hold, node, pod, resources
from tests.engine.play import Play


def in_use(**parts: Any) -> Play:
    """A node that an owner of three and the rest of its hold of four fill."""
    reusable = hold("h", cpu=4, memory=0, allocate_once=False)
    play = Play(node("a", cpu=4, **parts), reusable)
    play.run()
    play.put(pod("owner", cpu=3, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run()
    assert play.pod("owner").node == "a"
    play.done.clear()
    return play


def refused(name: str, cpu: int, **parts: Any) -> Pod:
    """A pod of kube-scheduler's that found no room."""
    return pod(name, cpu=cpu, unschedulable_since=NOON, **parts)


def test_a_refused_pod_that_waits_for_an_owners_end_has_the_node_fenced_once() -> None:
    play = in_use()
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    assert play.did(CreateFence, DeletePod) == ["CreateFence"]
    assert [each.node for each in play.ours("fence")] == ["a"]


def test_who_would_not_fit_then_either_fences_nothing() -> None:
    play = in_use()
    play.put(refused("giant", 5), refused("critical", 3, priority=LOCKED_PRIORITY + 1))
    play.run(60, scheduling=False)
    assert play.did(CreateFence) == []


def test_owners_of_a_hold_for_one_return_nothing() -> None:
    play = Play(node("a", cpu=4), hold("h", cpu=4, memory=0))
    play.run()
    play.put(pod("owner", cpu=4, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run()
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    assert play.did(CreateFence) == []


def test_behind_a_fence_what_is_returned_is_held_without_a_latch() -> None:
    play = in_use()
    play.put(refused("rival", 3))
    play.run(5, scheduling=False)
    play.done.clear()
    play.put(replace(play.pod("owner"), phase="Succeeded"))
    play.run(5, scheduling=False)
    assert play.did(CreateLatch, DeletePod, CreateGuardian) == ["DeletePod", "CreateGuardian"]
    assert [each.requests for each in play.ours("guardian")] == [resources(cpu=4)]


def test_a_fence_that_has_ended_is_replaced() -> None:
    play = in_use()
    play.put(refused("rival", 3))
    play.run(5, scheduling=False)
    play.put(replace(play.ours("fence")[0], phase="Failed", reason="Evicted"))
    play.run(5, scheduling=False)
    assert [each.phase for each in play.ours("fence")] == ["Pending"]


def test_a_fence_goes_some_time_after_the_last_who_waited() -> None:
    play = in_use()
    play.put(refused("rival", 3))
    play.run(5, scheduling=False)
    play.toy.remove(play.pod("rival"))
    play.run(9, scheduling=False)
    assert len(play.ours("fence")) == 1
    play.run(2, scheduling=False)
    assert play.ours("fence") == []


def test_a_fence_that_is_refused_is_tried_ever_less_often() -> None:
    play = in_use()
    asked: list[Action] = []

    def refuse(action: Action) -> Outcome | None:
        if not isinstance(action, CreateFence):
            return None
        asked.append(action)
        return Denied("no such pods here")

    play.answer = refuse
    play.put(refused("rival", 3))
    play.run(600, scheduling=False)
    assert 1 < len(asked) < 20


def test_a_node_without_a_place_for_another_pod_is_not_fenced() -> None:
    play = in_use(pods=2)
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    assert play.did(CreateFence) == []


def test_a_pod_that_only_calls_itself_a_fence_is_none() -> None:
    play = in_use()
    play.put(pod("forged", labels={ROLE_LABEL: ROLE_FENCE}, node="a"), refused("rival", 3))
    play.run(5, scheduling=False)
    play.put(replace(play.pod("owner"), phase="Succeeded"))
    play.run(60, scheduling=False)
    assert play.did(CreateFence) == ["CreateFence"]
    assert play.pod("forged").node == "a"
