"""Selectors, node affinity, taints and tolerations, by the rules of kube-scheduler."""

from __future__ import annotations

import pytest

from headroom.core.objects import (
    ANYWHERE,
    LabelSelector,
    NodeAffinity,
    NodeTerm,
    Placement,
    PreferredNodeTerm,
    Requirement,
    Taint,
    Toleration,
)
from headroom.core.selection import (
    holds,
    integer,
    matches,
    node_matches,
    preference,
    term_matches,
    tolerated,
    tolerates,
    untolerated,
)
from tests.builders import need, node, selector, taint, to_nodes


@pytest.mark.parametrize(
    ("requirement", "labels", "expected"),
    [
        (need("disk", "In", "ssd", "nvme"), {"disk": "ssd"}, True),
        (need("disk", "In", "ssd", "nvme"), {"disk": "hdd"}, False),
        (need("disk", "In", "ssd"), {}, False),
        (need("disk", "In", ""), {"disk": ""}, True),
        (need("disk", "NotIn", "ssd"), {"disk": "hdd"}, True),
        (need("disk", "NotIn", "ssd"), {"disk": "ssd"}, False),
        (need("disk", "NotIn", "ssd"), {}, True),
        (need("disk", "Exists"), {"disk": ""}, True),
        (need("disk", "Exists"), {}, False),
        (need("disk", "DoesNotExist"), {}, True),
        (need("disk", "DoesNotExist"), {"disk": ""}, False),
        (need("cores", "Gt", "8"), {"cores": "9"}, True),
        (need("cores", "Gt", "8"), {"cores": "8"}, False),
        (need("cores", "Gt", "8"), {"cores": "10"}, True),
        (need("cores", "Gt", "8"), {}, False),
        (need("cores", "Gt", "-1"), {"cores": "0"}, True),
        (need("cores", "Lt", "8"), {"cores": "07"}, True),
        (need("cores", "Lt", "8"), {"cores": "eight"}, False),
        (need("cores", "Lt", "8"), {"cores": "7.5"}, False),
        (need("cores", "Lt", "many"), {"cores": "1"}, False),
        (need("cores", "Lt", "8", "9"), {"cores": "1"}, False),
        (need("cores", "Near", "8"), {"cores": "8"}, False),
    ],
)
def test_an_operator_means_what_it_means_in_kubernetes(
    requirement: Requirement, labels: dict[str, str], expected: bool
) -> None:
    assert holds(requirement, labels) is expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("+7", 7),
        ("-07", -7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("1_0", None),
        (" 1", None),
        ("", None),
        ("٣", None),
        ("1\n", None),
    ],
)
def test_an_integer_is_what_go_reads_as_one(text: str, number: int | None) -> None:
    assert integer(text) == number


def test_a_selector_without_requirements_matches_everything() -> None:
    assert matches(LabelSelector(), {})
    assert matches(LabelSelector(), {"app": "web"})


def test_all_requirements_of_a_selector_must_hold() -> None:
    both = selector(need("canary", "DoesNotExist"), app="web")
    assert matches(both, {"app": "web"})
    assert not matches(both, {"app": "web", "canary": "1"})
    assert not matches(both, {"app": "db"})


def test_a_pod_without_wishes_goes_to_any_node() -> None:
    assert node_matches(ANYWHERE, node("a"))


def test_the_node_selector_wants_every_label_equal() -> None:
    placement = Placement(node_selector=(("disk", "ssd"), ("zone", "z1")))
    assert node_matches(placement, node("a", labels={"disk": "ssd", "zone": "z1"}))
    assert not node_matches(placement, node("a", labels={"disk": "ssd"}))
    assert not node_matches(placement, node("a", labels={"disk": "ssd", "zone": "z2"}))


def test_one_matching_term_is_enough() -> None:
    ssd, here = NodeTerm(labels=(need("disk", "In", "ssd"),)), by_name("a")
    assert node_matches(to_nodes(ssd, here), node("a"))
    assert node_matches(to_nodes(ssd, here), node("b", labels={"disk": "ssd"}))
    assert not node_matches(to_nodes(ssd, here), node("b"))


