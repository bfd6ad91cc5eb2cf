"""The garbage collector: deletes objects whose owners are all gone.

Only background propagation is modelled. An object whose owners were deleted before it was created
is deleted too, so a crash between two writes does no harm.
"""

from __future__ import annotations

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.store import COMING, GOING, META, ObjectChange, Verb
from headroom.sim.api.values import Json, Ref, ref_of, uid_of
from headroom.sim.controllers.base import Controller
from headroom.sim.errors import ApiError


class GarbageCollector(Controller):
    """Deletes objects without an existing owner."""

    name = "garbage-collector"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self._dependents: dict[str, dict[Ref, None]] = {}
        for kind in sorted(self.store.registry):
            if kind == "Pod":  # Other objects may depend even on a pod without an owner.
                self.store.listen(kind, self.on_change, COMING | META, plain=False)
                self.store.listen(kind, self._on_pod_gone, GOING)
            elif kind != "Event":
                self.store.listen(kind, self.on_change)

    def on_change(self, change: ObjectChange) -> None:
        owners = _owner_uids(change.obj)
        before = _owner_uids(change.old) if change.old is not None else []
        if change.verb is Verb.DELETED:
            for owner in owners:
                self._dependents.get(owner, {}).pop(change.ref, None)
            for ref in self._dependents.pop(uid_of(change.obj), {}):
                self.enqueue(ref)
        elif owners != before:
            for owner in owners:
                self._dependents.setdefault(owner, {})[change.ref] = None
            if any(self.store.by_uid(owner) is None for owner in owners):
                self.enqueue(change.ref)

    def _on_pod_gone(self, change: ObjectChange) -> None:
        if change.verb is Verb.DELETED and self._dependents:
            self.on_change(change)

    async def sync(self, ref: Ref) -> None:
        obj = self.store.get(ref)
        if obj is None:
            return
        owners = _owner_uids(obj)
        if not owners or any(self.store.by_uid(owner) is not None for owner in owners):
            return
        await self.turn()
        current = self.store.get(ref)
        if current is None or uid_of(current) != uid_of(obj):
            return
        try:
            self.server.delete(ref_of(obj), uid=uid_of(obj))
        except ApiError:
            self.enqueue(ref, after=1.0)


def _owner_uids(obj: Json) -> list[str]:
    return [str(owner["uid"]) for owner in obj["metadata"].get("ownerReferences") or ()]
