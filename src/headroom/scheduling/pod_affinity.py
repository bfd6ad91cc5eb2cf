"""InterPodAffinity as a filter: a pod's required terms, and the anti-affinity of other pods.

Pods are counted by domain of a topology label. `Neighbours` is calculated once for a pod and then
checks all nodes at once, or one node as if some pods there were added or gone. `score_pod_affinity`
scores the preferred terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from headroom.core.objects import NO_LABELS, Pod
from headroom.scheduling.nodes import Bools, Ints
from headroom.scheduling.pod_counts import required_anti_terms
from headroom.scheduling.reasons import AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY
from headroom.scheduling.state import ClusterState
from headroom.scheduling.terms import Labels, Term, term_of


@dataclass(frozen=True, slots=True)
class Counted:
    """A term and its matching pods: `counts[d]` in domain `d` (0: no such label)."""

    term: Term
    codes: Ints
    counts: Ints

    def by_row(self) -> Ints:
        return self.counts[self.codes]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The effect of existing pods on one pod.

    `wanted` counts pods that match all of the pod's affinity terms at once, `unwanted` those that
    match an anti-affinity term, `repelling` those whose own anti-affinity matches this pod.
    """

    pod: Pod
    state: ClusterState
    wanted: tuple[Counted, ...]
    unwanted: tuple[Counted, ...]
    repelling: tuple[Counted, ...]

    @property
    def matter(self) -> bool:
        """Whether affinity matters at all.

        If not, kube-scheduler skips the whole check, even for nominated pods with anti-affinity to
        it.
        """
        return bool(self.wanted or self.unwanted or self.repelling)

    def refusals(self) -> tuple[Bools, Bools, Bools]:
        """By row: which nodes lack wanted pods, have unwanted pods, or have repelling pods."""
        size = self.state.table.capacity
        lonely = np.zeros(size, np.bool_)
        unlabelled = np.zeros(size, np.bool_)
        for counted in self.wanted:
            unlabelled |= counted.codes == 0
            lonely |= counted.by_row() <= 0
        if self._first_of_its_kind(0):
            lonely[:] = False
        return lonely | unlabelled, self._any(self.unwanted), self._any(self.repelling)

    def refusal(self, row: int, added: Iterable[Pod], removed: Iterable[Pod]) -> str | None:
        """Why one node is refused as if pods on it were added and removed, or None."""
        changes = [(pod, 1) for pod in added] + [(pod, -1) for pod in removed]
        if not self._has_company(row, changes):
            return AFFINITY
        for counted in self.unwanted:
            change = sum(sign for pod, sign in changes if self._means(counted.term, pod))
            if counted.codes[row] and counted.counts[counted.codes[row]] + change > 0:
                return ANTI_AFFINITY
        if self._repels(row, changes):
            return EXISTING_ANTI_AFFINITY
        return None

    def _has_company(self, row: int, changes: list[tuple[Pod, int]]) -> bool:
        if not self.wanted:
            return True
        if not all(counted.codes[row] for counted in self.wanted):
            return False
        terms = tuple(counted.term for counted in self.wanted)
        change = sum(sign for pod, sign in changes if _means_all(terms, pod, self.state))
        if all(counted.counts[counted.codes[row]] + change > 0 for counted in self.wanted):
            return True
        return self._first_of_its_kind(change)

    def _first_of_its_kind(self, change: int) -> bool:
        """Whether no pod matches yet and the pod matches its own terms: it may be the first."""
        if not self.wanted or any(int(one.counts.sum()) + change for one in self.wanted):
            return False
        return _means_all(tuple(one.term for one in self.wanted), self.pod, self.state)

    def _repels(self, row: int, changes: list[tuple[Pod, int]]) -> bool:
        left = {one.term: int(one.counts[one.codes[row]]) for one in self.repelling}
        mine = self.state.namespace_labels(self.pod.rules_namespace)
        for other, sign in changes:
            for term in required_anti_terms(other):
                codes, _ = self.state.domains(term.topology_key)
                if codes[row] and term.about(self.pod.rules_namespace, self.pod.labels, mine):
                    left[term] = left.get(term, 0) + sign
        return any(count > 0 for count in left.values())

    def _any(self, several: tuple[Counted, ...]) -> Bools:
        refused = np.zeros(self.state.table.capacity, np.bool_)
        for counted in several:
            refused |= counted.by_row() > 0
        return refused

    def _means(self, term: Term, other: Pod) -> bool:
        return _means_all((term,), other, self.state)


def neighbours(pod: Pod, state: ClusterState) -> Neighbours:
    """Count the pods that a pod needs, must avoid, and is repelled by."""
    wanted = tuple(term_of(term, pod) for term in pod.placement.pod_affinity.required)
    unwanted = tuple(required_anti_terms(pod))
    mine, size = state.namespace_labels(pod.rules_namespace), state.table.capacity
    repelling = (
        by_domain(term, state.besides(pod, tally.vector(size), partial(_holds, term)), state)
        for term, tally in state.terms.repelling.items()
        if term.about(pod.rules_namespace, pod.labels, mine)
    )
    return Neighbours(
        pod,
        state,
        tuple(_counted(term, wanted, pod, state) for term in wanted),
        tuple(_counted(term, (term,), pod, state) for term in unwanted),
        tuple(counted for counted in repelling if counted.counts.any()),
    )


def by_domain(term: Term, numbers: Ints, state: ClusterState) -> Counted:
    """Add up numbers by row within each domain of a term's topology label."""
    codes, size = state.domains(term.topology_key)
    counts = np.bincount(codes, weights=numbers, minlength=size + 1).astype(np.int64)
    counts[0] = 0
    return Counted(term, codes, counts)


def matching_all(terms: tuple[Term, ...], state: ClusterState) -> Ints:
    """Count by row the pods that match all of an incoming pod's terms."""

    meant = partial(_all_about, terms, state.namespaces)  # It outlives a copy of the state.
    tally = state.pods.tally(("terms", terms), meant, ending_too=True)
    return tally.vector(state.table.capacity)


def _counted(term: Term, together: tuple[Term, ...], pod: Pod, state: ClusterState) -> Counted:
    means = partial(_means_all, together, state=state)
    return by_domain(term, state.besides(pod, matching_all(together, state), means), state)


def _holds(term: Term, pod: Pod) -> int:
    return sum(one == term for one in required_anti_terms(pod))


def _means_all(terms: tuple[Term, ...], other: Pod, state: ClusterState) -> bool:
    return _all_about(terms, state.namespaces, other.rules_namespace, other.labels)


def _all_about(
    terms: tuple[Term, ...], namespaces: Mapping[str, Labels], namespace: str, labels: Labels
) -> bool:
    """Match as kube-scheduler does for an incoming pod's terms.

    It lists the namespaces a term selects, but then still tries the selector on no labels, so that
    one such as `DoesNotExist` is about every namespace.
    """
    known = namespaces.get(namespace, NO_LABELS)
    return all(
        term.about(namespace, labels, known) or term.about(namespace, labels, NO_LABELS)
        for term in terms
    )
