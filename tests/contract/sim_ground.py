"""The embedded API server as ground: no scheduler, no controllers, so that nothing moves but us."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headroom.core.actions import Outcome
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.indexes import PodIndex
from headroom.sim.api.server import ApiServer
from headroom.sim.api.store import Store
from headroom.sim.api.values import Ref, uid_of
from headroom.sim.cluster import SimCluster
from headroom.sim.faults import Faults
from headroom.sim.loop import SimClock, VirtualLoop
from headroom.sim.preloaded import preloaded
from headroom.sim.settings import Settings
from headroom.sim.world import START
from headroom.wire.kinds import Resource
from headroom.wire.writes import Write
from tests.contract.ground import Json


def _ignore(write: Write, outcome: Outcome) -> None:
    return


class SimGround:
    """An embedded API server by itself, and a SimCluster that reaches it."""

    def __init__(self) -> None:
        self.namespace = "contract"
        self._loop = VirtualLoop()
        clock = SimClock(self._loop, START)
        self._server = ApiServer(Store(clock.now, seed=0))
        for item in preloaded():
            self._server.create(item)
        index = PodIndex(self._server.store)
        stage = ActorContext(self._loop, clock, self._server, index, Settings(), seed=0)
        self.cluster = SimCluster(stage, Faults(), _ignore, "contract")
        self._server.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        )

    def run(self, story: Coroutine[Any, Any, None]) -> None:
        try:
            self._loop.run_until_complete(story)
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def make(self, resource: Resource, manifest: Json) -> str:
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        metadata = {**manifest["metadata"], "namespace": self.namespace}
        return uid_of(self._server.create({**manifest, **kind, "metadata": metadata}))

    async def look(self, resource: Resource, name: str) -> Json | None:
        found = self._server.store.get(self._ref(resource, name))
        return None if found is None else dict(found)

    async def remove(self, resource: Resource, name: str) -> None:
        self._server.delete(self._ref(resource, name), grace=0)

    def _ref(self, resource: Resource, name: str) -> Ref:
        return Ref(resource.kind, self.namespace if resource.namespaced else "", name)
