"""Label selectors and node selector terms, from their JSON shapes to core values.

Shared by pod placement, owner rules and topology spread. Nothing is judged here: a selector that
Kubernetes would refuse is passed on as it is written (`owners` says what is wrong with it).
"""

from __future__ import annotations

from headroom.core.objects import LabelSelector, NodeTerm, Requirement
from headroom.wire.objects.podjson import JsonObject


class Expression(JsonObject):
    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class Selector(JsonObject):
    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None


class NodeSelectorTerm(JsonObject):
    match_expressions: list[Expression] | None = None
    match_fields: list[Expression] | None = None


def label_selector(selector: Selector) -> LabelSelector:
    """Turn matchLabels (sorted by key) and matchExpressions into one list of requirements."""
    labels = sorted((selector.match_labels or {}).items())
    equal = tuple(Requirement(key, "In", (value,)) for key, value in labels)
    return LabelSelector(equal + requirements(selector.match_expressions))


def optional_selector(selector: Selector | None) -> LabelSelector | None:
    return label_selector(selector) if selector is not None else None


def node_term(term: NodeSelectorTerm) -> NodeTerm:
    return NodeTerm(requirements(term.match_expressions), requirements(term.match_fields))


def requirements(expressions: list[Expression] | None) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(each.key or "", each.operator or "", tuple(each.values or ()))
        for each in expressions or ()
    )
