"""Label selectors and node selector terms, from their JSON to core values.

Shared by pod placement, owner rules and topology spread. Nothing is judged here: a selector that
Kubernetes would refuse is passed on as it is written (`owners` says what is wrong with it).
"""

from __future__ import annotations

from collections.abc import Mapping

from headroom.core.objects import LabelSelector, NodeTerm, Requirement
from headroom.core.selection import equal_labels
from headroom.wire.objects.codec import TEXT, TEXT_MAP, TEXTS, Codec, Part


def _label_selector(
    labels: Mapping[str, str], expressions: tuple[Requirement, ...]
) -> LabelSelector:
    """One list of requirements: the labels, sorted by key, and the expressions."""
    return LabelSelector(equal_labels(sorted(labels.items())) + expressions)


_EXPRESSIONS = Codec(Requirement, key=TEXT, operator=TEXT, values=TEXTS).parts()
LABEL_SELECTOR = Codec(
    _label_selector,
    labels=TEXT_MAP.named("matchLabels"),
    expressions=_EXPRESSIONS.named("matchExpressions"),
)
SELECTOR = LABEL_SELECTOR.part()  # None where there is none
NODE_TERM = Codec(
    NodeTerm,
    labels=_EXPRESSIONS.named("matchExpressions"),
    fields=_EXPRESSIONS.named("matchFields"),
)


def node_terms(name: str = "nodeSelectorTerms") -> Part:
    """The terms of a node selector; None where there is no selector, unlike one without terms."""
    return Codec(lambda terms: terms, terms=NODE_TERM.parts().named(name)).part()
