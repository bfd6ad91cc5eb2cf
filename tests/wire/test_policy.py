"""The admission policy says what it promises; `tests/e2e/test_policy` shows that it does it."""

from __future__ import annotations

from datetime import UTC, datetime

from headroom.core.actions import WriteIndex
from headroom.core.holds import ControllerMatch, ObjectMatch, OwnerRule
from headroom.core.objects import LabelSelector, Requirement
from headroom.core.owners import index_keys
from headroom.wire.policy import policy_objects
from headroom.wire.render import render

POLICY, BINDING = policy_objects()


def test_the_policy_can_never_stop_a_pod() -> None:
    assert POLICY["spec"]["failurePolicy"] == "Ignore"
    assert BINDING["spec"]["paramRef"]["parameterNotFoundAction"] == "Allow"


def test_it_concerns_new_pods_in_labelled_namespaces_only() -> None:
    constraints = POLICY["spec"]["matchConstraints"]
    assert constraints["namespaceSelector"] == {"matchLabels": {"headroom.dev/claims": "enabled"}}
    (rule,) = constraints["resourceRules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods"])


def test_it_reads_the_index_that_the_operator_writes() -> None:
    written = render(WriteIndex("shop", ("*",), datetime(2027, 1, 4, tzinfo=UTC)))
    assert BINDING["spec"]["paramRef"]["name"] == written.name
    assert "namespace" not in BINDING["spec"]["paramRef"]
    kind = POLICY["spec"]["paramKind"]
    assert kind["kind"] == written.resource.kind
    assert kind["apiVersion"] == written.resource.api_version


def test_it_looks_for_every_form_of_key_that_owner_rules_have() -> None:
    def selector(key: str, operator: str, *values: str) -> LabelSelector:
        return LabelSelector((Requirement(key, operator, values),))

    rules = [
        OwnerRule(object=ObjectMatch(name="zz")),
        OwnerRule(controller=ControllerMatch(name="zz")),
        OwnerRule(selector=selector("zz", "In", "y")),
        OwnerRule(selector=selector("zz", "Exists")),
        OwnerRule(selector=selector("zz", "NotIn", "y")),
        OwnerRule(priority_at_least=5),
    ]
    forms = {key.split("zz")[0] for rule in rules for key in index_keys(rule)}
    expression = POLICY["spec"]["matchConditions"][-1]["expression"]
    assert forms == {"name:", "controller:", "label:", "exists:", "*"}
    assert all(f"'{form}'" in expression for form in sorted(forms))


def test_pods_that_ask_are_gated_anywhere_but_at_home_and_with_the_cluster() -> None:
    policy, binding = policy_objects(("a.example/x", "a.example/y"), "spare")[2:]
    (expression,) = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert expression["operator"] == "NotIn"
    assert expression["values"] == ["kube-node-lease", "kube-public", "kube-system", "spare"]
    assert policy["spec"]["failurePolicy"] == "Ignore"
    assert binding["spec"] == {**BINDING["spec"], "policyName": policy["metadata"]["name"]}


def test_a_pod_that_does_not_ask_costs_one_look() -> None:
    policy = policy_objects(("a.example/x",))[2]
    first, *others = policy["spec"]["matchConditions"]
    assert "params" not in first["expression"]
    names = [each["name"] for each in POLICY["spec"]["matchConditions"]]
    assert [each["name"] for each in others] == names


def test_only_a_dialect_that_is_asked_brings_the_second_policy() -> None:
    assert policy_objects() == [POLICY, BINDING]
    assert policy_objects(("a.example/x",), "spare")[:2] == [POLICY, BINDING]
