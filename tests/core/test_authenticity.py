"""Whom we believe: words on a pod are anybody's, so each must be one that we would have written."""

from __future__ import annotations

from typing import Any

import pytest

from headroom.core.authenticity import has_got, keeps, stands_for
from headroom.core.derived_names import guardian_name
from headroom.core.names import (
    CLAIMED_ANNOTATION,
    CLAIMED_SLOT_ANNOTATION,
    CLAIMED_UID_ANNOTATION,
)
from headroom.core.objects import OwnerReference, Pod
from tests.builders import hold, pod
from tests.core.headroom_builder import headroom

HOLD = hold("h", 1, 0)
HEADROOM = headroom()


def guardian(**parts: Any) -> Pod:
    owner = OwnerReference("headroom.dev/v1alpha1", "Hold", "h", HOLD.parent.uid)
    return pod(guardian_name(HOLD), **{"owners": (owner,), **parts})


def test_a_guardian_has_the_name_the_home_and_the_owner_that_its_hold_gives_it() -> None:
    assert keeps(HOLD, guardian())
    assert not keeps(HOLD, guardian(owners=()))
    assert not keeps(HOLD, guardian(namespace="elsewhere"))
    assert not keeps(HOLD, pod("other", owners=guardian().owners))


def test_a_guardian_of_a_headroom_lives_with_it_and_belongs_to_it() -> None:
    owner = OwnerReference("headroom.dev/v1alpha1", "Headroom", "h", HEADROOM.parent.uid)
    assert stands_for(HEADROOM, pod("any", owners=(owner,)))
    assert not stands_for(HEADROOM, pod("any", owners=(owner,), namespace="elsewhere"))
    assert not stands_for(HEADROOM, pod("any"))


def claimant(uid: str = HEADROOM.parent.uid, **parts: Any) -> Pod:
    words = {
        CLAIMED_ANNOTATION: HEADROOM.parent.whole,
        CLAIMED_SLOT_ANNOTATION: "0",
        CLAIMED_UID_ANNOTATION: uid,
    }
    return pod("p", **{"node": "a", "labels": {"app": "web"}, "annotations": words, **parts})


def test_a_claim_on_a_slot_is_believed_of_an_owner() -> None:
    assert has_got(HEADROOM, claimant(), across_namespaces=False)


@pytest.mark.parametrize(
    "liar",
    [
        claimant(labels={"app": "other"}),
        claimant(namespace="elsewhere"),
        claimant(uid="another"),
        claimant(annotations={}),
        claimant(node=""),
    ],
)
@pytest.mark.parametrize("across", [False, True])
def test_nobody_elses_claim_is(liar: Pod, across: bool) -> None:
    assert not has_got(HEADROOM, liar, across)
