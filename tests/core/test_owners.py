"""Who may claim a hold: rules ORed, their parts ANDed, and namespaces only where they are named."""

from __future__ import annotations

import pytest

from headroom.core.holds import ControllerMatch, ObjectMatch, OwnerRule
from headroom.core.objects import OwnerReference
from headroom.core.owners import ANY_POD, index_keys, judged, owner_refusal, pod_keys, rule_keys
from tests.builders import hold, need, owned_by, pod, selector

ELSEWHERE = OwnerRule(object=ObjectMatch(name="train-0", namespace="ml"))
REPLICAS = OwnerRule(controller=ControllerMatch(kind="ReplicaSet", name="web-1"))
FOREIGN_REPLICAS = OwnerRule(controller=ControllerMatch(name="web-1", namespace="ml"))


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (owned_by(app="web"), "the pod's labels do not match the owners' labelSelector"),
        (OwnerRule(object=ObjectMatch(name="train-0")), "it is for the pod train-0"),
        (OwnerRule(object=ObjectMatch(uid="u-1")), "it is for the pod of uid u-1"),
        (REPLICAS, "it is for pods that belong to ReplicaSet web-1"),
        (
            OwnerRule(controller=ControllerMatch(controller=True)),
            "it is for pods that belong to something",
        ),
        (OwnerRule(priority_at_least=10), "the pod's priority 0 is below 10"),
    ],
)
def test_a_refusal_is_a_sentence_by_itself(rule: OwnerRule, why: str) -> None:
    assert owner_refusal(hold("h", owners=(rule,)), pod("x", labels={"app": "api"})) == why


def test_one_rule_that_matches_is_enough() -> None:
    owner = OwnerReference("apps/v1", "ReplicaSet", "web-1", "u", controller=True)
    both = hold("h", owners=(owned_by(app="web"), REPLICAS))
    assert owner_refusal(both, pod("x", owners=(owner,))) is None


@pytest.mark.parametrize("across", [False, True])
def test_a_pod_of_another_namespace_with_borrowed_labels_gets_nothing(across: bool) -> None:
    thief = pod("thief", namespace="ml", labels={"app": "web"})
    why = owner_refusal(hold("h"), thief, across)
    assert why == "the pod is in namespace ml, the hold is for default"


def test_a_pod_of_another_namespace_that_is_named_gets_it_where_that_is_allowed() -> None:
    shared = hold("h", owners=(ELSEWHERE,))
    owner = pod("train-0", namespace="ml")
    assert owner_refusal(shared, owner, across_namespaces=True) is None
    assert owner_refusal(shared, owner, across_namespaces=False) is not None


@pytest.mark.parametrize(
    ("rule", "part"), [(ELSEWHERE, "object"), (FOREIGN_REPLICAS, "controller")]
)
def test_a_rule_for_another_namespace_is_a_problem_unless_it_is_allowed(
    rule: OwnerRule, part: str
) -> None:
    shared = hold("h", owners=(owned_by(app="web"), rule))
    assert judged(shared, across_namespaces=True) == shared
    beside = judged(shared, across_namespaces=False)
    assert (beside.problems, beside.owners) == ((), shared.owners[:1])
    assert [each.path for each in beside.remarks] == [f"spec.owners[1].{part}.namespace"]
    (problem,) = judged(hold("h", owners=(rule,)), across_namespaces=False).problems
    assert problem.path == f"spec.owners[0].{part}.namespace"
    assert "this hold's namespace, default" in problem.message
    assert "--allow-cross-namespace-owners" in problem.message


@pytest.mark.parametrize(
    ("rule", "keys"),
    [
        (OwnerRule(object=ObjectMatch(name="train-0")), ("name:train-0",)),
        (REPLICAS, ("controller:web-1",)),
        (owned_by(app="web"), ("label:app=web",)),
        (
            OwnerRule(selector=selector(need("tier", "In", "a", "b"), app="web")),
            ("label:app=web",),
        ),
        (OwnerRule(selector=selector(need("app", "In", "b", "a"))), ("label:app=a", "label:app=b")),
        (OwnerRule(selector=selector(need("app"))), ("exists:app",)),
        (OwnerRule(selector=selector(need("app", "NotIn", "web"))), (ANY_POD,)),
        (OwnerRule(priority_at_least=5), (ANY_POD,)),
    ],
)
def test_a_rule_is_found_by_as_few_keys_as_can_be(rule: OwnerRule, keys: tuple[str, ...]) -> None:
    assert index_keys(rule) == keys


def test_the_keys_of_a_hold_are_those_of_all_its_rules_each_once() -> None:
    several = hold("h", owners=(owned_by(app="web"), REPLICAS, owned_by(app="web")))
    assert rule_keys(several) == ("label:app=web", "controller:web-1")


def test_a_pod_carries_a_key_for_all_that_a_rule_may_ask() -> None:
    owner = OwnerReference("apps/v1", "ReplicaSet", "web-1", "u")
    assert set(pod_keys(pod("p", labels={"app": "web"}, owners=(owner,)))) == {
        ANY_POD,
        "name:p",
        "controller:web-1",
        "label:app=web",
        "exists:app",
    }


def test_a_hold_that_names_no_owners_is_for_nobody() -> None:
    why = owner_refusal(hold("h", owners=()), pod("x", labels={"app": "web"}))
    assert why == "the hold names no owners"
