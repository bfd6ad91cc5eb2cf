"""The life of one hold: what it needs now, what it says of itself, and when to look again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from headroom.core.actions import CreateGuardian, DeletePod
from headroom.core.hold_lifecycle import decide
from headroom.core.hold_state.view import HoldDecision, HoldView, Obstacles
from headroom.core.holds import HoldStatus, Problem, Terms
from headroom.core.node.kept_room import KeptRoom
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.renewal import guardian_roles
from headroom.core.resources import EMPTY
from tests.builders import NOON, hold, pod, resources

ONCE = hold("h", cpu=2, memory=0)
MANY = hold("h", cpu=2, memory=0, allocate_once=False)


def guardian(cpu: int = 2, node: str = "a", **parts: Any) -> Pod:
    return pod("guardian", cpu=cpu, node=node, **parts)


def owner(cpu: int = 1, name: str = "p", **parts: Any) -> Pod:
    return pod(name, cpu=cpu, **{"node": "a", **parts})


def with_roles(view: HoldView, now: datetime = NOON) -> HoldView:
    """The view as the controller makes it: it says what each guardian is to the hold."""
    return replace(view, roles=guardian_roles(view.hold, view.guardians, now))


def live(view: HoldView) -> HoldDecision:
    return decide(with_roles(view), NOON, Policy())


def steps(life: HoldDecision) -> list[str]:
    if life.sequence is None:
        return []
    return [type(action).__name__ for step in life.sequence.steps for action in step]


def reason(life: HoldDecision) -> str:
    return life.status.conditions[0].reason


def test_a_new_hold_gets_a_guardian_and_is_pending() -> None:
    life = live(HoldView(ONCE))
    assert steps(life) == ["CreateGuardian"]
    assert (life.status.phase, reason(life)) == ("Pending", "WaitingForNode")


def test_a_held_hold_needs_nothing_and_is_available() -> None:
    life = live(HoldView(ONCE, (guardian(),), node="a"))
    assert steps(life) == []
    assert (life.status.phase, life.status.node) == ("Available", "a")


def test_a_guardian_that_finds_no_node_says_why() -> None:
    lost = guardian(node="", unschedulable_message="0/3 nodes are available")
    life = live(HoldView(ONCE, (lost,)))
    assert (reason(life), life.status.conditions[0].message) == (
        "Unschedulable",
        "0/3 nodes are available",
    )
    assert life.status.conditions[2].status == "True"


def test_a_template_that_names_a_node_is_pinned_to_it() -> None:
    pinned = replace(ONCE, template=replace(ONCE.template, node="b"))
    life = live(HoldView(pinned))
    assert life.sequence is not None
    create = life.sequence.steps[0][0]
    assert isinstance(create, CreateGuardian)
    assert (create.node, create.bound) == ("b", False)


def test_a_used_hold_for_one_owner_has_succeeded_and_lets_its_guardian_go() -> None:
    life = live(HoldView(ONCE, (guardian(),), (owner(),), node="a"))
    assert life.status.phase == "Succeeded"
    assert [use.name for use in life.status.owners] == ["p"]
    assert steps(life) == ["DeletePod"]


def test_an_owner_that_the_kubelet_turned_away_has_not_used_the_hold() -> None:
    rejected = owner(phase="Failed", reason="OutOfcpu")
    life = live(HoldView(ONCE, (), (rejected,), node="a"))
    assert life.status.phase == "Pending"
    assert steps(life) == ["CreateGuardian"]


def test_an_owner_that_runs_elsewhere_has_not_used_the_hold() -> None:
    life = live(HoldView(ONCE, (guardian(),), (owner(node="b"),), node="a"))
    assert (life.status.phase, life.status.owners) == ("Available", ())


def test_an_owner_that_has_come_to_its_end_has_used_the_hold() -> None:
    life = live(HoldView(ONCE, (), (owner(phase="Succeeded"),), node="a"))
    assert life.status.phase == "Succeeded"


def test_a_hold_with_an_owner_on_its_way_is_left_alone() -> None:
    waiting = replace(ONCE, status=HoldStatus(phase="Available", node="a"))
    life = live(HoldView(waiting, (), expects_owner=True, node="a"))
    assert steps(life) == []
    assert life.status == waiting.status
    assert life.wake_at == NOON + timedelta(hours=24)


def test_even_a_promised_hold_ends_when_its_time_is_over() -> None:
    ended = replace(ONCE, expires=NOON)
    life = live(HoldView(ended, (guardian(),), expects_owner=True, node="a"))
    assert (life.status.phase, reason(life)) == ("Failed", "Expired")
    assert steps(life) == ["DeletePod"]


def test_a_hold_for_ever_has_no_alarm() -> None:
    assert live(HoldView(replace(ONCE, ttl=None), (guardian(),), node="a")).wake_at is None


def test_an_invalid_hold_is_left_as_it_is_and_says_what_is_wrong() -> None:
    wrong = replace(ONCE, problems=(Problem("spec.ttl", "is not a duration"),))
    life = live(HoldView(wrong, (guardian(),), node="a"))
    assert steps(life) == []
    assert (reason(life), life.status.conditions[0].message) == (
        "InvalidSpec",
        "spec.ttl: is not a duration",
    )


def test_a_hold_that_is_over_only_cleans_up() -> None:
    over = replace(ONCE, status=HoldStatus(phase="Failed"))
    life = live(HoldView(over, (guardian(),)))
    assert life.status == over.status
    assert steps(life) == ["DeletePod"]


def test_a_second_guardian_goes_and_an_ended_one_too() -> None:
    second = replace(guardian(), uid="second")
    life = live(HoldView(ONCE, (guardian(), second), node="a"))
    assert life.sequence is not None
    assert life.sequence.steps == ((DeletePod(second.key, "second"),),)
    ended = guardian(phase="Failed")
    assert steps(live(HoldView(ONCE, (ended,), node="a"))) == ["DeletePod"]


def test_a_guardian_that_somebody_else_ends_is_ended_at_once_and_nothing_is_made_before() -> None:
    ending = guardian(deleted=NOON)
    life = live(HoldView(ONCE, (ending,), node="a"))
    assert life.sequence is not None
    assert life.sequence.steps == ((DeletePod(ending.key, ending.uid),),)


def test_where_its_room_can_be_held_again_a_latch_is_there_before_its_guardian_goes() -> None:
    ending, rest = guardian(deleted=NOON), resources(cpu=1)
    view = HoldView(ONCE, (ending,), node="a", rest=rest)
    assert steps(live(view)) == ["CreateLatch", "Nominate"]
    assert steps(live(replace(view, kept=KeptRoom(latched=resources())))) == []
    latched = replace(view, kept=KeptRoom(latched=ONCE.template.pod.requests))
    assert steps(live(latched)) == ["DeletePod", "CreateGuardian"]


def test_a_hold_that_is_over_does_not_wait_for_a_guardian_that_is_ending() -> None:
    over = replace(ONCE, status=HoldStatus(phase="Failed"))
    assert steps(live(HoldView(over, (guardian(deleted=NOON),)))) == ["DeletePod"]


def test_a_guardian_that_is_ended_again_and_again_is_not_held_at_once() -> None:
    ending, later = guardian(deleted=NOON), NOON + timedelta(seconds=2)
    view = HoldView(
        ONCE, (ending,), node="a", rest=resources(cpu=1), obstacles=Obstacles(not_before=later)
    )
    assert steps(live(view)) == ["DeletePod"]
    gone = live(replace(view, guardians=()))
    assert (steps(gone), gone.wake_at) == ([], later)


def test_after_a_refusal_the_next_try_waits_and_the_reason_is_shown() -> None:
    later = NOON + timedelta(seconds=2)
    life = live(HoldView(ONCE, obstacles=Obstacles(trouble="quota", not_before=later)))
    assert steps(life) == []
    assert life.wake_at == later
    assert (reason(life), life.status.conditions[0].message) == ("GuardianRefused", "quota")


def test_what_an_owner_takes_of_a_reusable_hold_is_no_longer_guarded() -> None:
    life = live(HoldView(MANY, (guardian(),), (owner(),), node="a"))
    assert steps(life) == ["CreateLatch", "Nominate", "DeletePod", "CreateGuardian"]
    assert life.status.allocated == resources(cpu=1)
    assert life.status.phase == "Available"


def test_a_reusable_hold_in_full_use_needs_no_guardian_and_is_available() -> None:
    life = live(HoldView(MANY, (), (owner(cpu=2),), node="a"))
    assert steps(life) == []
    assert (life.status.phase, reason(life)) == ("Available", "FullyUsed")


def test_a_guardian_of_nothing_goes() -> None:
    assert steps(live(HoldView(MANY, (guardian(),), (owner(cpu=2),), node="a"))) == ["DeletePod"]


def test_what_is_returned_is_latched_first_and_guarded_under_the_latch() -> None:
    small = guardian(cpu=1)
    assert steps(live(HoldView(MANY, (small,), node="a"))) == ["CreateLatch", "Nominate"]
    young = HoldView(MANY, (small,), node="a", kept=KeptRoom(latched=EMPTY))
    assert steps(live(young)) == []
    firm = HoldView(MANY, (small,), node="a", kept=KeptRoom(latched=resources(cpu=2)))
    assert steps(live(firm)) == ["DeletePod", "CreateGuardian"]


def test_a_hold_that_cannot_grow_back_keeps_what_it_has_and_says_so() -> None:
    life = live(HoldView(MANY, (guardian(cpu=1),), node="a", kept=KeptRoom(grows=False)))
    assert steps(life) == []
    assert (life.status.phase, reason(life)) == ("Available", "PartiallyHeld")
    assert life.status.conditions[2].status == "True"


def test_a_guardian_comes_back_under_a_latch_only_where_there_is_room() -> None:
    view = HoldView(MANY, (), (owner(),), node="a", kept=KeptRoom(latched=resources(cpu=1)))
    assert steps(live(view)) == ["CreateGuardian"]
    full = replace(view, kept=replace(view.kept, grows=False))
    life = live(full)
    assert life.sequence is not None
    create = life.sequence.steps[0][0]
    assert isinstance(create, CreateGuardian)
    assert not create.bound


def test_the_rest_of_a_hold_stays_on_the_node_of_its_users() -> None:
    life = live(HoldView(MANY, (), (owner(),), node="a", kept=KeptRoom(grows=False)))
    assert life.sequence is not None
    create = life.sequence.steps[0][0]
    assert isinstance(create, CreateGuardian)
    assert (create.node, create.requests) == ("a", resources(cpu=1))


def test_four_who_got_a_hold_for_one_are_all_told_of_what_it_has_and_by_uid() -> None:
    shape = hold("h", 10, "10Gi", terms=Terms(tells_all=True))
    disk = {"ephemeral-storage": "10Gi"}
    users = tuple(
        pod(f"p{number}", 2, "2Gi", node="a", uid=str(9 - number), more=disk) for number in range(4)
    )
    told = live(HoldView(shape, (guardian(10),), users, "a")).status
    assert (told.phase, told.allocated) == ("Succeeded", resources(8, "8Gi"))
    assert [use.uid for use in told.owners] == ["6", "7", "8", "9"]


def test_a_hold_that_is_in_use_stays_available_while_what_was_returned_is_held_again() -> None:
    life = live(HoldView(MANY, (), (owner(),), node="a"))
    assert steps(life)[-1] == "Nominate"
    assert (life.status.phase, reason(life)) == ("Available", "Available")
    assert life.status.conditions[0].message == "what was returned is about to be held again"


def test_a_slot_whose_owners_use_all_of_it_is_held_anew_elsewhere() -> None:
    """The latch that keeps its claim is as large as the slot, whatever is free on that node."""
    slot = replace(ONCE, parent=replace(ONCE.parent, kind="Headroom", slot="1"))
    there = (owner(name="p"), owner(name="q"))
    view = HoldView(
        slot, node="a", slot_users=there, kept=KeptRoom(latched=resources(cpu=3), whole=False)
    )
    life = live(view)
    assert life.sequence is not None
    create = life.sequence.steps[0][0]
    assert isinstance(create, CreateGuardian)
    assert (create.node, create.bound) == ("", False)


def test_a_slot_in_use_that_could_be_whole_gets_its_claim_before_its_guardian() -> None:
    """A guardian that waits in kube-scheduler's queue keeps nothing, and others may be quicker."""
    slot = replace(ONCE, parent=replace(ONCE.parent, kind="Headroom", slot="1"))
    view = HoldView(
        slot, node="a", slot_users=(owner(cpu=2),), kept=KeptRoom(pinned=True, whole=True)
    )
    assert steps(live(view)) == ["CreateLatch", "Nominate"]
    waits = guardian(node="")
    assert steps(live(replace(view, guardians=(waits,)))) == ["DeletePod"]
    kept = replace(view.kept, claimed=True, latched=resources(cpu=2), grows=True)
    latched = replace(view, kept=kept)
    life = live(latched)
    assert life.sequence is not None
    create = life.sequence.steps[0][0]
    assert isinstance(create, CreateGuardian)
    assert (create.node, create.bound) == ("a", True)
