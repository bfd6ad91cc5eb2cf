"""ReplicaSets: the wanted number of pods; matching pods are adopted, surplus pods are deleted.

Surplus pods are deleted in the order of the real controller: unassigned before assigned, pending
before running, not ready before ready, newer before older.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, dig, ref_of, uid_of
from headroom.sim.controllers.pod_control import (
    PodController,
    is_active,
    is_finished,
    is_ready,
    pod_from_template,
)


@dataclass(slots=True)
class _Tally:
    """The active pods of one ReplicaSet, the ready ones among them, and those being deleted."""

    active: dict[Ref, None] = field(default_factory=dict)
    ready: set[Ref] = field(default_factory=set)
    ending: set[Ref] = field(default_factory=set)

    def note(self, pod: Json, gone: bool) -> None:
        ref = ref_of(pod)
        self.active.pop(ref, None)
        self.ready.discard(ref)
        self.ending.discard(ref)
        if not gone and is_active(pod):
            self.active[ref] = None
            if is_ready(pod):
                self.ready.add(ref)
        elif not gone and not is_finished(pod):
            self.ending.add(ref)


class ReplicaSets(PodController):
    """Reconciles the number of pods of every ReplicaSet."""

    name = "replicaset-controller"
    kind = "ReplicaSet"

    def __init__(self, stage: ActorContext) -> None:
        self._tallies: dict[str, _Tally] = {}
        super().__init__(stage)

    def on_change(self, change: ObjectChange) -> None:
        super().on_change(change)
        if change.verb is Verb.DELETED:
            self._tallies.pop(uid_of(change.obj), None)

    def pod_changed(self, owner: Json, change: ObjectChange) -> None:
        self._tally(owner["uid"]).note(change.obj, change.verb is Verb.DELETED)

    def _tally(self, uid: str) -> _Tally:
        return self._tallies.setdefault(uid, _Tally())

    async def sync(self, ref: Ref) -> None:
        wish = self.wanted(ref)
        if wish is None:
            return
        self.adopt(wish)
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
                current = self.store.get(ref)
                if current is not None:
                    self.end(current, pod)
        self._count(ref)

    def _create(self, ref: Ref, uid: str) -> bool:
        wish = self.store.get(ref)
        if wish is None or uid_of(wish) != uid:
            return False
        if len(self._tally(uid).active) >= _replicas(wish):
            return False
        template = dig(wish, "spec", "template") or {}
        pod = pod_from_template(wish, template, {"generateName": f"{ref.name}-"}, {})
        return self.make(wish, pod) is not None

    def _count(self, ref: Ref) -> None:
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
            "terminatingReplicas": len(tally.ending),
            "observedGeneration": dig(wish, "metadata", "generation"),
        }
        always = ("replicas", "terminatingReplicas")
        kept = {name: value for name, value in status.items() if value or name in always}
        self.write_status(wish, kept)


def _replicas(wish: Json) -> int:
    asked = dig(wish, "spec", "replicas")
    return 1 if asked is None else int(asked)


def _keep_rank(pod: Json) -> tuple[bool, bool, bool, tuple[int, ...], str]:
    """The sort key that puts the pods to delete first."""
    created = str(dig(pod, "metadata", "creationTimestamp"))
    newest_first = tuple(-ord(letter) for letter in created)
    return (
        bool(dig(pod, "spec", "nodeName")),
        dig(pod, "status", "phase") == "Running",
        is_ready(pod),
        newest_first,
        ref_of(pod).name,
    )
