"""Choose the pods that kube-scheduler would evict for a pod: DefaultPreemption, rule by rule.

On each node where preemption could help, all pods of lower priority are removed in a simulation. If
the pod then fits, as many as possible are spared: first those whose disruption budget would be
violated, then the rest, the most important first. Among the nodes the least harmful is chosen.
Budgets are best effort: they order the victims but forbid nothing. It uses `filters` and `cycle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from headroom.core.eviction.budgets import Budget, by_violation
from headroom.core.eviction.occupants import NOT_STARTED, importance
from headroom.core.objects import Pod
from headroom.scheduling.cycle import SimulatedChanges
from headroom.scheduling.filters import Feasibility, feasible, verdict_with_nominated
from headroom.scheduling.reasons import NO_CLAIMS, NO_VICTIMS, NOT_HELPFUL, message
from headroom.scheduling.state import ClusterState

MIN_CANDIDATES = 100
MIN_CANDIDATES_PERCENTAGE = 10
PRIORITY_OFFSET = 2**31
"""Added to each priority before they are summed, so that more victims always weigh more."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """Make room on `node` by evicting `victims`, most important first.

    `outbid` are less important pods nominated to the node, which lose their nomination. `minima`
    are all nodes with the same harm; kube-scheduler takes any of them.
    """

    node: str
    victims: tuple[Pod, ...]
    violations: int = 0
    outbid: tuple[Pod, ...] = ()
    minima: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Futile:
    """Preemption does not help; the reason in kube-scheduler's words."""

    message: str


@dataclass(frozen=True, slots=True)
class _Spared:
    victims: tuple[Pod, ...]
    violations: int


def preempt(
    pod: Pod,
    state: ClusterState,
    budgets: Sequence[Budget] = (),
    feasibility: Feasibility | None = None,
    offset: int = 0,
) -> Preemption | Futile:
    """Find the node and the victims with the least harm, for a pod that fits nowhere.

    kube-scheduler checks no more nodes than it needs, starting at a random `offset`.
    """
    found = feasibility if feasibility is not None else feasible(pod, state)
    refusal = _not_eligible(pod, state, found)
    if refusal:
        return Futile(refusal)
    rows = found.curable().tolist()
    candidates: list[Preemption] = []
    refused: dict[str, int] = {}
    enough = candidates_to_find(len(rows))
    begin = offset % len(rows) if rows else 0
    promising = state.rows_with_pods_below(pod.priority)
    seen, tried = len(rows), 0
    for place, row in enumerate(rows[begin:] + rows[:begin]):
        if row not in promising:
            continue  # Most are not: these are counted below.
        tried += 1
        spared = _victims_on(found, row, budgets)
        if isinstance(spared, _Spared):
            candidates.append(_preemption(found, row, spared))
            if len(candidates) >= enough and any(not one.violations for one in candidates):
                seen = place + 1
                break
        else:
            for reason in spared:
                refused[reason] = refused.get(reason, 0) + 1
    if seen > tried:
        refused[NO_VICTIMS] = refused.get(NO_VICTIMS, 0) + seen - tried
    if candidates:
        return _least_harmful(candidates)
    unseen = state.table.count - seen
    if unseen:
        refused[NOT_HELPFUL] = unseen
    return Futile(message(state.table.count, refused))


def explanation(feasibility: Feasibility, outcome: Preemption | Futile) -> str:
    """The whole message of a FailedScheduling event, with the result of preemption."""
    if isinstance(outcome, Preemption):
        return feasibility.message()
    return feasibility.message(after=f"{NO_CLAIMS}, preemption: {outcome.message}")


def candidates_to_find(nodes: int) -> int:
    """After how many candidate nodes kube-scheduler stops its search."""
    return min(max(nodes * MIN_CANDIDATES_PERCENTAGE // 100, MIN_CANDIDATES), nodes)


def _not_eligible(pod: Pod, state: ClusterState, found: Feasibility) -> str:
    """Why a pod may not preempt at all; empty if it may."""
    if not pod.preempts:
        return "not eligible due to preemptionPolicy=Never."
    row = state.table.row_of.get(pod.nominated, -1)
    if row < 0 or not found.considered[row]:
        return ""
    verdict = found.verdict(row)
    if verdict is None or verdict.hopeless:
        return ""
    waiting = any(
        one.priority < pod.priority and one.deleted is not None and one.preempted
        for one in state.pods_on_row(row)
    )
    return "not eligible due to a terminating pod on the nominated node." if waiting else ""


def _victims_on(
    found: Feasibility, row: int, budgets: Sequence[Budget]
) -> _Spared | tuple[str, ...]:
    """Choose the victims on one node, or return the reasons why that would not help."""
    turn = found.turn
    eligible = [one for one in turn.state.pods_on_row(row) if one.priority < turn.pod.priority]
    nominated = list(turn.state.nominated_on(turn.state.table.name(row)))
    supposed = SimulatedChanges()
    for one in eligible:
        supposed.remove(one)
    verdict = verdict_with_nominated(turn, row, nominated, supposed)
    if verdict is not None:
        return verdict.reasons
    violating, others = by_violation(sorted(eligible, key=importance), budgets)
    victims: list[Pod] = []
    violations = 0
    for index, one in enumerate([*violating, *others]):
        supposed.restore(one)
        if verdict_with_nominated(turn, row, nominated, supposed) is not None:
            supposed.remove(one)
            victims.append(one)
            violations += index < len(violating)
    return _Spared(tuple(sorted(victims, key=importance)), violations)


def _preemption(found: Feasibility, row: int, spared: _Spared) -> Preemption:
    state = found.turn.state
    name = state.table.name(row)
    priority = found.turn.pod.priority
    outbid = sorted(
        (one for one in state.nominated_on(name) if one.priority < priority),
        key=lambda one: one.key,
    )
    return Preemption(name, spared.victims, spared.violations, tuple(outbid))


def _least_harmful(candidates: Iterable[Preemption]) -> Preemption:
    """The candidate with the least harm; among equals, the first by name."""
    ordered = sorted(candidates, key=lambda one: (_harm(one), one.node))
    least = _harm(ordered[0])
    minima = tuple(one.node for one in ordered if _harm(one) == least)
    return replace(ordered[0], minima=minima)


def _harm(one: Preemption) -> tuple[int, int, int, int, float]:
    """The harm of a candidate, as kube-scheduler compares it.

    The later the most important victims have started, the smaller the harm.
    """
    highest = one.victims[0].priority
    started = min(pod.started or NOT_STARTED for pod in one.victims if pod.priority == highest)
    total = sum(pod.priority + PRIORITY_OFFSET for pod in one.victims)
    return one.violations, highest, total, len(one.victims), -started.timestamp()
