"""PodTopologySpread as a score: prefer domains with fewer pods of the same kind.

Pods with their own constraints are scored by the soft ones among them (ScheduleAnyway). Pods
without constraints get kube-scheduler's system defaults, if a Service, ReplicaSet, StatefulSet or
ReplicationController says which pods belong together. `ClusterState.default_selector` reads these
from `set_service` and `set_controller`; without them the score is zero for all nodes. `spread` has
the hard constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headroom.core.objects import LabelSelector, TopologySpread
from headroom.scheduling.cycle import Cycle
from headroom.scheduling.nodes import Bools, Ints
from headroom.scheduling.spread import matching_pods
from headroom.scheduling.terms import spread_selector

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS = (
    TopologySpread(3, HOSTNAME, "ScheduleAnyway"),
    TopologySpread(5, ZONE, "ScheduleAnyway"),
)
MAX_SCORE = 100


@dataclass(frozen=True, slots=True)
class _Soft:
    constraint: TopologySpread
    selector: LabelSelector | None
    codes: Ints
    size: int


def spread_scores(turn: Cycle, rows: Ints) -> Ints | None:
    """Score the rows by soft spreading, or None if the pod has none."""
    own = bool(turn.pod.placement.spread)
    soft = _soft_constraints(turn)
    if not soft:
        return None
    scored = np.ones(rows.shape[0], np.bool_)
    everywhere = turn.state.table.present
    if own:
        # A node must have all the labels; under the defaults one without a zone still has a name.
        everywhere = np.logical_and.reduce([one.codes > 0 for one in soft])
        scored = everywhere[rows]
    raw = np.zeros(rows.shape[0], np.float64)
    for one in soft:
        raw += _raw_scores(one, turn, rows, scored, everywhere)
    # kube-scheduler rounds half away from zero; the scores are never negative.
    return _normalised(np.floor(raw + 0.5).astype(np.int64), scored)


def _soft_constraints(turn: Cycle) -> list[_Soft]:
    pod, state = turn.pod, turn.state
    if pod.placement.spread:
        return [
            _Soft(one, spread_selector(one, pod.labels), *state.domains(one.topology_key))
            for one in pod.placement.spread
            if one.when_unsatisfiable == "ScheduleAnyway"
        ]
    selector = state.default_selector(pod)
    if not selector.requirements:
        return []
    return [_Soft(one, selector, *state.domains(one.topology_key)) for one in SYSTEM_DEFAULTS]


def _raw_scores(
    one: _Soft, turn: Cycle, rows: Ints, scored: Bools, everywhere: Bools
) -> NDArray[np.float64]:
    matching = matching_pods(one.selector, turn.pod.rules_namespace, turn.state)
    here = one.codes[rows]
    if one.constraint.topology_key == HOSTNAME:
        domains = int(np.count_nonzero(scored))
        counts = matching[rows]
    else:
        # Nodes without the label count as one more domain when they are scored at all.
        domains = int(np.count_nonzero(np.bincount(here[scored])))
        taking_part = everywhere & turn.takes_part(one.constraint)
        codes, weights = one.codes[taking_part], matching[taking_part]
        by_domain = np.bincount(codes, weights=weights, minlength=one.size + 1)
        counts = by_domain[here].astype(np.int64)
    raw = counts * math.log(domains + 2) + (one.constraint.max_skew - 1)
    return np.where(scored & (here > 0), raw, 0.0)


def _normalised(raw: Ints, scored: Bools) -> Ints:
    """Reverse the counts: the emptiest domain has the best score; unscored nodes get zero."""
    if not scored.any():
        return np.zeros_like(raw)
    largest, smallest = int(raw[scored].max()), int(raw[scored].min())
    if largest == 0:
        return np.where(scored, MAX_SCORE, 0)
    return np.where(scored, MAX_SCORE * (largest + smallest - raw) // largest, 0)
