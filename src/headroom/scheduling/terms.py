"""Resolve selectors that depend on their own pod: pod terms and spread constraints.

An affinity term without namespaces means its pod's own namespace, and matchLabelKeys use the pod's
own label values. Here each becomes an independent value that can be compared and matched against
any pod. `pod_counts` uses it for existing pods, `pod_affinity` and `spread` for the incoming pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headroom.core.objects import LabelSelector, Pod, PodTerm, Requirement, TopologySpread
from headroom.core.selection import equal_labels, matches

Labels = Mapping[str, str]
MOST_REMEMBERED = 64  # values in one term
LabelPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """One resolved inter-pod term: which pods it matches, and in which domains."""

    topology_key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None = None

    def about(self, namespace: str, labels: Labels, namespace_labels: Labels) -> bool:
        """Whether a pod of this namespace with these labels matches."""
        if self.selector is None or not matches(self.selector, labels):
            return False
        if namespace in self.namespaces:
            return True
        selector = self.namespace_selector
        return selector is not None and matches(selector, namespace_labels)


def term_of(term: PodTerm, pod: Pod) -> Term:
    """Resolve a term of a pod.

    The API server has merged matchLabelKeys into the selector of every pod that it created. Doing
    it again changes nothing, and is needed for pods of a simulator.
    """
    keys = term.match_label_keys + term.mismatch_label_keys
    own = tuple((key, pod.labels[key]) for key in keys if key in pod.labels)
    make = _remembered if _is_short(term) else _term
    return make(term, pod.rules_namespace, own)


def _is_short(term: PodTerm) -> bool:
    """Whether it is cached: tenants must not fill the memory with long lists."""
    requirements = term.selector.requirements if term.selector is not None else ()
    others = term.namespace_selector.requirements if term.namespace_selector is not None else ()
    if len(requirements) + len(others) + len(term.namespaces) > MOST_REMEMBERED:
        return False
    return sum(len(each.values) for each in (*requirements, *others)) <= MOST_REMEMBERED


@lru_cache(maxsize=4096)
def _remembered(term: PodTerm, namespace: str, own: LabelPairs) -> Term:
    return _term(term, namespace, own)


def _term(term: PodTerm, namespace: str, own: LabelPairs) -> Term:
    if not term.namespaces and term.namespace_selector is None:
        namespaces = frozenset((namespace,))
    else:
        namespaces = frozenset(term.namespaces)
    selector = term.selector
    if selector is not None and own:
        selector = LabelSelector(
            selector.requirements
            + tuple(
                Requirement(key, "In" if key in term.match_label_keys else "NotIn", (value,))
                for key, value in own
            )
        )
    return Term(term.topology_key, selector, namespaces, term.namespace_selector)


def spread_selector(constraint: TopologySpread, labels: Labels) -> LabelSelector | None:
    """The pods that a spread constraint counts, with the pod's own values for matchLabelKeys."""
    own = tuple((key, labels[key]) for key in constraint.match_label_keys if key in labels)
    if constraint.selector is None or not own:
        return constraint.selector
    return LabelSelector(equal_labels(own) + constraint.selector.requirements)
