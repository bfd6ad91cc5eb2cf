"""The eviction API: a deletion that checks the pod's disruption budget first.

`kubectl drain` uses it. A pod that does no work (pending, ended, terminating) is evicted without a
check. A pod that is not ready is evicted if all other pods of the budget are healthy. The status of
the budget is reduced for the next caller; its controller (`controllers.budgets`) recalculates it a
moment later.
"""

from __future__ import annotations

from collections.abc import Iterable

from headroom.sim.api.pods import FINISHED
from headroom.sim.api.values import Json, condition_status, dig, disrupted, ref_of
from headroom.sim.errors import ApiError
from headroom.sim.selectors import selects

_SPLIT = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


def charged(pod: Json, budgets: Iterable[Json], now: str) -> Json | None:
    """The budget after this eviction; None if no budget applies.

    Raises the API server's error if the budget does not allow the eviction.
    """
    if _idle(pod):
        return None
    found = [budget for budget in budgets if _covers(budget, pod)]
    if not found:
        return None
    if len(found) > 1:
        raise ApiError(500, "InternalError", f"{_SPLIT} support.")
    if condition_status(pod, "Ready") != "True" and _spares_the_unready(found[0]):
        return None
    return _less_one(found[0], ref_of(pod).name, now)


def evicted(pod: Json, now: str) -> Json:
    """The pod with the condition that says why it is evicted."""
    status = disrupted(pod, "EvictionByEvictionAPI", "Eviction API: evicting", now)
    return {**pod, "status": status}


def _covers(budget: Json, pod: Json) -> bool:
    selector = dig(budget, "spec", "selector")
    return selector is not None and selects(selector, pod)


def _idle(pod: Json) -> bool:
    phase = dig(pod, "status", "phase")
    return phase in (*FINISHED, "Pending") or bool(dig(pod, "metadata", "deletionTimestamp"))


def _spares_the_unready(budget: Json) -> bool:
    """Whether a pod that is not ready may be evicted without a charge to the budget."""
    if dig(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    needed = int(dig(budget, "status", "desiredHealthy") or 0)
    return 0 < needed <= int(dig(budget, "status", "currentHealthy") or 0)


def _less_one(budget: Json, pod: str, now: str) -> Json:
    status = budget.get("status") or {}
    seen = int(status.get("observedGeneration") or 0)
    known = seen >= int(dig(budget, "metadata", "generation") or 1)
    allowed = int(status.get("disruptionsAllowed") or 0)
    if not known or allowed <= 0:
        raise ApiError(429, "TooManyRequests", _VIOLATED)
    left = {
        **status,
        "disruptionsAllowed": allowed - 1,
        "disruptedPods": {**(status.get("disruptedPods") or {}), pod: now},
    }
    return {**budget, "status": left}
