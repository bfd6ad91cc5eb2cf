"""Claims: who has one, what a hold still has to give, when it ends, and every way to say no."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.claims import (
    claim_of,
    expiry,
    is_claimant,
    owner_uses,
    standing_refusal,
)
from headroom.core.holds import Hold, HoldStatus, OwnerUse, Problem
from headroom.core.names import CLAIMED_ANNOTATION, CLAIMED_UID_ANNOTATION
from headroom.core.objects import Pod
from headroom.core.policy import Policy
from tests.builders import NOON, hold, pod

WEB = pod("p", cpu=1, labels={"app": "web"})
HOUR = timedelta(hours=1)


def claiming(which: Hold, uid: str = "", **labels: str) -> Pod:
    claim = {CLAIMED_ANNOTATION: str(which.parent)}
    claim[CLAIMED_UID_ANNOTATION] = uid or which.parent.uid
    return pod("p", cpu=1, labels=labels or {"app": "web"}, annotations=claim)


def guardian(cpu: int, where: str = "a") -> Pod:
    return pod("guardian", cpu=cpu, node=where)


def test_a_pod_without_the_annotation_has_no_claim() -> None:
    assert claim_of(WEB) is None


def test_a_claim_is_true_only_of_this_hold_with_this_uid_by_a_true_owner() -> None:
    wanted = hold("h")
    assert is_claimant(wanted, claiming(wanted))
    assert not is_claimant(wanted, claiming(wanted, uid="of an older one"))
    assert not is_claimant(wanted, claiming(wanted, app="api"))
    assert not is_claimant(hold("other"), claiming(wanted))


def test_a_claim_that_the_holds_status_names_stands_whatever_the_rules_are() -> None:
    wanted = hold("h")
    changed = replace(claiming(wanted, app="api"), uid="7", node="a")
    told = replace(wanted, status=HoldStatus(owners=(OwnerUse("default", "p", "7"),)))
    assert is_claimant(told, changed)
    assert not is_claimant(wanted, changed)
    assert not is_claimant(told, replace(changed, uid="8"))
    assert not is_claimant(told, replace(changed, node=""))
    assert not is_claimant(told, replace(changed, annotations={}))


def test_uses_are_listed_in_an_order_of_their_own() -> None:
    uses = owner_uses([pod("b", uid="2"), pod("a", uid="1")])
    assert [use.uid for use in uses] == ["1", "2"]


@pytest.mark.parametrize(
    ("ttl", "expires", "ends"),
    [
        (HOUR, None, NOON + HOUR),
        (HOUR, NOON + 2 * HOUR, NOON + HOUR),
        (2 * HOUR, NOON + HOUR, NOON + HOUR),
        (None, NOON + HOUR, NOON + HOUR),
        (None, None, None),
        (timedelta(0), NOON + HOUR, None),
    ],
)
def test_a_hold_ends_at_the_earlier_moment_unless_it_is_for_ever(
    ttl: timedelta | None, expires: object, ends: object
) -> None:
    assert expiry(hold("h", ttl=ttl, expires=expires)) == ends


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (hold("h", problems=(Problem("spec.ttl", "bad"),)), "its spec is invalid: spec.ttl: bad"),
        (hold("h", status=HoldStatus(phase="Succeeded")), "it is Succeeded"),
        (hold("h", deleted=NOON), "it is being deleted"),
        (hold("h", expires=NOON), "it expired at 2027-01-04T12:00:00+00:00"),
        (hold("h", unschedulable=True), "it takes no new owners (spec.unschedulable)"),
        (hold("h", owners="api"), "the pod's labels do not match the owners' labelSelector"),
    ],
)
def test_a_hold_refuses_in_words(wanted: Hold, why: str) -> None:
    refusal = standing_refusal(wanted, WEB, Policy(), NOON)
    assert refusal is not None
    assert (refusal.parent, refusal.reason) == (wanted.parent, why)
    assert refusal.owner is ("labelSelector" not in why)


def test_a_hold_refuses_nobody_it_is_for() -> None:
    assert standing_refusal(hold("h"), WEB, Policy(), NOON) is None
