"""PodDisruptionBudgets: how many more pods may be disrupted.

kube-scheduler's preemption reads `status.disruptionsAllowed`. Percentages and `maxUnavailable`
refer to the size that the controllers of the pods want, as in the real controller, not to the
existing pods. If a controller has no scale, the whole budget fails and allows no disruption. The
eviction API (`api.eviction`) reduces the number until the next calculation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.kinds import Kind
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Json, Ref, controller_of, dig, ref_of, with_condition
from headroom.sim.controllers.base import Controller
from headroom.sim.controllers.pod_control import is_ending, is_ready
from headroom.sim.controllers.rollout import amount_of
from headroom.sim.selectors import selects


class _NoSizeError(Exception):
    """A controller of one of the pods has no scale."""


class Budgets(Controller):
    """Updates the status of every PodDisruptionBudget."""

    name = "disruption-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self.recorder = stage.recorder("controllermanager")  # Its component in events.
        self.watch("PodDisruptionBudget")
        self._budgets = self.store.all_of("PodDisruptionBudget")
        self.store.listen("Pod", self._on_pod)

    def _on_pod(self, change: ObjectChange) -> None:
        if not self._budgets:
            return
        for item in self.store.list("PodDisruptionBudget", change.ref.namespace):
            if selects(dig(item, "spec", "selector"), change.obj):
                self.enqueue(ref_of(item))

    async def sync(self, ref: Ref) -> None:
        budget = self.store.get(ref)
        if budget is None:
            return
        selector = dig(budget, "spec", "selector")
        pods = [pod for pod in self.store.list("Pod", ref.namespace) if selects(selector, pod)]
        if not pods:
            self.recorder.record(budget, "Normal", "NoPods", "No matching pods found")
        healthy = sum(1 for pod in pods if is_ready(pod) and not is_ending(pod))
        try:
            expected, needed = self._expected(budget, pods)
        except _NoSizeError as error:
            self._fail(budget, str(error))
            return
        allowed = max(0, healthy - needed) if expected > 0 else 0
        numbers = {
            "observedGeneration": dig(budget, "metadata", "generation"),
            "expectedPods": expected,
            "currentHealthy": healthy,
            "desiredHealthy": needed,
            "disruptionsAllowed": allowed,
        }
        kept = {"conditions": list(dig(budget, "status", "conditions") or ())}
        status = with_condition(kept, _condition(budget, allowed), self.store.timestamp())
        self._write(budget, {**numbers, **status})

    def _fail(self, budget: Json, why: str) -> None:
        """Allow no disruption; the rest of the status stays as it was."""
        words = f"Failed to calculate the number of expected pods: {why}"
        self.recorder.record(budget, "Warning", "CalculateExpectedPodCountFailed", words)
        condition = {**_condition(budget, 0), "reason": "SyncFailed", "message": why}
        known = with_condition(budget.get("status"), condition, self.store.timestamp())
        self._write(budget, {**known, "disruptionsAllowed": 0})

    def _write(self, budget: Json, status: Json) -> None:
        if budget.get("status") != status:
            self.server.update({**budget, "status": status}, "status")

    def _expected(self, budget: Json, pods: Sequence[Json]) -> tuple[int, int]:
        """How many pods are expected, and how many of them must stay healthy."""
        most = dig(budget, "spec", "maxUnavailable")
        if most is not None:
            scale = self._scale(pods)
            return scale, max(0, scale - amount_of(most, scale))
        least = dig(budget, "spec", "minAvailable")
        if str(least).endswith("%"):
            scale = self._scale(pods)
            return scale, amount_of(str(least), scale)
        return len(pods), int(least or 0)

    def _scale(self, pods: Sequence[Json]) -> int:
        """The sizes that the controllers of these pods want; pods without one do not count."""
        total = 0
        seen: set[str] = set()
        for pod in pods:
            owner = controller_of(pod)
            if owner is None or str(owner["uid"]) in seen:
                continue
            seen.add(str(owner["uid"]))
            wish = self.store.by_uid(str(owner["uid"]))
            if wish is None:
                raise _NoSizeError(f'found no controllers for pod "{ref_of(pod).name}"')
            parent = controller_of(wish) if wish["kind"] == "ReplicaSet" else None
            if parent is not None:  # A rollout has several ReplicaSets but one size.
                if str(parent["uid"]) in seen:
                    continue
                seen.add(str(parent["uid"]))
                wish = self.store.by_uid(str(parent["uid"])) or wish
            total += self._size(wish)
        return total

    def _size(self, wish: Json) -> int:
        """The scale subresource of an object."""
        kind = self.store.registry.served(str(wish["kind"]))
        if not kind.scale:
            raise _NoSizeError(f"{_group_resource(kind)} does not implement the scale subresource")
        asked = dig(wish, *kind.scale)
        if asked is None and kind.custom:
            path = "." + ".".join(kind.scale)
            where = f'the spec replicas field "{path}" does not exist'
            raise _NoSizeError(f"Internal error occurred: {where}")
        return 1 if asked is None else int(asked)


def _group_resource(kind: Kind) -> str:
    resource = kind.resource
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def _condition(budget: Json, allowed: int) -> dict[str, Any]:
    return {
        "type": "DisruptionAllowed",
        "status": "True" if allowed else "False",
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "message": "",
        "observedGeneration": dig(budget, "metadata", "generation"),
    }
