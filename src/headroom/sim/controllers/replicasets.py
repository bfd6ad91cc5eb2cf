"""ReplicaSets: as many pods as asked for, those of its selector adopted, surplus ones removed.

The order in which surplus pods go is the real controller's: unassigned before assigned, pending
before running, not ready before ready, newer before older.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Change
from headroom.sim.api.values import (
    Json,
    Ref,
    condition_of,
    controller_of,
    dig,
    put,
    ref_of,
    uid_of,
)
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError
from headroom.sim.selecting import selects
from headroom.sim.stage import Stage

_QUOTA_PAUSE = 5.0


class ReplicaSets(Controller):
    """Keeps every ReplicaSet's pods in number."""

    name = "replicaset-controller"

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._pods: dict[str, dict[Ref, None]] = {}
        self.watch("ReplicaSet")
        self.store.listen("Pod", self._on_pod)

    def _on_pod(self, change: Change) -> None:
        owner = controller_of(change.obj)
        if owner is not None and owner["kind"] == "ReplicaSet":
            known = self._pods.setdefault(owner["uid"], {})
            known[change.ref] = None
            self.enqueue(Ref("ReplicaSet", change.ref.namespace, owner["name"]))
        elif owner is None and change.old is None:
            for item in self.store.list("ReplicaSet", change.ref.namespace):
                if selects(dig(item, "spec", "selector"), change.obj):
                    self.enqueue(ref_of(item))

    async def sync(self, ref: Ref) -> None:
        wish = self.store.get(ref)
        if wish is None or dig(wish, "metadata", "deletionTimestamp"):
            return
        self._adopt(wish)
        missing = _replicas(wish) - len(self._active(wish))
        for _ in range(missing):
            await self.turn()
            if not self._create(ref, uid_of(wish)):
                break
        if missing < 0:
            for pod in sorted(self._active(wish), key=_keep_rank)[: -_replicas(wish) or None]:
                await self.turn()
                self._delete(ref, pod)
        self._write_status(ref)

    def _adopt(self, wish: Json) -> None:
        for pod in self.store.list("Pod", ref_of(wish).namespace):
            stray = controller_of(pod) is None and dig(pod, "status", "phase") not in FINISHED
            if stray and selects(dig(wish, "spec", "selector"), pod):
                references = [*(dig(pod, "metadata", "ownerReferences") or ()), reference_to(wish)]
                self.server.update(put(pod, references, "metadata", "ownerReferences"))

    def _active(self, wish: Json) -> list[Json]:
        known = self._pods.get(uid_of(wish), {})
        found = []
        for ref in list(known):
            pod = self.store.get(ref)
            owner = controller_of(pod) if pod is not None else None
            if pod is None or owner is None or owner["uid"] != uid_of(wish):
                del known[ref]
            elif _is_active(pod):
                found.append(pod)
        return found

    def _create(self, ref: Ref, uid: str) -> bool:
        wish = self.store.get(ref)
        if wish is None or uid_of(wish) != uid or len(self._active(wish)) >= _replicas(wish):
            return False
        template = dig(wish, "spec", "template") or {}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **{k: v for k, v in (template.get("metadata") or {}).items() if k != "name"},
                "generateName": f"{ref.name}-",
                "namespace": ref.namespace,
                "ownerReferences": [reference_to(wish)],
            },
            "spec": template.get("spec") or {},
        }
        try:
            created = self.server.create(pod)
        except ApiError as error:
            words = f"Error creating: {error.message}"
            self.recorder.record(wish, "Warning", "FailedCreate", words)
            self.enqueue(ref, after=_QUOTA_PAUSE)
            return False
        words = f"Created pod: {ref_of(created).name}"
        self.recorder.record(wish, "Normal", "SuccessfulCreate", words)
        return True

    def _delete(self, ref: Ref, pod: Json) -> None:
        wish, current = self.store.get(ref), self.store.get(ref_of(pod))
        if wish is None or current is None or uid_of(current) != uid_of(pod):
            return
        self.server.delete(ref_of(pod), uid=uid_of(pod))
        words = f"Deleted pod: {ref_of(pod).name}"
        self.recorder.record(wish, "Normal", "SuccessfulDelete", words)

    def _write_status(self, ref: Ref) -> None:
        wish = self.store.get(ref)
        if wish is None:
            return
        pods = self._active(wish)
        ready = sum(1 for pod in pods if is_ready(pod))
        status = {
            "replicas": len(pods),
            "fullyLabeledReplicas": len(pods),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": dig(wish, "metadata", "generation"),
        }
        kept = {name: value for name, value in status.items() if value or name == "replicas"}
        if wish.get("status") != kept:
            self.server.update(put(wish, kept, "status"), "status")


def reference_to(owner: Json) -> dict[str, Any]:
    """An ownerReference that makes `owner` the controller."""
    ref = ref_of(owner)
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": ref.name,
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_ready(pod: Json) -> bool:
    condition = condition_of(pod, "Ready")
    return condition is not None and condition.get("status") == "True"


def _is_active(pod: Json) -> bool:
    ended = dig(pod, "status", "phase") in FINISHED
    return not ended and not dig(pod, "metadata", "deletionTimestamp")


def _replicas(wish: Json) -> int:
    asked = dig(wish, "spec", "replicas")
    return 1 if asked is None else int(asked)


def _keep_rank(pod: Json) -> tuple[bool, bool, bool, tuple[int, ...], str]:
    """Sorts the pods that go first to the front."""
    created = str(dig(pod, "metadata", "creationTimestamp"))
    newest_first = tuple(-ord(letter) for letter in created)
    return (
        bool(dig(pod, "spec", "nodeName")),
        dig(pod, "status", "phase") == "Running",
        is_ready(pod),
        newest_first,
        ref_of(pod).name,
    )
