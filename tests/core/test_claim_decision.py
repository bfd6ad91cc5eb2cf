"""What happens to an owner that carries a claim, as a function of a frozen view."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headroom.core.actions import CreateGuardian, DeletePod, Disclaim, Ungate
from headroom.core.doors.claim_decision import (
    GateDecision,
    GateView,
    NominatedOwner,
    OwnerStage,
    decide,
    stage_of,
)
from headroom.core.names import CLAIM_GATE, CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION
from headroom.core.node.view import HoldRoom, NodeView
from headroom.core.objects import Key, Pod
from headroom.core.plan import Work
from headroom.core.pod_memory import NOTHING, PodMemory, Refusal
from headroom.core.policy import Policy
from headroom.core.subjects import node_changed
from tests.builders import NOON, hold, pod

POLICY = Policy()
HOLD = hold("h", cpu=2, allocate_once=True)
CLAIM = {CLAIMED_ANNOTATION: str(HOLD.parent), CLAIMED_UID_ANNOTATION: HOLD.parent.uid}
GUARDIAN = pod("guardian", cpu=2, node="a")
OWNER = pod("owner", cpu=2, nominated="a", gates=(CLAIM_GATE,), annotations=CLAIM)
FORBIDDEN = PodMemory(refusal=Refusal("no right to delete pods"))


def view(
    owner: Pod = OWNER,
    memory: PodMemory = NOTHING,
    guardians: tuple[Pod, ...] = (GUARDIAN,),
    undone: bool = False,
    fits: bool = True,
) -> GateView:
    def unfit(asking: Pod, without: frozenset[Key]) -> str | None:
        return None if fits else "Insufficient cpu"

    nominated = NominatedOwner(owner, HoldRoom(HOLD, guardians, (owner,)), memory)
    node = NodeView("a", True, unfit, {}, (owner,))
    return GateView(nominated, node, (nominated,), (), undone, lambda priority, leaving: [])


def writes(decision: GateDecision) -> list[type]:
    steps = (step for sequence in decision.sequences for step in sequence.steps)
    return [type(action) for step in steps for action in step]


@pytest.mark.parametrize(
    ("owner", "door", "facts", "stage"),
    [
        (pod("p"), 0, (None, False, False), OwnerStage.ELSEWHERE),
        (pod("p", gates=(CLAIM_GATE,)), 1, (None, False, False), OwnerStage.AT_DOOR),
        (pod("p", gates=(CLAIM_GATE,)), 1, (None, True, False), OwnerStage.PARKED),
        (pod("p"), 2, (None, False, True), OwnerStage.LATCHED),
        (OWNER, 1, (True, False, False), OwnerStage.NOMINATED),
        (OWNER, 1, (False, False, False), OwnerStage.STRAY),
        (replace(OWNER, gates=()), 0, (True, False, False), OwnerStage.LET_IN),
        (replace(OWNER, gates=(), node="a"), 0, (True, False, False), OwnerStage.BOUND),
    ],
)
def test_an_owner_has_one_stage(
    owner: Pod, door: int, facts: tuple[bool | None, bool, bool], stage: OwnerStage
) -> None:
    assert stage_of(owner, door, *facts) is stage


def test_the_guardian_goes_before_the_gate() -> None:
    assert writes(decide(view(), POLICY, NOON)) == [DeletePod, Ungate]


def test_a_claim_whose_guardian_is_on_another_node_begins_anew() -> None:
    elsewhere = replace(GUARDIAN, node="b")
    decision = decide(view(guardians=(elsewhere,)), POLICY, NOON)
    assert writes(decision) == [Disclaim]


def test_who_needs_free_room_as_well_stands_nominated_for_a_while() -> None:
    large = replace(OWNER, requests=GUARDIAN.requests + GUARDIAN.requests)
    first = decide(view(large), POLICY, NOON)
    until = NOON + POLICY.free_room_wait
    assert (first.sequences, first.wake_at) == ((), until)
    memory = first.memories[large.uid]
    assert memory.nominated_since == NOON
    assert writes(decide(view(large, memory), POLICY, until)) == [DeletePod, Ungate]
    late = decide(view(large, memory, fits=False), POLICY, until)
    assert writes(late) == [Disclaim]
    assert late.memories[large.uid].nominated_since is None


def test_nobody_goes_on_while_a_claim_on_the_node_is_taken_back() -> None:
    decision = decide(view(undone=True), POLICY, NOON)
    assert (decision.sequences, decision.waits) == ((), (node_changed("a"),))


def test_a_forbidden_handover_is_undone_in_the_reverse_order() -> None:
    gone = decide(view(memory=FORBIDDEN, guardians=()), POLICY, NOON)
    assert writes(gone) == [CreateGuardian]
    memory = gone.memories[OWNER.uid]
    soon = NOON + POLICY.latch_linger
    assert decide(view(memory=memory), POLICY, NOON).wake_at == soon
    back = decide(view(memory=memory), POLICY, soon)
    assert [sequence.work for sequence in back.sequences] == [Work.TAKE_BACK, Work.TELL]
    assert back.memories[OWNER.uid] == NOTHING


def test_without_room_for_the_guardian_a_forbidden_handover_stays_for_a_while() -> None:
    decision = decide(view(memory=FORBIDDEN, guardians=(), fits=False), POLICY, NOON)
    assert decision.failed
    assert decision.sequences == ()
