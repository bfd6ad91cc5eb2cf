"""Holds with a policy and without one keep apart; messages say so where it is the reason."""

from __future__ import annotations

from dataclasses import replace

from headroom.core.hold_state.allocate_policy_groups import (
    CONFLICT,
    OWN_RULES,
    RULES_OF_OTHERS,
    conflict_told,
    kept_apart,
    policy_group_of,
    with_policy_group,
)
from headroom.core.holds import Hold
from headroom.core.objects import Placement, PodAffinity, PodTerm
from tests.builders import hold


def sided(name: str, policy: str = "") -> Hold:
    return with_policy_group(hold(name, allocate_policy=policy))


def test_a_hold_of_ours_is_on_no_side() -> None:
    assert policy_group_of(hold("h", allocate_policy="Restricted")) == ""


def test_aligned_and_restricted_are_on_one_side() -> None:
    assert (
        policy_group_of(sided("a", "Aligned"))
        == policy_group_of(sided("r", "Restricted"))
        != policy_group_of(sided("n"))
    )


def test_the_reason_is_told_in_koordinators_words() -> None:
    apart = kept_apart(sided("n"))
    assert conflict_told(apart, f"0/1: 1 {OWN_RULES}.") == f"0/1: 1 {CONFLICT}."
    assert conflict_told(sided("n"), OWN_RULES) == OWN_RULES
    assert conflict_told(apart, "Insufficient cpu") == "Insufficient cpu"


def test_where_it_may_be_another_rule_both_are_told() -> None:
    apart = kept_apart(sided("n"))
    assert conflict_told(apart, RULES_OF_OTHERS) == f"{RULES_OF_OTHERS}, or {CONFLICT}"
    rules = PodAffinity(required=(PodTerm(None, "zone"),))
    shape = replace(apart.template.pod, placement=Placement(pod_anti_affinity=rules))
    own = replace(apart, template=replace(apart.template, pod=shape))
    assert conflict_told(own, OWN_RULES) == f"{OWN_RULES}, or {CONFLICT}"
