"""InterPodAffinity as a score: the pod's own preferences, and those of existing pods.

An existing pod attracts this one by its required (weight 1) and preferred affinity, and repels it
by its preferred anti-affinity. `pod_affinity` has the required terms of the pod itself.
"""

from __future__ import annotations

import numpy as np

from headroom.scheduling.cycle import Cycle
from headroom.scheduling.nodes import Ints
from headroom.scheduling.pod_affinity import by_domain, matching_all
from headroom.scheduling.terms import term_of

MAX_SCORE = 100


def neighbour_scores(turn: Cycle, rows: Ints) -> Ints | None:
    """Score the rows by the pods found there, or None if no pod has a preference."""
    pod, state = turn.pod, turn.state
    raw = np.zeros(rows.shape[0], np.int64)
    asked = False
    placement = pod.placement
    preferences = [(one.weight, one.term) for one in placement.pod_affinity.preferred]
    preferences += [(-one.weight, one.term) for one in placement.pod_anti_affinity.preferred]
    for weight, preferred in preferences:
        term = term_of(preferred, pod)
        raw += weight * by_domain(term, matching_all((term,), state), state).by_row()[rows]
        asked = True
    mine = state.namespace_labels(pod.rules_namespace)
    for held, tally in state.terms.attracting.items():
        if held.term.about(pod.rules_namespace, pod.labels, mine):
            counted = by_domain(held.term, tally.vector(state.table.capacity), state)
            raw += held.weight * counted.by_row()[rows]
            asked = True
    return _normalised(raw) if asked else None


def _normalised(raw: Ints) -> Ints:
    """Scale the scores to the whole range from the smallest to the largest."""
    least, most = int(raw.min()), int(raw.max())
    if least == most:
        return np.zeros_like(raw)
    # Divided before it is multiplied, in floating point, as in kube-scheduler.
    return (MAX_SCORE * ((raw - least) / (most - least))).astype(np.int64)
