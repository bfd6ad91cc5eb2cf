"""Pods that carry a claim and are not at the gate, and the premises of a handover."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from headroom.core.actions import CreateLatch, DeletePod, Disclaim, Tell, Ungate
from headroom.core.doors.carried_claims import CarriedClaim, decide
from headroom.core.doors.claim_decision import GateDecision, NominatedOwner, OwnerStage
from headroom.core.doors.premises import missing
from headroom.core.handover import ungate
from headroom.core.holds import HoldStatus
from headroom.core.names import CLAIM_GATE, SCHEDULER_NAME
from headroom.core.node.view import HoldRoom
from headroom.core.objects import Key, Pod
from headroom.core.plan import Sequence, Work
from headroom.core.pod_memory import NOTHING, PodMemory
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY
from headroom.core.waits.scheduler_activity import SchedulerActivity
from tests.builders import NOON, hold, pod

POLICY = Policy()
HOLD = hold("h", cpu=2)
OWNER = pod("owner", cpu=2, nominated="a")
SECOND = timedelta(seconds=1)


def view(stage: OwnerStage, owner: Pod = OWNER, node: str = "a", **parts: Any) -> CarriedClaim:
    known = CarriedClaim(owner, stage, HOLD, NOTHING, node, SchedulerActivity())
    return replace(known, **parts)


def writes(decision: GateDecision) -> list[type]:
    steps = [step for sequence in decision.sequences for step in sequence.steps]
    return [type(action) for step in steps for action in step]


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (replace(OWNER, gates=(CLAIM_GATE,)), [Disclaim, Ungate, Tell]),
        (OWNER, [Disclaim]),
        (replace(OWNER, node="b"), []),
        (replace(OWNER, phase="Failed"), []),
    ],
)
def test_a_claim_that_does_not_stand_keeps_nobody_waiting(owner: Pod, expected: list[type]) -> None:
    assert writes(decide(view(OwnerStage.STRAY, owner), POLICY, NOON)) == expected
    assert writes(decide(view(OwnerStage.STRAY, owner, hold=None), POLICY, NOON)) == expected


def test_an_owner_that_was_let_in_has_a_while_to_be_bound() -> None:
    first = decide(view(OwnerStage.LET_IN), POLICY, NOON)
    assert (first.sequences, first.wake_at) == ((), NOON + POLICY.unbound_claim_limit)
    assert first.memories == {OWNER.uid: PodMemory(nominated_since=NOON)}
    over = NOON + POLICY.unbound_claim_limit
    late = view(OwnerStage.LET_IN, memory=PodMemory(nominated_since=NOON))
    assert decide(late, POLICY, over).sequences == ()  # kube-scheduler may be away.
    at_work = replace(late, scheduler_activity=SchedulerActivity(NOON, over))
    assert writes(decide(at_work, POLICY, over)) == [Disclaim, Tell]
    refused = view(OwnerStage.LET_IN, replace(OWNER, unschedulable_since=NOON))
    assert writes(decide(refused, POLICY, NOON + SECOND)) == [Disclaim, Tell]


def test_an_owner_of_our_scheduler_is_not_let_in_by_the_gate() -> None:
    ours = replace(OWNER, scheduler=SCHEDULER_NAME)
    assert decide(view(OwnerStage.LET_IN, ours), POLICY, NOON) == GateDecision()


def test_a_claim_says_nothing_about_another_node() -> None:
    there = view(OwnerStage.BOUND, replace(OWNER, node="a"), memory=PodMemory(nominated_since=NOON))
    assert decide(there, POLICY, NOON) == GateDecision(memories={OWNER.uid: NOTHING})
    away = view(OwnerStage.BOUND, replace(OWNER, node="b"))
    assert writes(decide(away, POLICY, NOON)) == [Disclaim, Tell]
    over = replace(HOLD, status=HoldStatus(phase="Succeeded"))
    assert writes(decide(replace(away, hold=over), POLICY, NOON)) == []


LATCH, GUARDIAN = Key("headroom-system", "latch"), pod("guardian", cpu=2, node="a")
GATED = replace(OWNER, gates=(CLAIM_GATE,))
HANDOVER = Sequence(
    Work.DOOR1,
    (),
    (
        (CreateLatch(LATCH, HOLD.parent, EMPTY, "a"),),
        (DeletePod(GUARDIAN.key, GUARDIAN.uid),),
        (ungate(GATED),),
    ),
)


def rests_on(step: int, *pods: Pod, owner: NominatedOwner | None = None) -> str:
    return missing(HANDOVER, step, {each.key: each for each in pods}, lambda pod: owner)


def test_a_step_rests_on_latches_and_on_the_owner() -> None:
    latch = replace(pod("latch"), key=LATCH)
    assert rests_on(0) == ""
    assert rests_on(1, GATED) == "latch latch is gone"
    assert rests_on(1, latch) == "owner default/owner is gone"
    assert rests_on(1, latch, replace(GATED, uid="another")) == "owner default/owner is gone"
    assert rests_on(1, latch, GATED) == ""
    assert rests_on(2, latch) == ""


def test_a_guardian_that_moved_stops_a_handover() -> None:
    latch = replace(pod("latch"), key=LATCH)
    elsewhere = HoldRoom(HOLD, (replace(GUARDIAN, node="b"),), (GATED,))
    changed = NominatedOwner(GATED, elsewhere, NOTHING)
    assert rests_on(1, latch, GATED, owner=changed) == f"{HOLD.parent.title} has changed"
