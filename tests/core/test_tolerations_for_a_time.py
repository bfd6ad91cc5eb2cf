"""A slot that tolerates a NoExecute taint for some seconds only has no place on such a node."""

from __future__ import annotations

import pytest

from headroom.core.headrooms.eligibility import NodeRule, eligible
from headroom.core.objects import Placement, Pod, Taint, Toleration
from headroom.core.selection import tolerated_for_a_time
from tests.builders import node, pod

DRAINING = Taint("maintenance", "soon", "NoExecute")
BRIEFLY = Toleration("maintenance", "Exists", effect="NoExecute", seconds=30)
FOR_EVER = Toleration("maintenance", "Exists")


@pytest.mark.parametrize(
    ("tolerations", "found"),
    [
        ((BRIEFLY,), DRAINING),
        ((FOR_EVER,), None),
        ((BRIEFLY, FOR_EVER), DRAINING),  # The first that matches counts.
        ((FOR_EVER, BRIEFLY), None),
        ((), None),
    ],
)
def test_the_first_matching_toleration_says_for_how_long(
    tolerations: tuple[Toleration, ...], found: Taint | None
) -> None:
    assert tolerated_for_a_time((DRAINING,), tolerations) == found


def test_a_node_that_would_evict_the_slot_is_not_eligible() -> None:
    left_out = eligible(node("a", taints=(DRAINING,)), _slot(BRIEFLY))
    assert left_out is not None
    assert left_out.rule is NodeRule.EVICTS
    assert "tolerates for a time only" in left_out.message


def test_a_taint_that_evicts_nobody_excludes_no_node() -> None:
    taint = Taint("maintenance", "soon", "NoSchedule")
    brief = Toleration("maintenance", "Exists", seconds=30)
    assert eligible(node("a", taints=(taint,)), _slot(brief)) is None


def _slot(toleration: Toleration) -> Pod:
    return pod("slot", placement=Placement(tolerations=(toleration,)))