def test_node_selector_and_affinity_must_both_agree() -> None:
    placement = Placement(
        node_selector=(("disk", "ssd"),), node_affinity=NodeAffinity(required=(by_name("a"),))
    )
    assert node_matches(placement, node("a", labels={"disk": "ssd"}))
    assert not node_matches(placement, node("a"))
    assert not node_matches(placement, node("b", labels={"disk": "ssd"}))


def by_name(name: str, operator: str = "In") -> NodeTerm:
    return NodeTerm(fields=(need("metadata.name", operator, name),))


def test_an_empty_term_matches_no_node() -> None:
    assert not term_matches(NodeTerm(), node("a"))
    assert not node_matches(to_nodes(NodeTerm()), node("a"))


def test_required_affinity_without_terms_matches_no_node() -> None:
    assert not node_matches(to_nodes(), node("a"))


def test_labels_and_fields_of_a_term_must_all_hold() -> None:
    term = NodeTerm(labels=(need("disk"),), fields=(need("metadata.name", "NotIn", "a"),))
    assert term_matches(term, node("b", labels={"disk": "ssd"}))
    assert not term_matches(term, node("a", labels={"disk": "ssd"}))
    assert not term_matches(term, node("b"))


@pytest.mark.parametrize(
    "field",
    [
        need("metadata.name", "In", "a", "b"),
        need("metadata.name", "In"),
        need("metadata.name", "Exists"),
        need("metadata.name", "Exists", "a"),
        need("metadata.uid", "In", "uid-of-a"),
    ],
)
def test_a_field_expression_that_is_unsound_matches_no_node(field: Requirement) -> None:
    assert not term_matches(NodeTerm(fields=(field,)), node("a"))


def test_the_weights_of_matching_preferences_add_up() -> None:
    wishes = (
        PreferredNodeTerm(10, by_name("a")),
        PreferredNodeTerm(5, NodeTerm(labels=(need("disk"),))),
        PreferredNodeTerm(100, NodeTerm()),
    )
    affinity = NodeAffinity(preferred=wishes)
    assert preference(affinity, node("a", labels={"disk": "ssd"})) == 15
    assert preference(affinity, node("a")) == 10
    assert preference(affinity, node("b")) == 0


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration("gpu", "Equal", "yes", "NoSchedule"), True),
        (Toleration("gpu", "Equal", "yes"), True),
        (Toleration("gpu", "", "yes"), True),
        (Toleration("gpu", "Equal", "no"), False),
        (Toleration("gpu", "Equal", "yes", "NoExecute"), False),
        (Toleration("gpu", "Exists"), True),
        (Toleration("tpu", "Exists"), False),
        (Toleration("", "Exists"), True),
        (Toleration("", "Exists", effect="NoSchedule"), True),
        (Toleration("", "Exists", effect="NoExecute"), False),
        (Toleration("gpu", "Gt", "0"), False),
    ],
)
def test_a_toleration_covers_key_value_and_effect(toleration: Toleration, expected: bool) -> None:
    assert tolerates(toleration, Taint("gpu", "yes", "NoSchedule")) is expected


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
def test_numbers_in_tolerations_are_disregarded_while_their_gate_is_off(operator: str) -> None:
    assert not tolerates(Toleration("level", operator, "5"), Taint("level", "5"))
    assert not tolerates(Toleration("level", operator, "5"), Taint("level", "4"))
    assert not tolerates(Toleration("level", operator, "5"), Taint("level", "6"))


def test_any_one_toleration_is_enough() -> None:
    both = (Toleration("x", "Exists"), Toleration("gpu", "Exists"))
    assert tolerated(taint("gpu"), both)
    assert not tolerated(taint("disk"), both)


def test_the_first_taint_that_nothing_tolerates_is_named() -> None:
    taints = (taint("a"), taint("b", effect="NoExecute"), taint("c"))
    assert untolerated(taints, (Toleration("a", "Exists"),)) == taints[1]
    assert untolerated(taints, (Toleration("", "Exists"),)) is None


def test_a_taint_that_only_discourages_forbids_nothing() -> None:
    discouraging = taint("busy", effect="PreferNoSchedule")
    assert untolerated((discouraging,), ()) is None
    assert untolerated((discouraging,), (), ("PreferNoSchedule",)) == discouraging
