"""The four rules for a slot per node, each with the words that `explain` prints."""

from __future__ import annotations

import pytest

from headroom.core.headrooms.eligibility import NodeRule, eligible, sorted_out, summary
from headroom.core.objects import NodeTerm, Placement, Toleration
from tests.builders import NOON, need, node, pod, taint, to_nodes, tolerating

SLOT = pod("", cpu=1)


def asking(placement: Placement) -> str:
    """Why a slot with this placement may not stand on an ssd node of pool a."""
    found = eligible(node("n", labels={"pool": "a", "disk": "ssd"}), pod("", placement=placement))
    return found.message if found else ""


def test_a_ready_schedulable_untainted_node_is_eligible() -> None:
    assert eligible(node("a"), SLOT) is None


def test_a_node_that_is_not_ready_is_left_out() -> None:
    found = eligible(node("a", ready=False), SLOT)
    assert found is not None
    assert (found.rule, str(found)) == (NodeRule.READY, "node a: is not Ready")


def test_a_node_that_is_being_deleted_is_left_out() -> None:
    found = eligible(node("a", deleted=NOON), SLOT)
    assert found is not None
    assert found.message == "is being deleted"


def test_a_cordoned_node_is_left_out_even_where_its_taint_is_tolerated() -> None:
    everything = pod("", placement=tolerating(Toleration(operator="Exists")))
    found = eligible(node("a", unschedulable=True), everything)
    assert found is not None
    assert found.rule is NodeRule.SCHEDULABLE
    assert "cordoned" in found.message


def test_the_taints_that_come_with_a_cordon_or_an_outage_are_those_rules_business() -> None:
    blinking = node(
        "a",
        ready=False,
        taints=[
            taint("node.kubernetes.io/not-ready", effect="NoExecute"),
            taint("node.kubernetes.io/unreachable", effect="NoSchedule"),
        ],
    )
    found = eligible(blinking, SLOT)
    assert found is not None
    assert found.rule is NodeRule.READY


@pytest.mark.parametrize(
    ("placement", "says"),
    [
        (Placement(node_selector=(("pool", "a"),)), ""),
        (Placement(node_selector=(("pool", "b"),)), "has pool=a; the slot's nodeSelector asks for"),
        (Placement(node_selector=(("gpu", "yes"),)), "has no label gpu; the slot's nodeSelector"),
        (to_nodes(NodeTerm((need("disk", "In", "ssd", "nvme"),))), ""),
        (to_nodes(NodeTerm((need("disk", "In", "hdd"),))), "required node affinity: disk In hdd"),
        (
            to_nodes(NodeTerm((need("gpu"),)), NodeTerm((need("disk", "NotIn", "ssd"),))),
            "matches none of the 2 terms",
        ),
        (to_nodes(NodeTerm((need("gpu"),)), NodeTerm((need("disk"),))), ""),
        (to_nodes(NodeTerm()), "nothing, which matches no node"),
        (to_nodes(), "matches none of the 0 terms"),
    ],
)
def test_labels_must_match_the_selector_and_the_required_affinity(
    placement: Placement, says: str
) -> None:
    told = asking(placement)
    assert (says in told) if says else told == ""


@pytest.mark.parametrize(
    ("toleration", "effect", "stands"),
    [
        (None, "NoSchedule", False),
        (None, "NoExecute", False),
        (None, "PreferNoSchedule", True),
        (Toleration("dedicated", "Equal", "ml"), "NoSchedule", True),
        (Toleration("dedicated", "Equal", "web"), "NoSchedule", False),
        (Toleration("dedicated", "Exists"), "NoExecute", True),
        (Toleration("dedicated", "Exists", effect="NoSchedule"), "NoExecute", False),
        (Toleration(operator="Exists"), "NoExecute", True),
        (Toleration(operator="Exists", effect="NoSchedule"), "NoSchedule", True),
        (Toleration(operator="Exists", effect="NoSchedule"), "NoExecute", False),
    ],
)
def test_forbidding_taints_must_be_tolerated_with_their_effect(
    toleration: Toleration | None, effect: str, stands: bool
) -> None:
    slot = pod("", placement=tolerating(toleration)) if toleration else SLOT
    found = eligible(node("a", taints=[taint("dedicated", "ml", effect)]), slot)
    assert (found is None) is stands
    if found is not None:
        assert found.rule is NodeRule.TAINTS
        assert f"dedicated=ml:{effect}" in found.message


def test_the_first_rule_that_fails_is_the_answer() -> None:
    bad = node("a", ready=False, unschedulable=True, taints=[taint("x")])
    found = eligible(bad, SLOT)
    assert found is not None
    assert found.rule is NodeRule.READY


def test_nodes_are_sorted_out_by_name() -> None:
    nodes = [node("c"), node("b", ready=False), node("a"), node("d", unschedulable=True)]
    inside, outside = sorted_out(nodes, SLOT)
    assert [each.name for each in inside] == ["a", "c"]
    assert [each.node for each in outside] == ["b", "d"]


def test_many_exclusions_are_told_in_one_sentence_the_most_frequent_first() -> None:
    nodes = [node("a"), node("b", ready=False), *(node(n, unschedulable=True) for n in "cd")]
    _, outside = sorted_out(nodes, SLOT)
    assert summary(outside, 4) == "3 of 4 nodes left out: 2 cordoned, 1 not Ready"
    assert summary((), 4) == "all 4 nodes are eligible"
    assert summary((), 0) == "there are no nodes"
