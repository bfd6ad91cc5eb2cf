"""PodTopologySpread as a filter: the constraints that a pod must satisfy (DoNotSchedule).

For each constraint the matching pods are counted by domain over the nodes that take part. A node is
refused if its domain would exceed the emptiest one by too much. `Spread` is calculated once for a
pod and then checks all nodes at once, or one node as if some pods there were added or removed.
`score_spread` scores by the soft constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from headroom.core.objects import LabelSelector, Pod, TopologySpread
from headroom.core.selection import matches
from headroom.scheduling.nodes import Bools, Ints
from headroom.scheduling.reasons import SPREAD, SPREAD_LABEL
from headroom.scheduling.state import ClusterState
from headroom.scheduling.terms import spread_selector

TakesPart = Callable[[TopologySpread], Bools]
"""Which nodes a constraint counts, by its node inclusion policies."""


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """One constraint with its counts: `counts[d]` pods in domain `d`, if `counted[d]`."""

    constraint: TopologySpread
    selector: LabelSelector | None
    itself: int
    codes: Ints
    taking_part: Bools
    counts: Ints
    counted: Bools

    def least(self, counts: Ints) -> int:
        """The global minimum, which is 0 if there are fewer domains than minDomains."""
        domains = int(np.count_nonzero(self.counted))
        if domains < (self.constraint.min_domains or 1):
            return 0
        return int(counts[self.counted].min())

    def too_far(self, counts: Ints) -> Bools:
        """By domain: whether one more pod would exceed the skew."""
        excess = counts + self.itself - self.least(counts)
        return excess > self.constraint.max_skew

    def changed_by(self, pods: Iterable[Pod], namespace: str) -> int:
        """Count the pods that matter here; kube-scheduler includes pods that are being deleted."""
        return sum(
            pod.rules_namespace == namespace
            and self.selector is not None
            and matches(self.selector, pod.labels)
            for pod in pods
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """All the hard constraints of one pod."""

    namespace: str
    rules: tuple[SpreadRule, ...]

    def refusals(self) -> tuple[Bools, Bools]:
        """By row: which nodes lack a label or are too full, at the first failing constraint."""
        lacking = np.zeros(self.rules[0].codes.shape[0], np.bool_)
        full = lacking.copy()
        for rule in self.rules:
            passed = ~(lacking | full)
            missing = rule.codes == 0
            lacking |= passed & missing
            full |= passed & ~missing & rule.too_far(rule.counts)[rule.codes]
        return lacking, full

    def refusal(self, row: int, added: Iterable[Pod], removed: Iterable[Pod]) -> str | None:
        """Why one node is refused as if pods on it were added and removed, or None."""
        has_all = all(rule.codes[row] for rule in self.rules)
        for rule in self.rules:
            domain = int(rule.codes[row])
            if not domain:
                return SPREAD_LABEL
            counts = rule.counts
            change = rule.changed_by(added, self.namespace)
            change -= rule.changed_by(removed, self.namespace)
            if change and has_all and rule.taking_part[row]:
                counts = counts.copy()
                counts[domain] += change
            if rule.too_far(counts)[domain]:
                return SPREAD
        return None


def hard_spread(pod: Pod, state: ClusterState, takes_part: TakesPart) -> Spread | None:
    """A pod's hard constraints, or None if it has none."""
    constraints = [one for one in pod.placement.spread if one.when_unsatisfiable == "DoNotSchedule"]
    if not constraints:
        return None
    domains = [state.domains(one.topology_key) for one in constraints]
    everywhere = np.logical_and.reduce([codes > 0 for codes, _ in domains])
    rules = []
    for constraint, (codes, size) in zip(constraints, domains, strict=True):
        selector = spread_selector(constraint, pod.labels)
        taking_part = everywhere & takes_part(constraint)
        here = codes[taking_part]
        matching = matching_pods(selector, pod.rules_namespace, state)
        others = state.besides(pod, matching, partial(_is_counted, selector, pod.rules_namespace))
        counts = np.bincount(here, weights=others[taking_part], minlength=size + 1).astype(np.int64)
        itself = int(selector is not None and matches(selector, pod.labels))
        counted = np.bincount(here, minlength=size + 1) > 0
        rules.append(SpreadRule(constraint, selector, itself, codes, taking_part, counts, counted))
    return Spread(pod.rules_namespace, tuple(rules))


def _is_counted(selector: LabelSelector | None, namespace: str, pod: Pod) -> bool:
    if selector is None or not selector.requirements or pod.deleted is not None:
        return False
    return pod.rules_namespace == namespace and matches(selector, pod.labels)


def matching_pods(selector: LabelSelector | None, namespace: str, state: ClusterState) -> Ints:
    """Count by row the pods that match a spread constraint.

    kube-scheduler counts none for a missing or empty selector, and leaves out pods that are being
    deleted.
    """
    if selector is None or not selector.requirements:
        return np.zeros(state.table.capacity, np.int64)
    wanted = selector
    tally = state.pods.tally(
        ("spread", namespace, wanted),
        lambda pod_namespace, labels: pod_namespace == namespace and matches(wanted, labels),
        ending_too=False,
    )
    return tally.vector(state.table.capacity)
