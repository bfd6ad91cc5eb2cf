"""A latch is decided from a frozen view: finished, kept, moved or taken away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headroom.core.actions import Bind, DeletePod, EndPod, MoveLatch
from headroom.core.doors.latch_decision import (
    NEW_LATCH,
    LatchDecision,
    LatchMemory,
    LatchView,
    decide,
    without_volumes,
)
from headroom.core.latches import OpenClaim
from headroom.core.names import CLAIMS_ANNOTATION, PARENT_ANNOTATION
from headroom.core.plan import Work
from headroom.core.policy import Policy
from tests.builders import hold, pod

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
POLICY = Policy()
LINGER = POLICY.latch_linger
H = hold("h")
OWNER = pod("p")
LATCH = pod(
    "latch",
    nominated="a",
    annotations={
        CLAIMS_ANNOTATION: "default/p/uid-of-p Hold/default/h u",
        PARENT_ANNOTATION: "Hold/default/h",
    },
)
SETTLED = LatchView(LATCH, firm_from=NOON)
OPEN = replace(SETTLED, waiting=True, open=(OpenClaim(OWNER, H, pod("g", node="a"), None),))


def decided(view: LatchView, after: timedelta = timedelta(0)) -> LatchDecision:
    return decide(view, POLICY, NOON + after)


def later(view: LatchView, after: timedelta) -> LatchDecision:
    """What is decided some time after it was first looked at."""
    return decided(replace(view, memory=decided(view).memory), after)


def open_claim(**parts: object) -> LatchView:
    (claim,) = OPEN.open
    return replace(OPEN, open=(replace(claim, **parts),))  # type: ignore[arg-type]  # any parts


def work(decision: LatchDecision) -> Work | None:
    return decision.sequence.work if decision.sequence is not None else None


def test_one_that_was_never_nominated_goes() -> None:
    assert work(decided(LatchView(replace(LATCH, nominated="")))) is Work.UNLATCH


def test_one_that_the_watch_has_not_shown_is_left_alone() -> None:
    assert decided(LatchView(LATCH)) == LatchDecision(NEW_LATCH)


def test_one_whose_owner_waits_must_be_firm() -> None:
    firm = NOON + LINGER
    assert decided(replace(OPEN, open=(), firm_from=firm)) == LatchDecision(NEW_LATCH, wake_at=firm)


def test_a_handover_in_progress_is_left_alone() -> None:
    assert decided(replace(OPEN, writing=True)) == LatchDecision(NEW_LATCH)


def test_an_open_claim_is_finished() -> None:
    decision = decided(OPEN)
    assert decision.sequence is not None
    assert [type(each) for step in decision.sequence.steps for each in step] == [DeletePod, Bind]
    assert decision.memory == NEW_LATCH


def test_volumes_come_before_the_bind_and_without_them_the_owner_does_not_fit() -> None:
    view = open_claim(mounted=False)
    decision = decided(view)
    assert decision.sequence is None
    assert decision.mounts is not None
    failed = decided(without_volumes(view, decision.mounts, "no volume there"))
    assert (failed.sequence, failed.mounts) == (None, None)


def test_others_give_way_under_it_are_waited_for_or_the_hold_keeps_it() -> None:
    unfit = {"unfit": "Insufficient cpu", "preempts": True}
    ends = decided(open_claim(victims=(pod("v", node="a"),), **unfit)).sequence
    assert ends is not None
    assert any(isinstance(each, EndPod) for step in ends.steps for each in step)
    waits = decided(open_claim(victims=(), **unfit))
    assert (waits.sequence, waits.stuck) == (None, True)
    kept = decided(open_claim(victims=None, **unfit)).sequence
    assert kept is not None
    assert [type(each) for step in kept.steps for each in step] == [MoveLatch]


def test_a_hold_for_which_others_gave_way_keeps_what_was_freed() -> None:
    assert work(decided(replace(SETTLED, given_up=H))) is Work.RELATCH


def test_it_outlives_its_handover_then_waits_for_another_use_and_goes() -> None:
    first = decided(SETTLED)
    assert (first.sequence, first.wake_at) == (None, NOON + LINGER)
    assert not first.memory.reusable
    spare = later(SETTLED, LINGER)
    assert spare.memory.reusable
    assert spare.wake_at == NOON + LINGER + POLICY.latch_spare
    assert work(later(SETTLED, LINGER + POLICY.latch_spare)) is Work.UNLATCH


def test_one_that_is_in_the_way_goes_at_once_after_it_has_lingered() -> None:
    assert work(later(replace(SETTLED, waited_for=True), LINGER)) is Work.UNLATCH
    memory = replace(decided(SETTLED).memory, dismissed=True)
    assert work(decided(replace(SETTLED, memory=memory), LINGER)) is Work.UNLATCH
    assert work(decided(replace(SETTLED, memory=memory))) is None


def test_one_of_no_handover_is_of_no_other_use() -> None:
    view = replace(SETTLED, latch=replace(LATCH, annotations={}))
    assert work(later(view, LINGER)) is Work.UNLATCH


def test_a_guardian_that_was_bound_under_it_begins_the_wait_anew() -> None:
    memory = decided(SETTLED).memory
    view = replace(SETTLED, memory=memory, guardians=frozenset({"g"}))
    decision = decided(view, LINGER)
    assert (decision.sequence, decision.wake_at) == (None, NOON + 2 * LINGER)
    gone = replace(SETTLED, memory=decision.memory)
    assert decided(gone, LINGER).memory.since == NOON + LINGER


def test_it_stays_for_owners_on_their_way_and_for_a_while_for_guardians() -> None:
    long = 10 * LINGER
    assert later(replace(SETTLED, coming=True), long).wake_at == NOON + long + LINGER
    due = replace(SETTLED, due=True)
    assert later(due, LINGER).wake_at == NOON + 2 * LINGER
    assert work(later(due, long)) is Work.UNLATCH


def test_what_an_owner_leaves_is_due_only_after_it_has_come() -> None:
    """The time of a guardian that is due ran while its owner was on its way (seed 535)."""
    coming = later(replace(SETTLED, coming=True, due=True), 20 * LINGER)
    came = replace(SETTLED, due=True, memory=coming.memory)
    assert decided(came, 21 * LINGER).sequence is None
    assert work(decided(came, 30 * LINGER)) is Work.UNLATCH


def test_it_stays_as_long_as_a_hold_says_that_it_is_held_there() -> None:
    """Nothing else kept it when it went, and its hold said Available (seed 1749)."""
    for view in (SETTLED, replace(SETTLED, due=True)):
        assert later(replace(view, bare=True), 100 * LINGER).sequence is None


def test_owners_that_do_not_fit_for_long_are_given_up() -> None:
    view = replace(open_claim(unfit="the node is cordoned"), due=True, bare=True)
    assert not later(view, 9 * LINGER).memory.given_up
    decision = later(view, 10 * LINGER)
    assert (decision.memory.given_up, decision.sequence) == (True, None)
    still = decided(replace(view, memory=decision.memory), 11 * LINGER)
    assert still.memory.given_up


def test_owners_whose_guardian_stands_are_not_given_up() -> None:
    view = open_claim(unfit="the node is cordoned")
    assert not later(view, 10 * LINGER).memory.given_up


def test_as_long_as_it_stands_for_a_hold_nothing_is_remembered() -> None:
    view = replace(SETTLED, keeps_place=True, memory=LatchMemory(("a",), since=NOON))
    assert decided(view) == LatchDecision(NEW_LATCH)
