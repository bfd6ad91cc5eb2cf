"""PodDisruptionBudgets, respected as far as possible, as kube-scheduler does for preemption.

They order the victims but forbid nothing. A pod whose budget allows no more disruptions is spared
before others, and becomes a victim only if no other pod helps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headroom.core.objects import Key, LabelSelector, Pod
from headroom.core.selection import matches


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget: how many more of its pods may go; `disrupted` are going already."""

    key: Key
    selector: LabelSelector | None
    allowed: int
    disrupted: frozenset[str] = frozenset()
    uid: str = ""
    version: str = ""


def by_violation(pods: Iterable[Pod], budgets: Iterable[Budget]) -> tuple[list[Pod], list[Pod]]:
    """Part the pods whose eviction would violate a budget from the others, keeping their order."""
    left = {budget: budget.allowed for budget in budgets}
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        violated = False
        for budget in left:
            if _protects(budget, pod):
                left[budget] -= 1
                violated |= left[budget] < 0
        (violating if violated else others).append(pod)
    return violating, others


def _protects(budget: Budget, pod: Pod) -> bool:
    """Say whether a budget counts a pod; absent and empty selectors protect nobody here."""
    selector = budget.selector
    return (
        budget.key.namespace == pod.key.namespace
        and bool(pod.labels)
        and selector is not None
        and bool(selector.requirements)
        and matches(selector, pod.labels)
        and pod.key.name not in budget.disrupted
    )
