"""Fences in the engine: put up once, for those who wait for what owners have, and for no others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from headroom.core.actions import (
    Action,
    CreateFence,
    CreateGuardian,
    CreateLatch,
    DeletePod,
    Denied,
    Nominate,
    Outcome,
)
from headroom.core.fences import FENCING, LONGEST_CAUSE
from headroom.core.names import LOCKED_PRIORITY, ROLE_FENCE, ROLE_LABEL, SCHEDULER_NAME
from headroom.core.node.fence_decision import PLACES_TO_SPARE
from headroom.core.objects import HostPort, Placement, Pod
from headroom.core.plan import Work
from headroom.core.policy import Policy
from headroom.engine.effects import expect_pod
from headroom.engine.engine import Engine
from headroom.ports import Seen
from tests.builders import NOON, hold, node, pod, resources
from tests.engine.play import Play


def in_use(policy: Policy | None = None, **parts: Any) -> Play:
    """A node that an owner of three and the rest of its hold of four fill."""
    reusable = hold("h", cpu=4, memory=0, allocate_once=False)
    play = Play(node("a", cpu=4, **parts), reusable, policy=policy or Policy())
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


def test_one_that_waits_for_ever_keeps_no_fence_for_ever() -> None:
    play = in_use()
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    assert len(play.ours("fence")) == 1
    play.run(LONGEST_CAUSE.total_seconds(), scheduling=False)
    assert play.ours("fence") == []


def test_who_would_run_beside_what_is_returned_causes_no_fence() -> None:
    """The owner's host port is what it waits for; the hold keeps no port and loses no room."""
    play = Play(node("a", cpu=8), hold("h", cpu=4, memory=0, allocate_once=False))
    play.run()
    port = Placement(ports=(HostPort(80),))
    mine = pod("owner", cpu=4, labels={"app": "web"}, scheduler=SCHEDULER_NAME, placement=port)
    play.put(mine)
    play.run()
    play.put(refused("rival", 1, placement=port))
    play.run(5, scheduling=False)
    assert play.did(CreateFence) == []
    play.put(refused("larger", 5))
    play.run(5, scheduling=False)
    assert play.did(CreateFence) == ["CreateFence"]


def test_who_wants_a_port_that_the_hold_keeps_causes_one() -> None:
    port = Placement(ports=(HostPort(80),))
    shape = hold("h", cpu=4, memory=0, allocate_once=False)
    kept = replace(shape.template.pod, placement=port)
    shape = replace(shape, template=replace(shape.template, pod=kept))
    play = Play(node("a", cpu=8), shape)
    play.run()
    play.put(pod("o", cpu=4, labels={"app": "web"}, scheduler=SCHEDULER_NAME, placement=port))
    play.run()
    play.put(refused("rival", 1, placement=port))
    play.run(5, scheduling=False)
    assert play.did(CreateFence) == ["CreateFence"]


def test_a_namespace_has_no_more_fences_than_it_may() -> None:
    play = in_use(policy=Policy(fences_per_namespace=0))
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    assert play.did(CreateFence) == []


def test_a_fence_does_not_take_the_last_place_for_a_pod() -> None:
    """kube-scheduler may be placing somebody there: one of the two would be refused."""
    for places, fences in ((3, []), (4, ["CreateFence"])):
        play = in_use(pods=places)
        play.put(refused("rival", 3))
        play.run(60, scheduling=False)
        assert play.did(CreateFence) == fences, places


def test_on_a_node_with_few_places_a_latch_keeps_the_one_that_a_fence_takes() -> None:
    """kube-scheduler may be giving all of them away in that moment."""
    play = in_use(pods=PLACES_TO_SPARE + 1)  # Two of them are taken.
    play.put(refused("rival", 3))
    play.run(60, scheduling=False)
    did = play.did(CreateLatch, Nominate, CreateFence, DeletePod)
    assert did == ["CreateLatch", "Nominate", "CreateFence", "DeletePod"]
    assert play.ours("latch") == []
    assert len(play.ours("fence")) == 1


def test_places_that_are_given_away_beside_that_latch_are_not_fenced() -> None:
    play = in_use(pods=4)
    play.put(refused("rival", 3))
    play.round()
    assert play.did() == ["CreateLatch", "Nominate"]
    play.put(pod("quick", cpu=0, node="a"))
    play.run(60, scheduling=False)
    assert play.did(CreateFence, CreateLatch) == ["CreateLatch"]
    assert play.ours("latch") == []


