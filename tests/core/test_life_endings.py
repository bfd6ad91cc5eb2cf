"""How holds end: by time, with their node, by deletion; and when their objects go."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from headroom.core.actions import DeleteObject, DeletePod
from headroom.core.hold_lifecycle import asks_no_room, decide
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold, HoldStatus, Problem, Terms
from headroom.core.objects import Condition, Pod
from headroom.core.policy import Policy
from tests.builders import NOON, hold, pod
from tests.core.test_hold_lifecycle import with_roles

DAY = timedelta(hours=24)
MINUTE = timedelta(minutes=1)


def guardian(**parts: Any) -> Pod:
    return pod("guardian", cpu=2, **{"node": "a", **parts})


def live(view: HoldView, now: datetime = NOON) -> HoldDecision:
    return decide(with_roles(view, now), now, Policy())


def steps(life: HoldDecision) -> list[type]:
    if life.sequence is None:
        return []
    return [type(action) for step in life.sequence.steps for action in step]


def told(life: HoldDecision) -> tuple[str, str, str]:
    ready = life.status.conditions[0]
    return life.status.phase, ready.reason, ready.message


def ended(phase: str = "Succeeded", since: datetime = NOON) -> Hold:
    status = HoldStatus(phase, "a", conditions=(Condition("Ready", "False", phase, since=since),))
    return hold("h", cpu=2, status=status)


def test_what_never_got_a_node_expires_like_any_other() -> None:
    waiting = guardian(node="", unschedulable_message="0/3 nodes")
    short = hold("h", cpu=2, ttl=MINUTE)
    life = live(HoldView(short, (waiting,)), NOON + MINUTE)
    assert told(life)[:2] == ("Failed", "Expired")
    assert steps(life) == [DeletePod]


def test_a_negative_ttl_is_over_before_anything_is_held() -> None:
    life = live(HoldView(hold("h", ttl=-MINUTE)))
    assert told(life)[:2] == ("Failed", "Expired")
    assert steps(life) == []


def test_a_hold_whose_node_is_gone_is_held_elsewhere_unless_it_ends_with_it() -> None:
    lost = HoldView(hold("h", cpu=2, memory=0), node="a", homeless=True)
    assert live(lost).status.phase == "Pending"
    bound = replace(lost, hold=replace(lost.hold, terms=Terms(ends_with_node=True)))
    assert told(live(bound)) == ("Failed", "Expired", "its node a is gone")


def test_a_hold_that_is_being_deleted_gives_its_room_back_and_is_never_available() -> None:
    leaving = HoldView(hold("h", cpu=2, deleted=NOON), (guardian(),), node="a")
    life = live(leaving)
    assert told(life) == ("Failed", "Deleted", "it is being deleted")
    assert steps(life) == [DeletePod]


def test_an_ended_hold_can_be_read_for_a_day_and_then_goes() -> None:
    view = HoldView(ended())
    assert (steps(live(view)), live(view).wake_at) == ([], NOON + DAY)
    assert steps(live(view, NOON + DAY)) == [DeleteObject]


def test_the_decision_in_which_it_ends_says_until_when_it_can_be_read() -> None:
    owner = pod("o", cpu=2, node="a")
    given = HoldView(hold("h", cpu=2), (), (owner,), node="a")
    assert live(given).wake_at == NOON + DAY
    expired = HoldView(hold("h", cpu=2, ttl=MINUTE), (guardian(),))
    assert live(expired, NOON + MINUTE).wake_at == NOON + MINUTE + DAY
    assert live(replace(expired, homeless=True), NOON + MINUTE).wake_at == NOON + 2 * MINUTE
    slot = replace(given.hold, parent=replace(given.hold.parent, slot="0"))
    assert live(replace(given, hold=slot)).wake_at is None


def test_the_room_of_a_hold_is_not_asked_about_when_its_one_owner_has_it_or_comes() -> None:
    owner, coming = pod("o", cpu=2, node="a"), pod("o", cpu=2)
    given = HoldView(hold("h", cpu=2), (), (owner,), node="a")
    assert asks_no_room(given)
    assert asks_no_room(replace(given, claimants=(coming,), expects_owner=True))
    assert not asks_no_room(replace(given, claimants=(coming,)))
    assert not asks_no_room(replace(given, claimants=(), expects_owner=True))
    assert not asks_no_room(replace(given, hold=hold("h", cpu=2, allocate_once=False)))


def test_one_whose_node_is_gone_goes_soon() -> None:
    view = HoldView(ended("Failed"), node="a", homeless=True)
    assert live(view).wake_at == NOON + MINUTE
    assert steps(live(view, NOON + MINUTE)) == [DeleteObject]


def test_its_guardian_goes_before_its_object() -> None:
    view = HoldView(ended(), (guardian(),), node="a")
    assert steps(live(view, NOON + DAY)) == [DeletePod]


def test_an_object_that_is_being_deleted_is_not_deleted_again() -> None:
    assert steps(live(HoldView(replace(ended(), deleted=NOON)), NOON + DAY)) == []


def test_a_hold_that_is_held_stays_however_old_it_is() -> None:
    old = hold("h", cpu=2, memory=0, ttl=None)
    life = live(HoldView(old, (guardian(),), node="a"), NOON + 100 * DAY)
    assert (life.status.phase, steps(life)) == ("Available", [])


def test_remarks_are_told_with_whatever_is_true() -> None:
    odd = hold("h", cpu=2, memory=0, remarks=(Problem("spec.expires", "is odd"),))
    assert told(live(HoldView(odd, (guardian(),), node="a"))) == (
        "Available",
        "Available",
        "spec.expires: is odd",
    )
