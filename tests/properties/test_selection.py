"""The logic of selectors and tolerations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headroom.core.objects import (
    LabelSelector,
    Node,
    NodeTerm,
    Requirement,
    Taint,
    Toleration,
)
from headroom.core.selection import (
    FORBIDDING,
    holds,
    matches,
    node_matches,
    term_matches,
    tolerates,
    untolerated,
)
from headroom.core.selector_validation import requirement_refusal
from tests.builders import node, to_nodes
from tests.samples import examples

_KEYS = st.sampled_from(["a", "b", "c"])
_VALUES = st.sampled_from(["", "x", "y", "1", "2", "10"])
_LABELS = st.dictionaries(_KEYS, _VALUES)
_LISTED = st.lists(_VALUES, min_size=1, max_size=3).map(tuple)
_REQUIREMENTS = st.one_of(
    st.builds(Requirement, _KEYS, st.sampled_from(["In", "NotIn"]), _LISTED),
    st.builds(Requirement, _KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(
        Requirement,
        _KEYS,
        st.sampled_from(["Gt", "Lt"]),
        st.sampled_from(["0", "2"]).map(lambda v: (v,)),
    ),
)
_FIELDS = st.builds(
    Requirement,
    st.just("metadata.name"),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from([("n1",), ("n2",)]),
)
_TERMS = st.builds(
    NodeTerm,
    labels=st.lists(_REQUIREMENTS, max_size=2).map(tuple),
    fields=st.lists(_FIELDS, max_size=1).map(tuple),
)
_NODES = st.builds(
    lambda name, labels: node(name, labels=labels), st.sampled_from(["n1", "n2"]), _LABELS
)
_EFFECTS = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
_TAINTS = st.builds(Taint, _KEYS, _VALUES, _EFFECTS)
_TOLERATIONS = st.one_of(
    st.builds(Toleration, _KEYS, st.just("Equal"), _VALUES, _EFFECTS | st.just("")),
    st.builds(Toleration, _KEYS | st.just(""), st.just("Exists"), effect=_EFFECTS | st.just("")),
)


@given(_KEYS, _LISTED, _LABELS)
@examples(60)
def test_not_in_is_the_opposite_of_in(
    key: str, values: tuple[str, ...], labels: dict[str, str]
) -> None:
    assert holds(Requirement(key, "NotIn", values), labels) is not holds(
        Requirement(key, "In", values), labels
    )


@given(_KEYS, _LABELS)
@examples(50)
def test_absence_is_the_opposite_of_presence(key: str, labels: dict[str, str]) -> None:
    absent = holds(Requirement(key, "DoesNotExist"), labels)
    assert absent is not holds(Requirement(key, "Exists"), labels)


@given(_KEYS, _LISTED, _LABELS)
@examples(60)
def test_in_is_any_of_its_values_and_not_in_is_none(
    key: str, values: tuple[str, ...], labels: dict[str, str]
) -> None:
    single = [holds(Requirement(key, "In", (value,)), labels) for value in values]
    assert holds(Requirement(key, "In", values), labels) is any(single)
    assert holds(Requirement(key, "NotIn", values), labels) is not any(single)


@given(_REQUIREMENTS, _LABELS)
@examples(60)
def test_what_must_equal_or_compare_must_be_there(
    requirement: Requirement, labels: dict[str, str]
) -> None:
    if requirement.operator in ("In", "Gt", "Lt", "Exists") and holds(requirement, labels):
        assert requirement.key in labels


@given(_KEYS, st.integers(-99, 99), st.integers(-99, 99))
@examples(60)
def test_labels_compare_as_numbers_do(key: str, found: int, wanted: int) -> None:
    labels = {key: str(found)}
    assert holds(Requirement(key, "Gt", (str(wanted),)), labels) is (found > wanted)
    assert holds(Requirement(key, "Lt", (str(wanted),)), labels) is (found < wanted)


@given(st.lists(_REQUIREMENTS, max_size=3), st.lists(_REQUIREMENTS, max_size=3), _LABELS)
@examples(60)
def test_joined_selectors_match_what_both_match(
    one: list[Requirement], two: list[Requirement], labels: dict[str, str]
) -> None:
    joined = matches(LabelSelector((*one, *two)), labels)
    assert joined is (
        matches(LabelSelector(tuple(one)), labels) and matches(LabelSelector(tuple(two)), labels)
    )


@given(st.lists(_TERMS, max_size=3), _NODES)
@examples(60)
def test_terms_are_alternatives(terms: list[NodeTerm], host: Node) -> None:
    assert node_matches(to_nodes(*terms), host) is any(term_matches(term, host) for term in terms)


@given(_TERMS, _NODES)
@examples(60)
def test_every_generated_term_is_one_the_api_server_lets_in(term: NodeTerm, host: Node) -> None:
    operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    assert all(requirement_refusal(one, operators) is None for one in term.labels)


@given(_TOLERATIONS, _TAINTS)
@examples(60)
def test_leaving_out_key_or_effect_only_tolerates_more(
    toleration: Toleration, taint: Taint
) -> None:
    if tolerates(toleration, taint):
        assert tolerates(Toleration(toleration.key, "Exists"), taint)
        assert tolerates(Toleration("", "Exists", effect=toleration.effect), taint)


@given(st.lists(_TAINTS, max_size=4), st.lists(_TOLERATIONS, max_size=3), _TOLERATIONS)
@examples(60)
def test_one_toleration_more_never_forbids_a_node(
    taints: list[Taint], tolerations: list[Toleration], more: Toleration
) -> None:
    if untolerated(taints, tolerations) is None:
        assert untolerated(taints, [*tolerations, more]) is None


@given(st.lists(_TAINTS, max_size=4), st.lists(_TOLERATIONS, max_size=3))
@examples(60)
def test_the_taint_named_forbids_and_is_not_tolerated(
    taints: list[Taint], tolerations: list[Toleration]
) -> None:
    found = untolerated(taints, tolerations)
    if found is None:
        forbidding = [taint for taint in taints if taint.effect in FORBIDDING]
        assert all(any(tolerates(one, taint) for one in tolerations) for taint in forbidding)
    else:
        assert found.effect in FORBIDDING
        assert not any(tolerates(one, found) for one in tolerations)
