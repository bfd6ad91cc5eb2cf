"""Guardians to be renewed: new before old, in place where only one fits, and never forced."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.view import HoldView, Obstacles, RenewalView
from headroom.core.holds import LOCKED, PREEMPTIBLE
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.objects import Pod
from tests.core.test_hold_lifecycle import ONCE, guardian, live, reason, steps


def old() -> Pod:
    """A guardian of an older template."""
    standing = guardian()
    return replace(standing, annotations={**standing.annotations, SHAPE_ANNOTATION: "older"})


def test_the_successor_is_made_beside_the_old_one() -> None:
    assert steps(live(HoldView(ONCE, (old(),), node="a"))) == ["CreateGuardian"]


def test_where_only_one_fits_the_old_one_is_replaced_under_a_latch() -> None:
    view = HoldView(ONCE, (old(),), node="a", renewal=RenewalView(beside=False))
    assert steps(live(view)) == ["CreateLatch", "Nominate", "DeletePod", "CreateGuardian"]


def test_a_preemptible_one_is_given_up_and_placed_by_kube_scheduler() -> None:
    view = HoldView(
        replace(ONCE, mode=PREEMPTIBLE), (old(),), node="a", renewal=RenewalView(beside=False)
    )
    assert steps(live(view)) == ["DeletePod"]


def test_whose_turn_it_is_not_stays_as_it_is() -> None:
    assert steps(live(HoldView(ONCE, (old(),), node="a", renewal=RenewalView(waits=True)))) == []


def test_the_old_one_goes_when_the_successor_stands() -> None:
    standing = old()
    view = HoldView(ONCE, (standing, replace(guardian(), uid="new")), node="a")
    life = live(view)
    assert steps(life) == ["DeletePod"]
    assert reason(life) == "Available"


def test_a_successor_without_room_is_told_and_waits_beside() -> None:
    waiting = replace(guardian(), uid="new", node="", unschedulable_message="no room")
    life = live(
        HoldView(
            ONCE, (old(), waiting), node="a", renewal=RenewalView(beside=False, in_place=False)
        )
    )
    assert steps(life) == []
    assert reason(life) == "RenewalWaits"


def test_where_no_node_may_come_a_successor_without_room_is_not_made_and_that_is_told() -> None:
    for mode in (LOCKED, PREEMPTIBLE):
        hold = replace(ONCE, mode=mode)
        view = HoldView(
            hold,
            (old(),),
            node="a",
            renewal=RenewalView(beside=False, in_place=False),
            obstacles=Obstacles(node_limit="full"),
        )
        life = live(view)
        assert steps(life) == []
        assert reason(life) == "RenewalWaits"


def test_where_no_node_may_come_the_old_one_makes_room_for_its_successor() -> None:
    locked = HoldView(ONCE, (old(),), node="a", obstacles=Obstacles(node_limit="full"))
    assert steps(live(locked)) == ["CreateLatch", "Nominate", "DeletePod", "CreateGuardian"]
    preemptible = replace(locked, hold=replace(ONCE, mode=PREEMPTIBLE))
    assert steps(live(preemptible)) == ["DeletePod"]


def test_a_successor_that_would_bring_a_node_too_many_is_taken_away_again() -> None:
    waiting = replace(guardian(), uid="new", node="", unschedulable_message="no room")
    view = HoldView(
        ONCE,
        (old(), waiting),
        node="a",
        renewal=RenewalView(beside=False, in_place=False),
        obstacles=Obstacles(node_limit="full"),
    )
    assert steps(live(view)) == ["DeletePod"]
    patient = replace(waiting, unschedulable_message="")
    assert steps(live(replace(view, guardians=(old(), patient)))) == []


def test_where_two_are_too_many_the_old_one_goes_first() -> None:
    view = HoldView(
        replace(ONCE, mode=PREEMPTIBLE), (old(),), node="a", renewal=RenewalView(one_at_a_time=True)
    )
    assert steps(live(view)) == ["DeletePod"]
    elsewhere = replace(view, renewal=RenewalView(one_at_a_time=True, in_place=False))
    assert steps(live(elsewhere)) == ["DeletePod"]
    assert steps(live(replace(elsewhere, obstacles=Obstacles(node_limit="full")))) == []


def test_a_guardian_that_would_bring_a_node_too_many_is_not_made_and_does_not_wait() -> None:
    bare = live(HoldView(ONCE, obstacles=Obstacles(node_limit="no node may come")))
    assert steps(bare) == []
    assert reason(bare) == "LimitReached"
    waiting = replace(guardian(), node="", unschedulable_message="no room")
    assert steps(
        live(HoldView(ONCE, (waiting,), obstacles=Obstacles(node_limit="no node may come")))
    ) == ["DeletePod"]
    assert steps(live(HoldView(ONCE, obstacles=Obstacles(guardian_limit_reached=True)))) == []
