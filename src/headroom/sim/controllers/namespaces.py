"""Namespaces that are being deleted: first their content, then the namespace."""

from __future__ import annotations

from headroom.sim.actor_context import ActorContext
from headroom.sim.api.values import Ref, dig, ref_of
from headroom.sim.controllers.base import Controller

_AGAIN = 1.0


class Namespaces(Controller):
    """Empties and removes terminating namespaces."""

    name = "namespace-controller"

    def __init__(self, stage: ActorContext) -> None:
        super().__init__(stage)
        self.watch("Namespace")

    async def sync(self, ref: Ref) -> None:
        namespace = self.store.get(ref)
        if namespace is None or not dig(namespace, "metadata", "deletionTimestamp"):
            return
        left = [
            obj
            for kind, facts in sorted(self.store.registry.items())
            if facts.namespaced
            for obj in self.store.list(kind, ref.name)
        ]
        for obj in left:
            if not dig(obj, "metadata", "deletionTimestamp"):
                self.server.delete(ref_of(obj))
        if left:
            self.enqueue(ref, after=_AGAIN)
        else:
            self.store.remove(namespace)