def test_a_fence_that_is_refused_under_a_latch_is_tried_ever_less_often() -> None:
    play = in_use(pods=4)
    play.answer = lambda action: Denied("no") if isinstance(action, CreateFence) else None
    play.put(refused("rival", 3))
    play.run(600, scheduling=False)
    assert 1 < len(play.did(CreateLatch)) < 20
    assert play.ours("latch") == []


def test_that_latch_is_taken_away_by_another_operator() -> None:
    play = in_use(pods=4)
    play.put(refused("rival", 3))
    play.round()
    play.toy.remove(play.pod("rival"))
    play.restart()
    play.run(5, scheduling=False)
    assert play.ours("latch") == []


def beside_another() -> tuple[Play, Pod]:
    """A fenced node of eight, and the guardian of another hold there, of three."""
    other = hold("g", cpu=3, memory=0, allocate_once=False, owners="other")
    mine = hold("h", cpu=4, memory=0, allocate_once=False)
    play = Play(node("a", cpu=8), mine, other)
    play.run()
    play.put(pod("owner", cpu=4, labels={"app": "web"}, scheduler=SCHEDULER_NAME))
    play.run()
    play.put(refused("rival", 2))
    play.run(5, scheduling=False)
    assert len(play.ours("fence")) == 1
    play.done.clear()
    return play, next(each for each in play.ours("guardian") if each.requests == resources(cpu=3))


def test_a_guardian_that_somebody_deletes_behind_a_fence_is_put_back_behind_it() -> None:
    """Somebody who waits would fit into its room, which is a hold's all the same."""
    play, guardian = beside_another()
    play.toy.remove(guardian)
    play.run(60, scheduling=False)
    assert play.did(DeletePod, CreateLatch, CreateFence, CreateGuardian) == ["CreateGuardian"]


def test_a_fence_stays_while_a_guardian_is_bound_behind_it_however_long() -> None:
    play, guardian = beside_another()
    play.toy.remove(guardian)
    (bound,) = (each for each in play.plan() if isinstance(each.steps[0][0], CreateGuardian))
    play.now += timedelta(minutes=5)
    assert Work.UNFENCE not in [each.work for each in play.plan()]
    assert play.perform(bound)
    assert play.did(CreateGuardian, DeletePod) == ["CreateGuardian"]


def test_nothing_is_bound_behind_a_fence_that_is_being_taken_down() -> None:
    play, guardian = beside_another()
    play.toy.remove(play.pod("rival"))
    play.run(8, scheduling=False)
    play.now += timedelta(seconds=4)
    (down,) = (each for each in play.plan() if each.work == Work.UNFENCE)
    play.toy.remove(guardian)
    actions = [action for each in play.plan() for step in each.steps for action in step]
    assert not any(isinstance(each, CreateGuardian) and each.bound for each in actions)
    assert play.perform(down)


def test_the_age_of_a_fence_counts_from_when_the_watch_shows_it() -> None:
    """kube-scheduler sees pods in the order of the watch, not in that of our own writes."""
    engine = Engine(Policy())
    fence = pod("f", node="a", labels={ROLE_LABEL: ROLE_FENCE}, placement=FENCING)
    expect_pod(engine.ledger, fence, NOON)
    assert engine.ledger.shown_since(fence, "a") is None
    later = NOON + timedelta(seconds=1)
    engine.observe(Seen(fence), later)
    assert engine.ledger.shown_since(fence, "a") == later


def test_a_fence_stays_until_every_cycle_sees_the_guardian_that_was_bound_behind_it() -> None:
    """It opened for a pod that fits, ten milliseconds after the guardian was there (seed 2008)."""
    play = in_use()
    play.put(refused("rival", 3))
    play.run(5, scheduling=False)
    play.put(replace(play.pod("owner"), phase="Succeeded"), node("a", cpu=8))
    play.run(0.4, scheduling=False)
    assert [each.requests for each in play.ours("guardian")] == [resources(cpu=4)]
    assert len(play.ours("fence")) == 1
    play.run(2, scheduling=False)
    assert play.ours("fence") == []


def test_where_a_place_is_free_and_no_room_no_latch_keeps_the_place() -> None:
    """It was created and deleted again and again (seed 459 with headrooms)."""
    play = in_use(pods=1)
    assert [bool(each.gates) for each in play.ours("guardian")] == [True]
    play.put(node("a", cpu=4, pods=10), pod("rival", cpu=1, node="a", phase="Running"))
    play.run(120)
    assert len(play.did(CreateLatch)) <= 1
    assert play.ours("latch") == []
