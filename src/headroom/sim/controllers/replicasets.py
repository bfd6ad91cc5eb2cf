"""ReplicaSets: as many pods as asked for, those of its selector adopted, surplus ones removed.

The order in which surplus pods go is the real controller's: unassigned before assigned, pending
before running, not ready before ready, newer before older.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headroom.sim.api.pods import FINISHED
from headroom.sim.api.store import Change, Verb
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


@dataclass(slots=True)
class _Tally:
    """The pods of one ReplicaSet that count, and those of them that are ready."""

    active: dict[Ref, None] = field(default_factory=dict)
    ready: set[Ref] = field(default_factory=set)

    def note(self, pod: Json, gone: bool) -> None:
        ref = ref_of(pod)
        self.active.pop(ref, None)
        self.ready.discard(ref)
        if not gone and _is_active(pod):
            self.active[ref] = None
            if is_ready(pod):
                self.ready.add(ref)


class ReplicaSets(Controller):
    """Keeps every ReplicaSet's pods in number."""

    name = "replicaset-controller"

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._tallies: dict[str, _Tally] = {}
        self.watch("ReplicaSet")
        self.store.listen("Pod", self._on_pod)

    def on_change(self, change: Change) -> None:
        self.enqueue(change.ref)
        if change.verb is Verb.DELETED:
            self._tallies.pop(uid_of(change.obj), None)

    def _on_pod(self, change: Change) -> None:
        owner = controller_of(change.obj)
        if owner is not None and owner["kind"] == "ReplicaSet":
            self._tally(owner["uid"]).note(change.obj, change.verb is Verb.DELETED)
            self.enqueue(Ref("ReplicaSet", change.ref.namespace, owner["name"]))
        elif owner is None and change.verb is Verb.ADDED:
            for item in self.store.list("ReplicaSet", change.ref.namespace):
                if selects(dig(item, "spec", "selector"), change.obj):
                    self.enqueue(ref_of(item))

    def _tally(self, uid: str) -> _Tally:
        return self._tallies.setdefault(uid, _Tally())

    async def sync(self, ref: Ref) -> None:
        wish = self.store.get(ref)
        if wish is None or dig(wish, "metadata", "deletionTimestamp"):
            return
        self._adopt(wish)
        tally = self._tally(uid_of(wish))
        missing = _replicas(wish) - len(tally.active)
        for _ in range(missing):
            await self.turn()
            if not self._create(ref, uid_of(wish)):
                break
        if missing < 0:
            pods = [pod for pod in map(self.store.get, tally.active) if pod is not None]
            for pod in sorted(pods, key=_keep_rank)[:-missing]:
                await self.turn()
                self._delete(ref, pod)
        self._write_status(ref)

    def _adopt(self, wish: Json) -> None:
        for pod in self.stage.pods.strays(ref_of(wish).namespace):
            if _is_active(pod) and selects(dig(wish, "spec", "selector"), pod):
                references = [*(dig(pod, "metadata", "ownerReferences") or ()), reference_to(wish)]
                self.server.update(put(pod, references, "metadata", "ownerReferences"))

    def _create(self, ref: Ref, uid: str) -> bool:
        wish = self.store.get(ref)
        if wish is None or uid_of(wish) != uid:
            return False
        if len(self._tally(uid).active) >= _replicas(wish):
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
        tally = self._tally(uid_of(wish))
        present, ready = len(tally.active), len(tally.ready)
        status = {
            "replicas": present,
            "fullyLabeledReplicas": present,
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
