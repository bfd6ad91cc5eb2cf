"""Holds: every field, and every way in which a person can get one wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headroom.core.holds import (
    ControllerMatch,
    ObjectMatch,
    OwnerRule,
    OwnerUse,
    Problem,
)
from headroom.core.objects import Condition, Key, LabelSelector, Parent, Requirement, Taint
from headroom.core.resources import Resources
from headroom.wire.errors import DecodeError
from headroom.wire.objects.holds import NATIVE_TERMS, decode_hold, hold_from
from tests.wire.hold_cases import BAD, GOOD, Case
from tests.wire.objects import container, hold, hold_json, template

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# What only a schema can know: it would be odd for the decoder to mind these.
SCHEMA_ONLY = {
    "too-many-owners",
    "owner-object-bad-name",
    "owner-controller-bad-kind",
    "owner-unknown-part",
    "unknown-field",
    "unknown-field-in-template",
}


def problems(spec: dict[str, Any]) -> dict[str, str]:
    """What is wrong with a hold that has this in its spec, by path."""
    return {problem.path: problem.message for problem in hold(spec).problems}


def test_a_hold_knows_whose_it_is() -> None:
    read = hold(resourceVersion="7", generation=3, creationTimestamp="2027-01-04T08:00:00Z")
    assert read.parent == Parent("headroom.dev/v1alpha1", "Hold", "ml", "nightly")
    assert read.parent.uid == "uid-nightly"
    assert (read.version, read.generation) == ("7", 3)
    assert read.created == datetime(2027, 1, 4, 8, tzinfo=UTC)
    assert read.problems == ()


def test_a_hold_keeps_what_its_template_asks_for() -> None:
    read = hold(
        template({"nodeName": "node-1", "nodeSelector": {"gpu": "yes"}}, labels={"app": "t"})
    )
    pod = read.template.pod
    assert pod.requests == Resources({"cpu": 2000, "memory": 2**30})
    assert pod.placement.node_selector == (("gpu", "yes"),)
    assert pod.labels == {"app": "t"}
    assert pod.key == Key("ml", "")
    assert (pod.node, read.template.node) == ("", "node-1")


def test_the_fields_of_a_hold_have_the_defaults_of_its_api() -> None:
    read = hold()
    assert read.ttl == timedelta(hours=24)
    assert read.expires is None
    assert read.allocate_once
    assert (read.allocate_policy, read.pre_allocation, read.unschedulable) == ("", False, False)


def test_every_field_of_a_hold_is_read() -> None:
    read = hold(
        {
            "ttl": "1h30m",
            "expires": "2027-01-01T03:00:00+01:00",
            "allocateOnce": False,
            "allocatePolicy": "Restricted",
            "preAllocation": True,
            "unschedulable": True,
            "taints": [{"key": "a", "value": "b", "effect": "NoExecute"}],
        }
    )
    assert read.problems == ()
    assert read.ttl == timedelta(hours=1, minutes=30)
    assert read.expires == datetime(2027, 1, 1, 2, tzinfo=UTC)
    assert not read.allocate_once
    assert (read.allocate_policy, read.pre_allocation, read.unschedulable) == (
        "Restricted",
        True,
        True,
    )
    assert read.taints == (Taint("a", "b", "NoExecute"),)


@pytest.mark.parametrize("never", ["0", "0s"])
def test_a_ttl_of_zero_is_for_ever(never: str) -> None:
    read = hold({"ttl": never})
    assert (read.ttl, read.problems) == (timedelta(), ())


def test_owner_rules_are_read_part_by_part() -> None:
    selector = {
        "matchLabels": {"app": "t"},
        "matchExpressions": [{"key": "x", "operator": "Exists"}],
    }
    read = hold(
        {
            "owners": [
                {"object": {"name": "train-0", "namespace": "ml", "uid": "u", "kind": "Pod"}},
                {"controller": {"kind": "ReplicaSet", "name": "train", "controller": True}},
                {"labelSelector": selector, "priorityAtLeast": 1000},
                {"labelSelector": {}},
            ]
        }
    )
    needs = (Requirement("app", "In", ("t",)), Requirement("x", "Exists"))
    assert read.problems == ()
    assert read.owners == (
        OwnerRule(object=ObjectMatch("train-0", "ml", "u")),
        OwnerRule(controller=ControllerMatch(kind="ReplicaSet", name="train", controller=True)),
        OwnerRule(selector=LabelSelector(needs), priority_at_least=1000),
        OwnerRule(selector=LabelSelector()),
    )


def test_a_status_is_read_back() -> None:
    thing = hold_json()
    thing["status"] = {
        "phase": "Available",
        "nodeName": "a",
        "allocatable": {"cpu": "6"},
        "allocated": {"cpu": "500m"},
        "currentOwners": [{"namespace": "ml", "name": "train-0", "uid": "u"}],
        "conditions": [
            {
                "type": "Ready",
                "status": "True",
                "reason": "Available",
                "lastTransitionTime": "2027-01-04T08:00:00Z",
                "observedGeneration": 2,
            }
        ],
        "observedGeneration": 2,
    }
    status = hold_from(thing).status
    since = datetime(2027, 1, 4, 8, tzinfo=UTC)
    assert (status.phase, status.node, status.observed_generation) == ("Available", "a", 2)
    assert status.allocatable == Resources({"cpu": 6000})
    assert status.allocated == Resources({"cpu": 500})
    assert status.owners == (OwnerUse("ml", "train-0", "u"),)
    assert status.conditions == (Condition("Ready", "True", "Available", "", since, 2),)


def test_a_status_that_makes_no_sense_counts_as_none() -> None:
    thing = {**hold_json(), "status": {"phase": 7}}
    read = hold_from(thing)
    assert (read.status.phase, read.problems) == ("", ())


@pytest.mark.parametrize(
    "case", [case for case in BAD if case.name not in SCHEMA_ONLY], ids=lambda case: case.name
)
def test_what_the_schema_refuses_is_a_problem_here_too(case: Case) -> None:
    found = hold_from(case.hold()).problems
    assert found
    assert any(
        problem.path.startswith(case.blames) or case.blames.startswith(problem.path)
        for problem in found
    )


def test_a_good_hold_has_no_problems() -> None:
    assert hold_from(GOOD).problems == ()


@pytest.mark.parametrize(
    ("rule", "path", "words"),
    [
        ({"object": {"kind": "Deployment", "name": "a"}}, ".object.kind", "owners are pods"),
        ({"object": {"apiVersion": "apps/v1", "name": "a"}}, ".object.apiVersion", "apiVersion v1"),
        (
            {"controller": {"kind": "Deployment", "name": "a"}},
            ".controller.kind",
            "belong to its ReplicaSets",
        ),
    ],
)
def test_a_rule_that_can_never_match_says_why(rule: dict[str, Any], path: str, words: str) -> None:
    found = problems({"owners": [rule]})
    assert list(found) == [f"spec.owners[0]{path}"]
    assert words in found[f"spec.owners[0]{path}"]
    read = hold({"owners": [{"object": {"name": "fine"}}, rule]})
    assert read.problems == ()
    assert [remark.path for remark in read.remarks] == [f"spec.owners[1]{path}"]
    assert [each.object for each in read.owners] == [ObjectMatch("fine")]


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@pytest.mark.parametrize(
    "expressions",
    [
        [expression("a", "In", "x"), expression("a", "In", "y")],
        [expression("a", "In", "x"), expression("a", "NotIn", "x", "y")],
        [expression("a", "Exists"), expression("a", "DoesNotExist")],
        [expression("a", "DoesNotExist"), expression("a", "In", "x")],
    ],
)
def test_a_selector_that_contradicts_itself_can_never_match(
    expressions: list[dict[str, Any]],
) -> None:
    found = problems({"owners": [{"labelSelector": {"matchExpressions": expressions}}]})
    assert "can never match" in found["spec.owners[0].labelSelector"]


def test_a_selector_that_only_looks_like_a_contradiction_is_let_through() -> None:
    expressions = [
        expression("a", "In", "x", "y"),
        expression("a", "NotIn", "x"),
        expression("a", "Exists"),
        expression("b", "DoesNotExist"),
        expression("b", "NotIn", "z"),
    ]
    assert problems({"owners": [{"labelSelector": {"matchExpressions": expressions}}]}) == {}


def test_everything_that_is_wrong_is_told_at_once() -> None:
    found = problems(
        {
            "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "lots"}}}]}},
            "owners": [{"object": {"name": "fine"}}, {}],
            "ttl": "banana",
            "expires": "tomorrow",
            "allocateOnce": "yes",
        }
    )
    assert list(found) == [
        "spec.template.spec.containers[0].resources.requests.cpu",
        "spec.owners[1]",
        "spec.ttl",
        "spec.expires",
        "spec.allocateOnce",
    ]


def test_a_problem_names_the_way_out() -> None:
    assert problems({"ttl": 60})["spec.ttl"] == "60 has no unit; write for example 60s"
    assert (
        "set resources.requests"
        in problems({"template": {"spec": {"containers": [{"name": "main"}]}}})[
            "spec.template.spec.containers"
        ]
    )


def test_a_field_that_is_wrong_leaves_the_others_known() -> None:
    read = hold({"ttl": "banana", "unschedulable": True})
    assert read.problems == (
        Problem("spec.ttl", "'banana' is not a duration; write for example 90s, 1h30m or 0"),
    )
    assert read.unschedulable
    assert read.template.pod.requests == Resources({"cpu": 6000, "memory": 20 * 2**30})


def test_only_what_no_api_server_sends_is_an_error() -> None:
    for text in (
        b"{",
        b"[]",
        b'{"metadata": {"name": 3}}',
        b'{"metadata": {"labels": 3, "uid": []}}',
    ):
        with pytest.raises(DecodeError):
            decode_hold(text)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"nodeSelector": {"a b": "c"}}, "nodeSelector"),
        (
            {"tolerations": [{"operator": "Exists"}, {"key": "a", "operator": "Is"}]},
            "tolerations[1]",
        ),
        (
            {
                "affinity": {
                    "nodeAffinity": {
                        REQUIRED: {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "a", "operator": "Gt", "values": ["x"]}
                                    ]
                                }
                            ]
                        }
                    }
                }
            },
            f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]",
        ),
    ],
)
def test_what_would_make_every_guardian_invalid_is_told_before(
    spec: dict[str, Any], path: str
) -> None:
    assert list(problems(template(spec))) == [f"spec.template.spec.{path}"]


def test_requests_may_stand_in_any_container() -> None:
    spec = {"containers": [{"name": "a"}, container("b", cpu="1")]}
    assert problems({"template": {"spec": spec}}) == {}


def test_labels_and_annotations_of_koordinator_say_nothing_while_its_dialect_is_off() -> None:
    read = hold(
        labels={"scheduling.koordinator.sh/reservation-order": "3", "pool": "a"},
        annotations={
            "scheduling.koordinator.sh/reservation-restricted-options": '{"resources": ["cpu"]}',
            "scheduling.koordinator.sh/reservation-resize-allocatable": "no JSON",
            "node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}}',
        },
    )
    assert (read.terms, read.labels["pool"]) == (NATIVE_TERMS, "a")
    assert read.problems == read.remarks == ()
