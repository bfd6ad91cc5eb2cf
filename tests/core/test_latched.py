"""What is still to come for the holds of a latch, and which of its owners do not get in."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.actions import DeletePod, Ungate
from headroom.core.doors.forbidden import forbidden
from headroom.core.doors.latched import (
    LatchedHold,
    LatchedNode,
    LatchedOwner,
    is_bare,
    is_due,
    why_not,
)
from headroom.core.holds import HoldStatus
from headroom.core.latches import claims_on
from headroom.core.names import CLAIM_GATE, CLAIMS_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.plan import Sequence, Work
from headroom.core.policy import Policy
from headroom.core.resources import EMPTY, TOO_MANY_PODS
from tests.builders import NOON, hold, pod, resources

SHARED = hold("h", cpu=4, memory=0, allocate_once=False)
ONCE = hold("h", cpu=4, memory=0)
OWNER = pod("p", cpu=1, labels={"app": "web"})
USER = pod("u", cpu=1, node="a")
GUARDIAN = pod("g", cpu=4, node="a")
WORDS = {CLAIMS_ANNOTATION: "default/p/uid-of-p Hold/default/h uid-of-h"}
LATCH = pod("latch", cpu=4, nominated="a", annotations=WORDS)
(CLAIM,) = claims_on(LATCH)


def test_the_guardian_of_what_an_owner_leaves_is_due_until_it_is_known() -> None:
    used = LatchedHold(SHARED, (), (USER,), (USER,))
    assert is_due(used, places=1)
    assert not is_due(replace(used, guardians=(GUARDIAN,)), places=1)
    assert is_due(replace(used, guardians=(GUARDIAN,), writing=True), places=1)
    whole = pod("u", cpu=4, node="a")
    assert not is_due(replace(used, users=(whole,)), places=1)


def test_without_a_place_a_latch_of_the_hold_is_due_once() -> None:
    used = LatchedHold(SHARED, (), (USER,), (USER,))
    assert is_due(used, places=0)
    assert not is_due(replace(used, relieved=True), places=0)


def test_a_hold_is_bare_that_says_it_is_held_where_only_the_latch_keeps_it() -> None:
    told = replace(ONCE, status=HoldStatus(phase="Available", node="a"))
    bare = LatchedHold(told, (), (), ())
    assert is_bare(bare, LATCH, (), places=1)
    assert not is_bare(replace(bare, guardians=(GUARDIAN,)), LATCH, (), places=1)
    assert not is_bare(bare, LATCH, (pod("came", cpu=4, node="a"),), places=1)
    assert not is_bare(bare, LATCH, (), places=0)
    assert not is_bare(replace(bare, hold=ONCE), LATCH, (), places=1)
    assert is_bare(replace(bare, hold=ONCE, writing_status=True), LATCH, (), places=1)


def waits(**parts: object) -> LatchedOwner:
    owner = LatchedOwner(OWNER, CLAIM, ONCE, GUARDIAN, (), (LATCH,), frozenset(), 1)
    return replace(owner, **parts)  # type: ignore[arg-type]  # any parts


def why(each: LatchedOwner, unfit: str | None = None) -> str | None:
    node = LatchedNode(lambda _pod, _without: unfit, {}, ())
    return why_not(LATCH, each, node, Policy(), NOON)


def test_an_owner_gets_in_that_fits_and_that_its_hold_is_for() -> None:
    assert why(waits()) is None
    assert why(waits(), "Insufficient cpu") == "Insufficient cpu"
    assert why(waits(hold=None)) == "its hold is gone"
    assert why(waits(hold=hold("h", owners="api"))) == "its hold is gone"
    assert why(waits(users=(USER,))) == "its hold is given to another"


def test_what_stays_held_needs_a_place_and_a_latch_that_keeps_it() -> None:
    single = replace(ONCE, allocate_once=False)
    assert why(waits(hold=SHARED)) is None
    assert why(waits(hold=SHARED, latches=())) == "what keeps the rest of its hold is gone"
    small = replace(LATCH, requests=resources(cpu=1))
    assert why(waits(hold=single, latches=(small,))) == "what keeps the rest of its hold is gone"
    paused = replace(SHARED, paused=True)
    assert why(waits(hold=paused)) is None
    assert why(waits(hold=paused, places=0)) == TOO_MANY_PODS


def test_latches_whose_guardians_stand_are_counted_once() -> None:
    seen: list[frozenset[object]] = []

    def unfit(_: Pod, without: frozenset[object]) -> None:
        seen.append(without)

    other, bare = pod("other", cpu=2), pod("bare", cpu=2)
    standing = ((other, resources(cpu=2)), (bare, EMPTY))
    assert why_not(LATCH, waits(), LatchedNode(unfit, {}, standing), Policy(), NOON) is None
    assert seen == [frozenset({LATCH.key, GUARDIAN.key, other.key})]


def test_a_refused_write_concerns_its_own_owner_or_all() -> None:
    one, two, rival = pod("one"), pod("two"), pod("rival")
    guardian = pod("g1")
    gates = tuple(Ungate(each.key, each.uid, CLAIM_GATE, 0) for each in (one, two))
    deletes = tuple(DeletePod(each.key, each.uid) for each in (rival, guardian))
    handover = Sequence(Work.DOOR1, (), (deletes, gates))
    there = {one.uid: guardian.key, two.uid: None}
    assert forbidden(handover, {one.uid: "no"}, there) == {one.uid: "no"}
    assert forbidden(handover, {guardian.uid: "no"}, there) == {one.uid: "no"}
    assert forbidden(handover, {rival.uid: "no"}, there) == {one.uid: "no", two.uid: "no"}
    assert forbidden(handover, {one.uid: "no"}, {}) == {}
    assert forbidden(replace(handover, work=Work.DOOR2), {one.uid: "no"}, there) == {}
