"""Who gives way, and what is left: decisions from frozen views, node by node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from headroom.core.claims import Offer
from headroom.core.eviction.occupants import Occupant
from headroom.core.eviction.preallocation import Succession, needs_place, place_for
from headroom.core.eviction.preempted import PreemptedView, rest, rest_of, was_preempted
from headroom.core.eviction.preemption import HoldInUse, HoldToEnter, find_preemption
from headroom.core.eviction.reclaim import Reclaim, ReclaimView, decide, reclaim
from headroom.core.holds import Hold, HoldStatus
from headroom.core.names import LOCKED_PRIORITY, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.node.view import Unfit
from headroom.core.objects import Key, Pod
from headroom.core.policy import Policy
from headroom.core.quotas.namespaces import LimitsError, NamespaceLimits
from headroom.core.resources import EMPTY, Resources
from tests.builders import NAMESPACE, NOON, hold, node, pod, resources

POLICY = Policy(namespace="headroom-system")
GUARDIAN = {ROLE_LABEL: ROLE_GUARDIAN}


def there(name: str, cpu: int, **parts: Any) -> Pod:
    return pod(name, cpu, 0, node="a", **parts)


def room_of(cpu: int, *pods: Pod) -> Unfit:
    """Whether somebody fits on a node of this size beside these."""

    def unfit(asking: Pod, without: frozenset[Key]) -> str | None:
        used = sum((each.requests for each in pods if each.key not in without), EMPTY)
        asked = asking.requests.only(frozenset({"cpu"}))
        return None if (asked + used).fits_in(resources(cpu=cpu)) else "Insufficient cpu"

    return unfit


@pytest.mark.parametrize(
    ("claimed", "labels", "expected"),
    [
        (None, {}, False),
        (None, GUARDIAN, True),
        (hold("h", allocate_once=False), {}, True),
        (hold("h", allocate_once=True), {}, False),
        (hold("h", allocate_once=False, status=HoldStatus(phase="Succeeded")), {}, False),
    ],
)
def test_what_a_pod_leaves_is_a_holds_if_it_returns_there(
    claimed: Hold | None, labels: dict[str, str], expected: bool
) -> None:
    assert Occupant(there("p", 1, labels=labels), claimed).goes_back is expected


def test_an_owner_gets_the_hold_whose_victims_are_least_important() -> None:
    held = hold("h", 4, 0, allocate_once=False)
    asking = pod("p", 4, 0, priority=100, labels={"app": "web"})

    def use(name: str, priority: int) -> HoldInUse:
        user = there(f"user-{name}", 4, priority=priority)
        known = replace(held, parent=replace(held.parent, name=name))
        return HoldInUse(known, "a", (user,), (Occupant(user, known),), room_of(4, user))

    found = way_into(asking, use("dear", 50), use("cheap", 5))
    assert found is not None
    assert (found.hold.parent.name, found.preempts) == ("cheap", True)
    assert way_into(asking, use("dearest", 100)) is None


def entered(use: HoldInUse, moving: bool) -> HoldToEnter:
    return HoldToEnter(use.hold, lambda: use.owners, lambda: moving, lambda: use)


def way_into(asking: Pod, *uses: HoldInUse, moving: bool = False) -> Offer | None:
    holds = (entered(each, moving) for each in uses)
    return find_preemption(asking, holds, POLICY, (), NOON)


def test_room_that_returns_to_other_holds_is_not_for_a_preemptor() -> None:
    held = hold("h", 4, 0, allocate_once=False)
    user = there("user", 4)
    use = HoldInUse(held, "a", (user,), (), room_of(5, user))
    asking = pod("p", 4, 0, priority=100, labels={"app": "web"})
    assert way_into(asking, use) is not None
    assert way_into(asking, replace(use, owed=resources(cpu=2))) is None


def test_nobody_gives_way_for_a_hold_that_moves_or_that_is_not_for_the_pod() -> None:
    held = hold("h", 4, 0, allocate_once=False)
    user = there("user", 4)
    use = HoldInUse(held, "a", (user,), (), room_of(5, user))
    asking = pod("p", 4, 0, priority=100, labels={"app": "web"})
    assert way_into(asking, use, moving=True) is None
    assert way_into(replace(asking, preempts=False), use) is None
    for other in (replace(held, allocate_once=True), replace(held, mode="Preemptible")):
        assert way_into(asking, replace(use, hold=other)) is None
    assert way_into(asking, replace(use, hold=replace(held, owners=()))) is None
    assert way_into(asking, replace(use, owners=())) is None


def lost(*others: Occupant, preempt: int | None = 100, **parts: Any) -> ReclaimView:
    slot = hold("s", 4, 0)
    unfit = room_of(4, *(each.pod for each in others))

    def fits(gone: frozenset[Key]) -> bool:
        return unfit(slot.template.pod, gone) is None

    guardian = pod("g", 4, 0, labels=GUARDIAN, unschedulable_message="0/1 nodes are available")
    view = ReclaimView(
        slot, False, False, guardian, NamespaceLimits(preempt=preempt), lambda: others, fits
    )
    return replace(view, **parts)


def test_who_has_the_room_of_a_slot_gives_way_if_that_is_allowed() -> None:
    other = Occupant(there("other", 1))
    assert decide(lost(other), POLICY) == Reclaim((other.pod,))
    dear = Occupant(there("dear", 1, priority=100))
    assert decide(lost(dear), POLICY) is None
    owner = Occupant(there("owner", 1), hold("h"))
    assert decide(lost(owner), POLICY) is None
    refused = decide(lost(other, preempt=None), POLICY)
    assert refused is not None
    assert "needs an administrator's leave" in refused.refused
    unreadable = decide(lost(other, limits=LimitsError("what is that?")), POLICY)
    assert unreadable is not None
    assert unreadable.refused == "what is that?"


def test_a_slot_that_is_in_use_or_held_reclaims_nothing() -> None:
    other = Occupant(there("other", 1))
    assert decide(lost(other, in_use=True), POLICY) is None
    assert decide(lost(other, guardian=there("g", 4)), POLICY) is None
    assert decide(lost(other, guardian=there("g", 3)), POLICY) == Reclaim((other.pod,))
    assert decide(lost(other, guardian=None), POLICY) is None
    assert decide(lost(guardian=None, waits=True), POLICY) == Reclaim()


def waiting(*candidates: Pod, finds_room: bool = False, **parts: Any) -> Succession | None:
    held = hold("h", 4, 0, pre_allocation=True, **parts)
    unfit = room_of(4, *candidates)

    def fits(on: str, gone: frozenset[Key]) -> bool:
        return on == "a" and unfit(held.template.pod, gone) is None

    return place_for(held, candidates, fits, lambda: finds_room)


def test_a_hold_waits_for_a_pod_to_end_unless_there_is_free_room() -> None:
    running = there("running", 3)
    assert waiting(running) == Succession("a", (running,))
    assert waiting(running, finds_room=True) is None


def test_a_hold_that_waits_stays_where_it_is() -> None:
    status = HoldStatus(phase="Waiting", node="a")
    running = there("running", 3)
    assert waiting(running, finds_room=True, status=status) == Succession("a", (running,))
    assert waiting(status=status) == Succession("a")


def test_nobody_gives_way_to_a_hold_that_does_not_ask_for_it() -> None:
    other = Occupant(there("other", 1))
    asking = hold("s", 4, 0, reclaims=True)
    assert reclaim(asking, lambda: lost(other), POLICY) == Reclaim((other.pod,))
    assert reclaim(replace(asking, paused=True), lambda: lost(other), POLICY) is None
    assert reclaim(replace(asking, reclaims=False), lambda: lost(other), POLICY) is None


def test_only_a_hold_without_room_needs_a_place() -> None:
    held = hold("h", pre_allocation=True)
    assert needs_place(held, (), ())
    assert not needs_place(held, (), (there("owner", 1),))
    assert not needs_place(hold("h"), (), ())


def preempted(elsewhere: Callable[[], str] = str, **parts: Any) -> PreemptedView:
    held = hold("h", 4, 0, **parts)
    counted = (there("dear", 1),)
    return PreemptedView(
        held, node("a", cpu=4), (), counted, frozenset(), room_of(4, *counted), elsewhere
    )


def test_the_rest_of_a_preempted_guardian_is_kept_unless_all_of_it_fits_elsewhere() -> None:
    assert rest_of(preempted()) == Resources({"cpu": 3000})
    assert rest_of(preempted(lambda: "a")) == Resources({"cpu": 3000})
    assert rest_of(preempted(lambda: "b")) == EMPTY
    away = pod("user", 1, 0, node="b")
    assert rest_of(replace(preempted(), owners=(away,))) == EMPTY


def test_only_a_hold_that_lost_its_guardian_and_is_locked_has_a_rest() -> None:
    def frozen() -> PreemptedView:
        return preempted()

    assert rest(hold("h", 4, 0), None, frozen) == Resources({"cpu": 3000})
    assert rest(hold("h", 4, 0), there("g", 4), frozen) == EMPTY
    assert rest(hold("h", 4, 0, mode="Preemptible"), None, frozen) == EMPTY
    assert rest(hold("h", 4, 0), None, lambda: None) == EMPTY


def test_a_guardian_that_is_gone_was_preempted_if_somebody_dearer_is_to_come() -> None:
    guardian = there("g", 4, labels=GUARDIAN)
    dearer = pod("dearer", 1, 0, priority=LOCKED_PRIORITY + 1)
    assert was_preempted(guardian, True, [dearer])
    assert not was_preempted(guardian, True, [pod("other", 1, 0)])
    assert was_preempted(replace(guardian, preempted=True), False, ())
    assert not was_preempted(replace(guardian, labels={}), True, [dearer])
    assert guardian.key.namespace == NAMESPACE
