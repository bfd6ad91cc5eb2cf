"""When strangers are kept off a node, and when no longer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from headroom.core.actions import CreateGuardian
from headroom.core.fences import (
    LONGEST_CAUSE,
    PATIENCE,
    FenceFacts,
    Verdict,
    fence_verdict,
    is_rival,
    may_cause,
    may_pass_fence,
    open_to_stranger,
    put_up,
    returns,
)
from headroom.core.holds import PREEMPTIBLE, Hold, HoldStatus, PodTemplate
from headroom.core.names import LOCKED_PRIORITY, PASS_LABEL, ROLE_LABEL
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
KEPT = timedelta(seconds=10)
REFUSED = Pod(Key("default", "rival"), unschedulable_since=NOW)
HOLD = Hold(
    Parent("headroom.dev/v1alpha1", "Hold", "default", "h", "uid-h"),
    PodTemplate(Pod(Key("default", ""), requests=Resources({"cpu": 4000}))),
    allocate_once=False,
)


def said(facts: FenceFacts, fenced: bool) -> Verdict:
    return fence_verdict(facts, fenced, NOW, KEPT)


def test_nothing_stands_where_nobody_waits() -> None:
    assert said(FenceFacts(contested=False), fenced=False) == Verdict(False)


def test_a_node_is_fenced_while_somebody_waits_for_what_owners_have() -> None:
    assert said(FenceFacts(contested=True), fenced=False).stands
    assert said(FenceFacts(contested=True), fenced=True) == Verdict(True)


def test_whoever_fits_beside_is_let_in_before_a_fence_is_put_up() -> None:
    assert not said(FenceFacts(contested=True, usable=True), fenced=False).stands


def test_a_fence_goes_for_somebody_who_fits_beside() -> None:
    assert not said(FenceFacts(contested=True, usable=True), fenced=True).stands


def test_a_fence_never_goes_before_all_is_held_again() -> None:
    free = FenceFacts(contested=False, usable=True, settled=False, quiet_since=NOW - 2 * KEPT)
    assert said(free, fenced=True).stands


def test_a_fence_lingers_for_a_while() -> None:
    quiet = FenceFacts(contested=False, quiet_since=NOW - KEPT / 2)
    assert said(quiet, fenced=True) == Verdict(True, NOW + KEPT / 2)
    assert said(replace(quiet, quiet_since=NOW - KEPT), fenced=True) == Verdict(False)


@pytest.mark.parametrize(
    "pod",
    [
        replace(REFUSED, unschedulable_since=None),
        replace(REFUSED, node="a"),
        replace(REFUSED, phase="Failed"),
        replace(REFUSED, deleted=NOW),
        replace(REFUSED, gates=("headroom.dev/claim",)),
        replace(REFUSED, labels={PASS_LABEL: "true"}),
        replace(REFUSED, labels={ROLE_LABEL: "latch"}),
        replace(REFUSED, priority=LOCKED_PRIORITY + 1),
    ],
)
def test_only_those_who_were_refused_and_still_wait_are_rivals(pod: Pod) -> None:
    assert is_rival(REFUSED)
    assert not is_rival(pod)


def test_the_guardian_of_another_hold_is_a_rival_too() -> None:
    assert is_rival(replace(REFUSED, labels={ROLE_LABEL: "guardian"}))


@pytest.mark.parametrize(
    "hold",
    [
        replace(HOLD, allocate_once=True),
        replace(HOLD, paused=True),
        replace(HOLD, deleted=NOW),
        replace(HOLD, mode=PREEMPTIBLE),
        replace(HOLD, status=HoldStatus(phase="Failed")),
    ],
)
def test_nothing_comes_back_to_a_hold_that_takes_nothing_back(hold: Hold) -> None:
    assert returns(HOLD)
    assert not returns(hold)


def test_a_guardian_made_for_its_owners_node_passes() -> None:
    made = CreateGuardian("g", HOLD, Resources({"cpu": 1000}), node="a")
    assert may_pass_fence(made)
    assert not may_pass_fence(replace(made, node=""))
    assert not may_pass_fence(replace(made, bound=True))
    assert not may_pass_fence(replace(made, hold=replace(HOLD, allocate_once=True)))


def test_the_same_fence_has_the_same_name() -> None:
    assert put_up(HOLD, "a") == put_up(HOLD, "a")
    assert put_up(HOLD, "a") != put_up(HOLD, "b")


def test_who_waits_causes_fences_for_an_hour_and_no_longer() -> None:
    assert may_cause(REFUSED, NOW + LONGEST_CAUSE - timedelta(seconds=1))
    assert not may_cause(REFUSED, NOW + LONGEST_CAUSE)
    assert not may_cause(replace(REFUSED, unschedulable_since=None), NOW)


def test_a_node_opens_for_who_fits_again_and_again_but_ever_less_often() -> None:
    moment, openings = NOW, []
    while moment < NOW + timedelta(hours=2):
        is_open, changes = open_to_stranger(NOW, moment)
        assert changes > moment
        if is_open:
            assert changes - moment == PATIENCE
            openings.append((moment - NOW).total_seconds())
        moment = changes
    assert openings[:6] == [0, 40, 110, 240, 490, 980]
    assert {later - sooner for sooner, later in pairwise(openings[6:])} == {610}
