"""Guardians to be renewed: new before old, in place where only one fits, and never forced."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.holds import PREEMPTIBLE
from headroom.core.life import HoldView
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.objects import Pod
from tests.core.test_life import ONCE, guardian, live, reason, steps


def old() -> Pod:
    """A guardian of an older template."""
    standing = guardian()
    return replace(standing, annotations={**standing.annotations, SHAPE_ANNOTATION: "older"})


def test_the_successor_is_made_beside_the_old_one() -> None:
    assert steps(live(HoldView(ONCE, (old(),), node="a"))) == ["CreateGuardian"]


def test_where_only_one_fits_the_old_one_is_replaced_under_a_latch() -> None:
    view = HoldView(ONCE, (old(),), node="a", beside=False)
    assert steps(live(view)) == ["CreateLatch", "Nominate", "DeletePod", "CreateGuardian"]


def test_a_preemptible_one_is_given_up_and_placed_by_kube_scheduler() -> None:
    view = HoldView(replace(ONCE, mode=PREEMPTIBLE), (old(),), node="a", beside=False)
    assert steps(live(view)) == ["DeletePod"]


def test_whose_turn_it_is_not_stays_as_it_is() -> None:
    assert steps(live(HoldView(ONCE, (old(),), node="a", may_renew=False))) == []


def test_the_old_one_goes_when_the_successor_stands() -> None:
    standing = old()
    view = HoldView(ONCE, (standing, replace(guardian(), uid="new")), node="a")
    life = live(view)
    assert steps(life) == ["DeletePod"]
    assert reason(life) == "Available"


def test_a_successor_without_room_is_told_and_waits_beside() -> None:
    waiting = replace(guardian(), uid="new", node="", unschedulable_message="no room")
    life = live(HoldView(ONCE, (old(), waiting), node="a", beside=False, in_place=False))
    assert steps(life) == []
    assert reason(life) == "RenewalWaits"
