"""What happens to an owner at a door, as a function of what was found for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from headroom.core.claims import Offer, Refused, Search
from headroom.core.doors.claim_decision import OwnerStage
from headroom.core.doors.owner_decision import (
    SCHEDULER_ERROR,
    STAY,
    BindVolumes,
    FreeRoom,
    OwnerView,
    Park,
    Preempt,
    Refuse,
    Release,
    TakeFreeRoom,
    Wait,
    WaitForNode,
    decide,
)
from headroom.core.names import CLAIM_GATE, WAIT_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY
from tests.builders import hold, pod

NOW = datetime(2027, 1, 4, 8, tzinfo=UTC)
POLICY = Policy()
HOLD = hold("checkout")
OFFER = Offer(HOLD, pod("guardian", node="a"), EMPTY)
NOT_YET = Search(None, (Refused(HOLD.parent, "its room is not held yet", waiting=True),))
NONE = Search(None)
LATER = NOW + POLICY.patience
SOON = NOW + POLICY.first_look


def _never() -> Offer | None:
    raise AssertionError("this is asked only if nothing cheaper is left")


def _view(
    found: Search,
    door: int = 2,
    waits: bool = False,
    room: FreeRoom | None = None,
    way: Callable[[], Offer | None] = _never,
) -> OwnerView:
    gates = (CLAIM_GATE,) if door == 1 else ()
    owner: Pod = pod("owner", annotations={WAIT_ANNOTATION: "true"} if waits else {}, gates=gates)

    def free_room() -> FreeRoom:
        assert room is not None, "free room is not asked for"
        return room

    return OwnerView(owner, door, NOW, lambda: found, free_room, way, _never)


@pytest.mark.parametrize("door", [1, 2])
def test_an_offer_is_taken_at_both_doors(door: int) -> None:
    assert decide(_view(Search(OFFER), door), POLICY, NOW) == Park(OFFER)


@pytest.mark.parametrize("door", [1, 2])
def test_a_hold_that_may_come_is_waited_for_a_little_at_both_doors(door: int) -> None:
    assert decide(_view(NOT_YET, door), POLICY, NOW) == Wait(LATER)
    assert decide(_view(NONE, door), POLICY, NOW) == Wait(SOON)


def test_who_finds_nothing_at_the_gate_is_released() -> None:
    assert decide(_view(NONE, 1), POLICY, SOON) == Release(NONE)
    assert decide(_view(NOT_YET, 1), POLICY, LATER) == Release(NOT_YET)


def test_who_asks_to_wait_at_the_gate_is_never_released() -> None:
    move = decide(_view(NOT_YET, 1, waits=True), POLICY, NOW + timedelta(days=1))
    assert isinstance(move, Wait)
    assert move.room


def test_a_pod_of_our_scheduler_gets_free_room_if_no_hold_is_for_it() -> None:
    assert decide(_view(NONE, room=FreeRoom("a")), POLICY, SOON) == TakeFreeRoom("a", NONE)


def test_free_room_that_others_are_on_their_way_to_is_left_to_them() -> None:
    found = _view(NONE, room=FreeRoom("a", contended=True))
    assert decide(found, POLICY, SOON) == WaitForNode("a", SOON + POLICY.first_look)


def test_without_free_room_others_give_way_or_the_pod_is_refused() -> None:
    full = FreeRoom(why_not="0/1 nodes are available")
    preempts = decide(_view(NONE, room=full, way=lambda: OFFER), POLICY, SOON)
    assert isinstance(preempts, Preempt)
    refused = decide(_view(NONE, room=full, way=lambda: None), POLICY, SOON)
    assert refused == Refuse("0/1 nodes are available", Wait(None, room=True))


def test_who_asks_to_wait_at_our_scheduler_takes_no_free_room() -> None:
    before = decide(_view(NOT_YET, waits=True), POLICY, NOW)
    assert isinstance(before, Wait)
    assert "waits for a hold" in before.message
    after = decide(_view(NOT_YET, waits=True, way=lambda: None), POLICY, LATER)
    assert isinstance(after, Wait)


def test_a_refusal_that_a_node_causes_waits_for_that_node() -> None:
    busy = replace(NOT_YET.refused[0], node="a")
    move = decide(_view(Search(None, (busy,))), POLICY, NOW)
    assert isinstance(move, Wait)
    assert move.nodes == ("a",)


def test_a_failed_handover_gives_the_owner_its_time_again() -> None:
    failed = Search(None, (replace(NOT_YET.refused[0], failed=True),))
    move = decide(_view(failed), POLICY, LATER)
    assert move == Wait(LATER + POLICY.patience, anew=HOLD.parent)


def _unsearched(owner: Pod, door: int, at: OwnerStage = OwnerStage.AT_DOOR) -> OwnerView:
    def search() -> Search:
        raise AssertionError("no hold is searched for")

    free_room: Callable[[], FreeRoom] = _view(NONE).free_room
    return OwnerView(owner, door, NOW, search, free_room, _never, _never, at, node="a")


def test_no_hold_is_searched_before_the_gates_of_others_are_gone() -> None:
    owner = pod("owner", gates=(CLAIM_GATE, "of/others"))
    assert decide(_unsearched(owner, 1), POLICY, LATER) == STAY


@pytest.mark.parametrize("door", [1, 2])
def test_a_new_owner_waits_a_moment_for_its_volume_claims(door: int) -> None:
    gates = (CLAIM_GATE,) if door == 1 else ()
    owner = pod("owner", claims=("data",), gates=gates)
    assert decide(_unsearched(owner, door), POLICY, NOW) == Wait(SOON)


def test_a_pod_without_its_volume_claims_is_marked_as_unschedulable() -> None:
    owner = pod("owner", claims=("data",))
    move = decide(_unsearched(owner, 2), POLICY, SOON)
    assert move == Refuse('persistentvolumeclaim "data" not found')


def test_what_our_scheduler_cannot_judge_is_refused_as_an_error() -> None:
    move = decide(_unsearched(pod("owner", unsupported=("claims",)), 2), POLICY, NOW)
    assert isinstance(move, Refuse)
    assert move.reason == SCHEDULER_ERROR


def test_an_owner_on_its_way_is_left_alone_but_for_its_volumes() -> None:
    bare, mounting = pod("owner"), pod("owner", claims=("data",))
    assert decide(_unsearched(bare, 2, OwnerStage.PARKED), POLICY, NOW) == STAY
    assert decide(_unsearched(bare, 2, OwnerStage.LATCHED), POLICY, NOW) == STAY
    assert decide(_unsearched(mounting, 2, OwnerStage.PARKED), POLICY, NOW) == BindVolumes("a")
