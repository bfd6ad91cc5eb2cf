"""Deployments: a ReplicaSet for each template, and the rollout from the old one to the new one.

Rolling updates respect maxSurge and maxUnavailable as the real controller does; Recreate waits
until the old pods are gone. Progress deadlines, rollbacks and the cleanup of old revisions are not
modelled. `rollout` calculates the sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_of,
    controller_of,
    dig,
    new_condition,
    put,
    ref_of,
    uid_of,
    with_condition,
)
from headroom.sim.controllers.base import Controller
from headroom.sim.controllers.pod_control import reference_to
from headroom.sim.controllers.revisions import template_hash
from headroom.sim.controllers.rollout import Shares, limits_of, next_step
from headroom.sim.errors import ApiError

HASH_LABEL = "pod-template-hash"
_RETRY = 1.0


class Deployments(Controller):
    """Reconciles the ReplicaSets of every Deployment."""

    name = "deployment-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self.watch("Deployment")
        self.store.listen("ReplicaSet", self._on_replica_set)

    def _on_replica_set(self, change: ObjectChange) -> None:
        owner = controller_of(change.obj)
        if owner is not None and owner["kind"] == "Deployment":
            self.enqueue(Ref("Deployment", change.ref.namespace, owner["name"]))

    async def sync(self, ref: Ref) -> None:
        wish = self.store.get(ref)
        if wish is None or dig(wish, "metadata", "deletionTimestamp"):
            return
        await self.turn()
        try:
            self._roll(ref)
        except ApiError as error:
            self.recorder.record(wish, "Warning", "ReplicaSetCreateError", error.message)
            self.enqueue(ref, after=_RETRY)
        self._write_status(ref)

    def _roll(self, ref: Ref) -> None:
        """Create the ReplicaSet of the current template, and do the next step of the rollout."""
        wish = self.store.get(ref)
        if wish is None:
            return
        sets = self._sets(wish)
        newest = _newest(wish, sets)
        if newest not in sets:
            if dig(wish, "spec", "paused"):
                return
            sets[newest] = self.server.create(_replica_set(wish, newest))
        shares = {
            name: Shares(
                wanted=int(dig(item, "spec", "replicas") or 0),
                present=int(dig(item, "status", "replicas") or 0),
                available=int(dig(item, "status", "availableReplicas") or 0),
            )
            for name, item in sets.items()
        }
        for name, replicas in next_step(newest, shares, limits_of(wish)).items():
            self._scale(wish, sets[name], replicas)

    def _sets(self, wish: Json) -> dict[str, Json]:
        """The ReplicaSets of a Deployment, oldest first."""
        return {
            ref_of(item).name: item
            for item in self.store.list("ReplicaSet", ref_of(wish).namespace)
            if (controller_of(item) or {}).get("uid") == uid_of(wish)
        }

    def _scale(self, wish: Json, item: Json, replicas: int) -> None:
        before = int(dig(item, "spec", "replicas") or 0)
        self.server.merge_patch(ref_of(item), {"spec": {"replicas": replicas}})
        way = "up" if replicas > before else "down"
        words = f"Scaled {way} replica set {ref_of(item).name} from {before} to {replicas}"
        self.recorder.record(wish, "Normal", "ScalingReplicaSet", words)

    def _write_status(self, ref: Ref) -> None:
        wish = self.store.get(ref)
        if wish is None:
            return
        sets = self._sets(wish)
        limits = limits_of(wish)
        total = _sum(sets.values(), "replicas")
        available = _sum(sets.values(), "availableReplicas")
        newest = _newest(wish, sets)
        updated = _sum((item for name, item in sets.items() if name == newest), "replicas")
        status: dict[str, Any] = {
            "observedGeneration": dig(wish, "metadata", "generation"),
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": _sum(sets.values(), "readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, limits.desired - available),
        }
        kept = {name: value for name, value in status.items() if value}
        kept["terminatingReplicas"] = _sum(sets.values(), "terminatingReplicas")
        kept["conditions"] = list(dig(wish, "status", "conditions") or ())
        before = dig(condition_of(wish, "Progressing"), "message")
        done = updated == total == available == limits.desired
        # A completed rollout stays completed, even if pods are lost later.
        done = done or (updated == total and before == _done(newest))
        enough = available >= limits.least_available
        for condition in _conditions(enough, done, newest):
            kept = with_condition(kept, condition, self.store.timestamp())
        if wish.get("status") != kept:
            self.server.update(put(wish, kept, "status"), "status")


def _newest(wish: Json, sets: Mapping[str, Json]) -> str:
    """The name of the ReplicaSet of the current template: the oldest that has it, or a new one.

    Templates are compared, not names: in a dump of a real cluster, names have other hashes.
    """
    wanted = _unmarked(dig(wish, "spec", "template") or {})
    for name, item in sets.items():
        if _unmarked(dig(item, "spec", "template") or {}) == wanted:
            return name
    return _name_for(wish)


def _unmarked(template: Json) -> Json:
    """A template without the label that only identifies its ReplicaSet."""
    labels = {**(dig(template, "metadata", "labels") or {})}
    labels.pop(HASH_LABEL, None)
    metadata = {**(template.get("metadata") or {}), "labels": labels}
    metadata.pop("creationTimestamp", None)
    return {**template, "metadata": metadata}


def _name_for(wish: Json) -> str:
    return f"{ref_of(wish).name}-{template_hash(dig(wish, 'spec', 'template') or {})}"


def _replica_set(wish: Json, name: str) -> Json:
    """The ReplicaSet of the current template of a Deployment, without pods."""
    ref = ref_of(wish)
    template = dig(wish, "spec", "template") or {}
    mark = {HASH_LABEL: template_hash(template)}
    labels = {**(dig(template, "metadata", "labels") or {}), **mark}
    selector = dig(wish, "spec", "selector") or {}
    match = {**(selector.get("matchLabels") or {}), **mark}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name,
            "namespace": ref.namespace,
            "labels": labels,
            "ownerReferences": [reference_to(wish)],
        },
        "spec": {
            "replicas": 0,
            "selector": {**selector, "matchLabels": match},
            "template": put(template, labels, "metadata", "labels"),
        },
    }


def _sum(items: Any, field: str) -> int:
    return sum(int(dig(item, "status", field) or 0) for item in items)


def _done(replica_set: str) -> str:
    return f'ReplicaSet "{replica_set}" has successfully progressed.'


def _conditions(enough: bool, done: bool, replica_set: str) -> tuple[Json, Json]:
    some = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    words = f"Deployment {'has' if enough else 'does not have'} minimum availability."
    state = "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"
    told = _done(replica_set) if done else f'ReplicaSet "{replica_set}" is progressing.'
    return (
        new_condition("Available", enough, some, words),
        new_condition("Progressing", True, state, told),
    )
