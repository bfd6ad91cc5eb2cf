"""PodDisruptionBudgets: how many more pods may go, worked out for whoever asks before evicting.

kube-scheduler's preemption reads `status.disruptionsAllowed`. The eviction API is not modelled.
"""

from __future__ import annotations

from math import ceil

from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Change
from headroom.sim.api.values import Json, Ref, dig, put, ref_of
from headroom.sim.controllers.base import Controller
from headroom.sim.controllers.keeping import is_ready
from headroom.sim.selecting import selects
from headroom.sim.stage import Stage


class Budgets(Controller):
    """Keeps the status of every PodDisruptionBudget."""

    name = "disruption-controller"

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.watch("PodDisruptionBudget")
        self.store.listen("Pod", self._on_pod)

    def _on_pod(self, change: Change) -> None:
        for item in self.store.list("PodDisruptionBudget", change.ref.namespace):
            if selects(dig(item, "spec", "selector"), change.obj):
                self.enqueue(ref_of(item))

    async def sync(self, ref: Ref) -> None:
        budget = self.store.get(ref)
        if budget is None:
            return
        pods = [
            pod
            for pod in self.store.list("Pod", ref.namespace)
            if selects(dig(budget, "spec", "selector"), pod)
            and dig(pod, "status", "phase") not in FINISHED
        ]
        healthy = sum(
            1 for pod in pods if is_ready(pod) and not dig(pod, "metadata", "deletionTimestamp")
        )
        needed = _needed(budget, len(pods))
        status = {
            "observedGeneration": dig(budget, "metadata", "generation"),
            "expectedPods": len(pods),
            "currentHealthy": healthy,
            "desiredHealthy": needed,
            "disruptionsAllowed": max(0, healthy - needed) if pods else 0,
        }
        if budget.get("status") != status:
            self.server.update(put(budget, status, "status"), "status")


def _needed(budget: Json, expected: int) -> int:
    """How many pods must stay; a share is rounded up either way."""
    least = dig(budget, "spec", "minAvailable")
    if least is not None:
        return _amount(least, expected)
    most = dig(budget, "spec", "maxUnavailable")
    return max(0, expected - _amount(most, expected)) if most is not None else 0


def _amount(value: int | str, whole: int) -> int:
    text = str(value)
    return ceil(int(text[:-1]) * whole / 100) if text.endswith("%") else int(text)
