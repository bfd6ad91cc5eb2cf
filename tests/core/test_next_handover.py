"""What starts next on a node is decided from the claims that wait for it."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.claims import Offer
from headroom.core.doors.next_handover import (
    NodeQueue,
    ParkedClaim,
    Pause,
    left_for_others,
    may_start,
    next_handover,
)
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, Resources
from tests.builders import hold, pod


def parked(
    name: str, door: int, cpu: int = 1, kept: Resources = EMPTY, ready: bool = True
) -> ParkedClaim:
    guardian = pod(f"guardian-of-{name}", cpu=1, node="a")
    owner = pod(name, cpu=cpu)
    claim = owner, Offer(hold(name), guardian, kept)
    return ParkedClaim(claim, door, owner, door, guardian, mounted=ready)


P, Q, R = parked("p", 1), parked("q", 2), parked("r", 1)


def test_those_at_the_door_of_the_first_go_together() -> None:
    assert next_handover(NodeQueue((P, Q, R))) == (P, R)
    assert next_handover(NodeQueue((Q, P, R))) == (Q,)


def test_who_waits_for_volumes_is_passed_by() -> None:
    late = parked("late", 2, ready=False)
    assert next_handover(NodeQueue((late, P))) == (P,)
    assert next_handover(NodeQueue((late,))) is None


def test_a_claim_is_decided_anew_when_its_owner_or_its_guardian_is_another() -> None:
    assert (P.owner, P.stands) == (P.claim[0], True)
    assert replace(P, pod=pod("p", uid="other")).owner is None
    assert replace(P, at_door=0).owner is None
    late = replace(Q, mounted=False)
    assert (late.ready, late.owner) == (False, None)
    assert replace(late, guardian=pod("another", node="a")).ready


def test_what_is_left_is_for_others_at_our_scheduler_only() -> None:
    rest = Resources({"cpu": 500})
    room = hold("h", allocate_once=False)
    claim = pod("p", cpu=0), Offer(room, pod("g", cpu=1, node="a"), rest)
    assert left_for_others([claim], door=2, scarce=False) == rest
    assert left_for_others([claim], door=1, scarce=False) is None
    assert left_for_others([claim], door=2, scarce=True) is None
    assert left_for_others([Q.claim], door=2, scarce=False) is None


def test_who_needs_free_room_goes_alone_in_turn() -> None:
    large = parked("large", 1, cpu=2)
    assert next_handover(NodeQueue((P, large, R))) == (P,)
    assert next_handover(NodeQueue((large, P))) == (large,)


def test_where_places_are_scarce_who_leaves_a_rest_goes_alone_behind_the_second_door() -> None:
    rest = Resources({"cpu": 500})
    small, gated = parked("small", 2, 0, rest), parked("gated", 1, 0, rest)
    assert next_handover(NodeQueue((small, Q), scarce=True)) == (small,)
    assert next_handover(NodeQueue((small, Q))) == (small, Q)
    assert next_handover(NodeQueue((gated, P), scarce=True)) == (gated, P)


def test_nobody_starts_while_room_counts_twice() -> None:
    assert next_handover(NodeQueue((Q,), arriving=True)) is Pause.UNSETTLED
    assert next_handover(NodeQueue((P,), latched=True)) is Pause.UNSETTLED
    assert next_handover(NodeQueue((Q,), latched=True)) == (Q,)


def test_guardians_that_are_being_made_come_before_the_gate_only() -> None:
    assert next_handover(NodeQueue((P,), guardian_coming=True)) is Pause.GUARDIANS
    assert next_handover(NodeQueue((Q, P), guardian_coming=True)) == (Q,)


def test_a_handover_starts_on_an_idle_node_while_few_are_in_progress() -> None:
    policy = Policy(handovers_at_once=2)
    assert may_start(busy=False, in_progress=1, policy=policy)
    assert not may_start(busy=True, in_progress=1, policy=policy)
    assert not may_start(busy=False, in_progress=2, policy=policy)
