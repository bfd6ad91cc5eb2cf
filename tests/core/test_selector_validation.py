"""What the API server would refuse is refused with a reason; what it lets in has none."""

from __future__ import annotations

import pytest

from headroom.core.objects import NodeTerm, Requirement, Toleration
from headroom.core.selector_validation import (
    label_key_refusal,
    label_value_refusal,
    node_term_refusal,
    selector_refusal,
    toleration_refusal,
)
from tests.builders import need, selector


@pytest.mark.parametrize("key", ["app", "a", "A_b.c-9", "example.com/app", "9", "x" * 63])
def test_a_sound_label_key_is_let_in(key: str) -> None:
    assert label_key_refusal(key) is None


@pytest.mark.parametrize(
    "key",
    ["", "-app", "app-", "a b", "a/b/c", "/app", "example.com/", "Example.com/app", "x" * 64],
)
def test_an_unsound_label_key_is_refused_by_name(key: str) -> None:
    assert (label_key_refusal(key) or "").startswith(f"{key!r} is not a label key")


def test_a_prefix_longer_than_a_dns_name_is_refused() -> None:
    assert label_key_refusal(f"{'x' * 254}/app")


@pytest.mark.parametrize("value", ["", "a", "1.2_3-x", "x" * 63])
def test_a_sound_label_value_is_let_in(value: str) -> None:
    assert label_value_refusal(value) is None


@pytest.mark.parametrize("value", ["-a", "a.", "a b", "ä", "x" * 64, "a\n"])
def test_an_unsound_label_value_is_refused_by_name(value: str) -> None:
    assert (label_value_refusal(value) or "").startswith(f"{value!r} is not a label value")


def test_a_sound_selector_is_let_in() -> None:
    assert selector_refusal(selector(need("a", "NotIn", "x", ""), need("b"), app="web")) is None


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (need("a", "in", "x"), "operator 'in' is not one of In, NotIn, Exists, DoesNotExist"),
        (need("a", "Gt", "1"), "operator 'Gt' is not one of"),
        (need("a", "In"), "In of 'a' needs at least one value"),
        (need("a", "NotIn"), "NotIn of 'a' needs at least one value"),
        (need("a", "Exists", "x"), "Exists of 'a' takes no values"),
        (need("a b", "Exists"), "'a b' is not a label key"),
        (need("a", "In", "x", "-"), "'-' is not a label value"),
    ],
)
def test_an_unsound_selector_says_why(requirement: Requirement, words: str) -> None:
    assert words in (selector_refusal(selector(requirement)) or "")


@pytest.mark.parametrize(
    "term",
    [
        NodeTerm(),
        NodeTerm(labels=(need("cores", "Gt", "8"), need("disk", "In", "ssd"))),
        NodeTerm(fields=(need("metadata.name", "NotIn", "a.example.com"),)),
    ],
)
def test_a_sound_node_term_is_let_in(term: NodeTerm) -> None:
    assert node_term_refusal(term) is None


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (NodeTerm(labels=(need("cores", "Gt", "many"),)), "Gt of 'cores' needs exactly one value"),
        (NodeTerm(labels=(need("cores", "Lt", "1", "2"),)), "needs exactly one value, an integer"),
        (NodeTerm(fields=(need("spec.x", "In", "a"),)), "'spec.x' is not a field"),
        (NodeTerm(fields=(need("metadata.name"),)), "operator 'Exists' of metadata.name"),
        (NodeTerm(fields=(need("metadata.name", "In", "a", "b"),)), "needs exactly one value"),
        (NodeTerm(fields=(need("metadata.name", "In", "A!"),)), "'A!' is not a node name"),
    ],
)
def test_an_unsound_node_term_says_why(term: NodeTerm, words: str) -> None:
    assert words in (node_term_refusal(term) or "")


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration("", "Exists"),
        Toleration("gpu", "", "yes"),
        Toleration("gpu", "Equal", "yes", "NoExecute", 300),
    ],
)
def test_a_sound_toleration_is_let_in(toleration: Toleration) -> None:
    assert toleration_refusal(toleration) is None


@pytest.mark.parametrize(
    ("toleration", "words"),
    [
        (Toleration("", "Equal"), "the operator must be Exists"),
        (Toleration("gpu", "Exists", "yes"), "Exists takes no value"),
        (Toleration("gpu", "Lt", "5"), "'Lt' is not one of Equal, Exists"),
        (Toleration("gpu", "Exists", effect="Never"), "effect 'Never' is not one of"),
        (Toleration("gpu", "Exists", seconds=5), "needs the effect NoExecute"),
        (Toleration("g pu", "Exists"), "'g pu' is not a label key"),
        (Toleration("gpu", "Equal", "-"), "'-' is not a label value"),
    ],
)
def test_an_unsound_toleration_says_why(toleration: Toleration, words: str) -> None:
    assert words in (toleration_refusal(toleration) or "")
