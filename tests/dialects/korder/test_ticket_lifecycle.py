"""The life of a ticket around that of a hold: its finalizer, its end, and when it is looked at."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headroom.core.actions import DeleteObject, DeletePod, SetFinalizers
from headroom.core.headrooms.slot_values import Chronicle
from headroom.core.hold_state.view import HoldDecision, HoldView
from headroom.core.holds import Hold, HoldStatus, OwnerUse
from headroom.core.objects import Key, OwnerReference, Parent, Pod
from headroom.core.policy import Policy
from headroom.dialects.korder.rules.tenure import TicketTenure
from tests.builders import NOON, hold, pod

HOUR = timedelta(hours=1)
POLICY = Policy()
FINALIZER = "example.com/finalizer"
TENURE = TicketTenure(HOUR, cleanup=timedelta(seconds=10))
TICKET = replace(
    hold("t", cpu=1),
    parent=Parent("core.korder.dev/v1alpha1", "Ticket", "default", "t", "uid-t"),
    guardian="guardian-t",
    ttl=None,
    tenure=TENURE,
    finalizer=FINALIZER,
    finalizers=(FINALIZER,),
)
OVER = replace(
    TICKET, status=HoldStatus("Failed", chronicle=Chronicle(NOON - HOUR, NOON, ended=NOON))
)


def decided(
    ticket: Hold, *claimants: Pod, left: Pod | None = None, after_s: float = 0
) -> HoldDecision:
    now = NOON + timedelta(seconds=after_s)
    assert ticket.tenure is not None
    return ticket.tenure.decide(HoldView(ticket, claimants=claimants, left=left), now, POLICY)


def actions(life: HoldDecision) -> list[object]:
    return [each for step in (life.sequence.steps if life.sequence else ()) for each in step]


def test_the_finalizer_comes_before_anything_else() -> None:
    bare = replace(TICKET, finalizers=("other",), version="7")
    assert actions(decided(bare)) == [SetFinalizers(bare.parent, "7", ("other", FINALIZER))]


def test_a_ticket_that_is_over_is_deleted_after_its_time_and_not_before() -> None:
    waiting = decided(OVER, after_s=9)
    assert (waiting.sequence, waiting.wake_at) == (None, NOON + timedelta(seconds=10))
    gone = decided(OVER, after_s=10)
    assert isinstance(actions(gone)[-1], DeleteObject)


def test_what_is_due_but_not_yet_told_waits_for_its_status() -> None:
    now = TicketTenure(HOUR, cleanup=timedelta())
    claimed = HoldStatus("Succeeded", owners=(OwnerUse("default", "p", "u"),))
    life = decided(replace(TICKET, tenure=now, status=claimed))
    assert life.status.phase == "Failed"
    assert life.sequence is None
    assert life.wake_at is None  # A moment that is past would be rung for ever.


def test_who_has_the_ticket_keeps_it_while_it_runs() -> None:
    claimed = replace(TICKET, status=HoldStatus("Succeeded", node="a", chronicle=Chronicle(NOON)))
    runs = replace(pod("p", cpu=1), node="a", phase="Running")
    assert decided(claimed, runs, after_s=7200).status.phase == "Succeeded"
    over = decided(claimed, replace(runs, phase="Succeeded")).status
    assert (over.phase, over.conditions[0].reason) == ("Failed", "Finished")


def test_a_guardian_of_the_same_object_by_another_hand_is_found_and_goes() -> None:
    owner = OwnerReference("core.korder.dev/v1alpha1", "Ticket", "t", "uid-t", controller=True)
    left = Pod(Key("default", "guardian-t"), uid="u", owners=(owner,))
    assert TENURE.left_over(TICKET, {left.key: left}) == left
    assert actions(decided(TICKET, left=left)) == [DeletePod(left.key, "u")]


def test_a_strangers_pod_of_that_name_and_our_own_are_let_be() -> None:
    owner = OwnerReference("apps/v1", "ReplicaSet", "r", "other", controller=True)
    stranger = Pod(Key("default", "guardian-t"), uid="u", owners=(owner,))
    assert TENURE.left_over(TICKET, {stranger.key: stranger}) is None
    ours = replace(
        stranger,
        owners=(replace(owner, uid="uid-t"),),
        labels={"headroom.dev/role": "guardian"},
    )
    assert TENURE.left_over(TICKET, {ours.key: ours}) is None
    assert TENURE.left_over(replace(TICKET, guardian=""), {ours.key: ours}) is None
