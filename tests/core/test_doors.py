"""Who has a door, who needs one, and what is told of those without."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headroom.core.findings.doors import (
    OWNERS_WITHOUT_DOOR,
    asking_for_doors,
    at_door,
    may_lack_door,
    opted_in,
    remark,
    told_in,
    with_remark,
)
from headroom.core.holds import PREEMPTIBLE, Hold, HoldStatus, OwnerRule, Problem
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    CLAIMS_NAMESPACE_LABEL,
    ROLE_LABEL,
    SCHEDULER_NAME,
)
from headroom.core.objects import Condition, Key, Namespace, OwnerReference, Pod
from headroom.dialects.korder.rules.requests import Asks
from tests.builders import NOON, hold, owned_by, pod

OURS = frozenset({SCHEDULER_NAME})


@pytest.mark.parametrize(
    ("owner", "there"),
    [
        (pod("p"), False),
        (pod("p", gates=(CLAIM_GATE,)), True),
        (pod("p", gates=("other",)), False),
        (pod("p", scheduler=SCHEDULER_NAME), True),
        (pod("p", annotations={CLAIMED_ANNOTATION: "Hold/default/h"}), True),
    ],
)
def test_a_pod_is_at_a_door_by_gate_scheduler_or_claim(owner: Pod, there: bool) -> None:
    assert at_door(owner, OURS) is there


@pytest.mark.parametrize(
    "other",
    [
        pod("p", labels={ROLE_LABEL: "guardian"}),
        pod("p", phase="Succeeded"),
        pod("p", deleted=NOON),
        pod("p", owners=(OwnerReference("v1", "Node", "a", "u"),)),
    ],
)
def test_pods_of_ours_and_those_that_end_lack_nothing(other: Pod) -> None:
    assert may_lack_door(pod("p"))
    assert not may_lack_door(other)


def test_only_the_label_opts_a_namespace_in() -> None:
    assert opted_in(Namespace("n", {CLAIMS_NAMESPACE_LABEL: "enabled"}))
    assert not opted_in(Namespace("n", {CLAIMS_NAMESPACE_LABEL: "no"}))
    assert not opted_in(None)


@pytest.mark.parametrize(
    "wish",
    [
        replace(hold("h"), mode=PREEMPTIBLE),
        replace(hold("h"), problems=(Problem("spec", "bad"),)),
        replace(hold("h"), status=HoldStatus(phase="Succeeded")),
        replace(hold("h"), deleted=NOON),
        replace(hold("h"), pre_allocation=True),
        replace(hold("h"), owners=(OwnerRule(asks=Asks(name="t")),)),
        replace(hold("h"), owners=()),
    ],
)
def test_some_holds_need_no_door(wish: Hold) -> None:
    assert asking_for_doors(wish) is None
    assert asking_for_doors(hold("h")) is not None


def test_rules_for_pods_that_ask_are_left_out() -> None:
    rule = owned_by(app="web")
    wish = asking_for_doors(replace(hold("h"), owners=(rule, OwnerRule(asks=Asks(name="t")))))
    assert wish is not None
    assert wish.owners == (rule,)


def test_the_condition_keeps_its_time_and_goes_when_there_is_nothing_to_tell() -> None:
    ready = Condition("Ready", "True", "Available")
    first = with_remark((ready,), (), "words", (1, NOON))
    assert told_in(first) == "words"
    later = with_remark((ready,), first, "other words", (2, NOON + timedelta(hours=1)))
    (told,) = [each for each in later if each.type == OWNERS_WITHOUT_DOOR]
    assert (told.status, told.since, told.generation) == ("True", NOON, 2)
    assert with_remark(later, later, "", (2, NOON)) == (ready,)


def test_the_remark_names_the_pod_and_three_remedies() -> None:
    words = remark(Key("shop", "web-1"))
    assert "pod shop/web-1" in words
    for remedy in ("headroom.dev/claims=enabled", CLAIM_GATE, f"schedulerName: {SCHEDULER_NAME}"):
        assert remedy in words
