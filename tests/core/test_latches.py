"""Latches: what their claims say, and what is to be done about one."""

from __future__ import annotations

from headroom.core.actions import Bind, DeletePod
from headroom.core.latches import LatchClaim, OpenClaim, claims_on, finish, parents_on, remove
from headroom.core.names import CLAIMS_ANNOTATION, PARENT_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.core.subjects import hold_subject
from tests.builders import hold, pod

H = hold("h")
OWNER = pod("p")


def latch(claims: str = "", parent: str = "Hold/default/h") -> Pod:
    words = {CLAIMS_ANNOTATION: claims, PARENT_ANNOTATION: parent}
    return pod("latch", nominated="a", annotations=words)


def test_claims_are_read_a_line_each() -> None:
    found = claims_on(latch("default/p/1 Hold/default/h u\nother/q/2\na/b/3 Hold/a/h u preempts"))
    assert found == (
        LatchClaim(Key("default", "p"), "1", "Hold/default/h", "u"),
        LatchClaim(Key("other", "q"), "2", "", ""),
        LatchClaim(Key("a", "b"), "3", "Hold/a/h", "u", preempts=True),
    )


def test_a_line_that_is_not_ours_is_passed_over() -> None:
    assert claims_on(latch("nonsense\n\na/b\na/b/c/d x")) == ()


def test_a_latch_without_claims_has_none() -> None:
    assert claims_on(pod("latch")) == ()


def test_each_hold_is_named_once() -> None:
    found = parents_on(latch("default/p/1 Hold/default/h u\ndefault/q/2 Hold/default/i v"))
    assert found == ("Hold/default/h", "Hold/default/i")


def test_an_open_claim_is_finished_guardian_first() -> None:
    guardian = pod("g", node="a")
    sequence = finish(latch(), OpenClaim(OWNER, H, guardian, None))
    assert sequence is not None
    assert sequence.steps == (
        (DeletePod(guardian.key, guardian.uid),),
        (Bind(OWNER.key, OWNER.uid, "a", H.parent),),
    )
    assert hold_subject(H.parent) in sequence.subjects


def test_a_claim_on_free_room_is_bound_without_one() -> None:
    sequence = finish(latch(), OpenClaim(OWNER, None, None, None))
    assert sequence is not None
    assert sequence.steps == ((Bind(OWNER.key, OWNER.uid, "a", None),),)


def test_an_owner_that_no_longer_fits_is_not_bound() -> None:
    assert finish(latch(), OpenClaim(OWNER, H, None, "Insufficient cpu")) is None


def test_a_latch_is_removed_by_its_uid() -> None:
    assert remove(latch()).steps == ((DeletePod(latch().key, "uid-of-latch"),),)
