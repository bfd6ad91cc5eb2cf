"""What is remembered about a hold, whose turn it is, and what it waits for: all of it as values."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.hold_state.decision import CANDIDATES, OVERBOOKED_FOR, decide, observed
from headroom.core.hold_state.memory import (
    NOTHING,
    HoldMemory,
    by_our_clock,
    guardian_deleted,
    guardian_made,
)
from headroom.core.hold_state.view import HoldView, Obstacles, RenewalView
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.node.kept_room import KeptRoom
from headroom.core.objects import Parent, Pod
from headroom.core.policy import Policy
from headroom.core.subjects import Awaited, Change
from tests.builders import NOON, hold, pod, resources
from tests.core.test_hold_lifecycle import ONCE, guardian, steps, with_roles

SLOT = replace(ONCE, parent=Parent("v1", "Headroom", "default", "h", slot="0"))
RETRY = Policy().guardian_retry


def old() -> Pod:
    standing = guardian()
    return replace(standing, annotations={**standing.annotations, SHAPE_ANNOTATION: "older"})


def seen(
    memory: HoldMemory, *guardians: Pod, after_s: float = 0, expects_owner: bool = False
) -> HoldMemory:
    now = NOON + timedelta(seconds=after_s)
    view = with_roles(HoldView(ONCE, guardians, memory=memory, expects_owner=expects_owner), now)
    return observed(view, Policy(), now)


def test_a_guardian_that_is_lost_once_is_made_again_at_once() -> None:
    memory = seen(guardian_made(NOTHING, "uid", NOON), after_s=1)
    assert (memory.losses, memory.lost_until, memory.trouble) == (1, None, "")


@pytest.mark.parametrize("earlier", [1, 2, 3])
def test_each_further_loss_in_a_row_doubles_the_pause(earlier: int) -> None:
    made = guardian_made(HoldMemory(losses=earlier), "uid", NOON)
    memory = seen(made, after_s=1)
    later = NOON + timedelta(seconds=1) + RETRY * 2 ** (earlier - 1)
    assert memory.lost_until == later
    assert memory.trouble


def test_a_guardian_that_lasted_ends_the_row() -> None:
    made = guardian_made(HoldMemory(losses=3), "uid", NOON)
    assert seen(made, after_s=10).losses == 0


def test_what_we_delete_ourselves_is_no_loss() -> None:
    made = guardian_made(HoldMemory(losses=3), "uid", NOON)
    assert seen(guardian_deleted(made, gives_way=False), after_s=1).losses == 3


def test_one_loss_is_counted_once_however_often_it_is_seen() -> None:
    once = seen(guardian_made(NOTHING, "uid", NOON), after_s=1)
    assert seen(once, after_s=2) == once


def test_while_an_owner_is_on_its_way_nothing_is_lost() -> None:
    made = guardian_made(HoldMemory(losses=3), "uid", NOON)
    assert seen(made, after_s=1, expects_owner=True) == made


def test_a_guardian_that_stands_ends_trouble_and_pauses() -> None:
    memory = HoldMemory(trouble="refused", gave_way=2, gave_way_until=NOON, renewing=True)
    assert seen(memory, guardian()) == NOTHING


def test_an_outdated_guardian_ends_neither_its_trouble_nor_its_renewal() -> None:
    memory = HoldMemory(trouble="refused", renewing=True)
    assert seen(memory, old()) == memory


def test_a_decision_does_not_change_its_view_and_gives_the_same_answer_twice() -> None:
    view = HoldView(ONCE, memory=HoldMemory(gave_way=1))
    assert decide(view, NOON, Policy()) == decide(view, NOON, Policy())
    assert view.memory == HoldMemory(gave_way=1)


def test_the_pause_after_giving_way_begins_when_a_guardian_is_first_wanted() -> None:
    first = decide(HoldView(ONCE, memory=HoldMemory(gave_way=2)), NOON, Policy())
    assert first.sequence is None
    assert first.wake_at == first.memory.gave_way_until == NOON + timedelta(seconds=1)
    again = NOON + timedelta(seconds=1)
    assert steps(decide(HoldView(ONCE, memory=first.memory), again, Policy())) == ["CreateGuardian"]


def test_a_new_guardian_waits_while_owners_are_on_their_way_to_where_it_may_go() -> None:
    decision = decide(HoldView(ONCE, obstacles=Obstacles(arrivals=frozenset({""}))), NOON, Policy())
    assert decision.sequence is None
    assert decision.seeks
    assert decision.waits == (Awaited(Change.ARRIVALS, ""),)
    elsewhere = decide(
        HoldView(ONCE, obstacles=Obstacles(arrivals=frozenset({"b"}))), NOON, Policy()
    )
    assert steps(elsewhere) == ["CreateGuardian"]


def test_a_slot_that_is_not_refilled_gets_no_guardian() -> None:
    decision = decide(HoldView(ONCE, obstacles=Obstacles(spent=True)), NOON, Policy())
    assert (decision.sequence, decision.seeks) == (None, False)


def test_a_node_is_called_overbooked_after_it_has_been_so_for_a_while() -> None:
    view = with_roles(HoldView(ONCE, (guardian(),), node="a", overbooked=resources(cpu=1)))
    first = decide(view, NOON, Policy())
    assert first.wake_at == NOON + OVERBOOKED_FOR
    assert first.status.conditions[0].reason == "Available"
    later = decide(replace(view, memory=first.memory), NOON + OVERBOOKED_FOR, Policy())
    assert later.status.conditions[0].reason == "PartiallyHeld"
    over = replace(view, overbooked=resources(), memory=later.memory)
    assert decide(over, NOON, Policy()).memory.overbooked_since is None


def test_a_hold_that_could_not_grow_back_waits_for_room_on_its_node() -> None:
    view = HoldView(
        ONCE, (guardian(),), node="a", memory=HoldMemory(node="a"), kept=KeptRoom(grows=False)
    )
    decision = decide(with_roles(view), NOON, Policy())
    assert decision.waits == decision.memory.waits == (Awaited(Change.ROOM, "a"),)


def test_a_hold_that_takes_the_place_of_running_pods_waits_for_them() -> None:
    waiting = hold("h", cpu=2, pre_allocation=True)
    assert CANDIDATES in decide(HoldView(waiting, needs_place=True), NOON, Policy()).waits


def renewed(turn: RenewalView, memory: HoldMemory = NOTHING) -> tuple[bool, HoldMemory]:
    view = HoldView(SLOT, (old(),), node="a", renewal=turn, memory=memory)
    decision = decide(with_roles(view), NOON, Policy())
    return bool(decision.sequence), decision.memory


def test_so_many_slots_of_a_headroom_are_renewed_at_a_time() -> None:
    moving, memory = renewed(RenewalView(others=1, most=2))
    assert moving
    assert memory.renewing
    moving, memory = renewed(RenewalView(others=2, most=2))
    assert not moving
    assert not memory.renewing
    assert memory.waits == (Awaited(Change.RENEWAL, SLOT.group),)
    assert renewed(RenewalView(others=2, most=2), HoldMemory(renewing=True))[0]


def test_a_slot_whose_successor_finds_no_room_lets_others_have_their_turn() -> None:
    _, memory = renewed(RenewalView(others=2, most=2, stuck=True), HoldMemory(renewing=True))
    assert not memory.renewing


def test_a_renewal_waits_until_its_node_is_settled_and_keeps_its_turn() -> None:
    view = HoldView(SLOT, (old(),), node="a", renewal=RenewalView(unsettled=True))
    decision = decide(with_roles(view), NOON, Policy())
    assert decision.sequence is None
    assert decision.memory.renewing
    assert decision.waits == (Awaited(Change.NODE, "a"),)
    assert decision.wake_at == NOON + Policy().first_look


def test_a_guardian_is_not_older_than_we_know_it_to_be() -> None:
    stamped = pod("guardian", uid="uid", created=NOON - timedelta(seconds=5))
    assert by_our_clock(guardian_made(NOTHING, "uid", NOON), stamped).created == NOON
    assert by_our_clock(guardian_made(NOTHING, "other", NOON), stamped) == stamped
