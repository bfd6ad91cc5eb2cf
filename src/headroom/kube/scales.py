"""Objects of a kind that only a buffer names: discover it, watch it, and read its scale.

    discovery ──▶ follow ──each change of a wanted object──▶ its scale, its newest pod ──▶ reported
        ▲            │ no such kind, or no permission: reported as the reason, retried later
        └────────────┘

An error here never ends the operator: the buffer's author has to get the permission, and other
buffers are still served.
"""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from msgspec import Raw

from headroom.core.headrooms.headrooms import Workload
from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.errors import Closed, KubeError, RequestRefused
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, WatchScope, WatchTuning
from headroom.ports import Event, Lost, Seen, Thing
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import PODS, Resource
from headroom.wire.objects import scales

AGAIN_S = 30.0


class UnservedKind(KubeError):
    """The kind does not exist, or it cannot be scaled."""


class ScaledKind:
    """Watches one such kind as long as the cluster is watched."""

    def __init__(
        self,
        client: Client,
        kind: scales.ForeignKind,
        listener: Listener,
        tuning: WatchTuning | None = None,
    ) -> None:
        self._client = client
        self._kind = kind
        self._listener = listener
        self._tuning = tuning
        self._wanted: dict[Key, None] = {}
        self._there: dict[Key, Workload] = {}
        self._resource: Resource | None = None
        self._trouble = ""
        self._begun = False

    async def want(self, key: Key) -> None:
        """A buffer names one of its objects."""
        if key in self._wanted:
            return
        self._wanted[key] = None
        if key in self._there:
            await self._tell([Seen(self._there[key])])
        elif self._trouble:
            await self._listener.tell([Seen(scales.unusable(self._kind, key, self._trouble))])

    async def run(self) -> None:
        """Discover the kind, watch it, and start again after errors, until cancelled."""
        while True:
            try:
                self._resource = await self._discovered()
                listener = Listener(self._tell, self._listed, self._listener.trouble)
                scope = WatchScope(self._resource, must_exist=True)
                await Informer(self._client, scope, listener, self._tuning, self._decode).run()
            except Closed:
                raise
            except KubeError as error:
                await self._explain(error)
                await asyncio.sleep(AGAIN_S)

    async def _discovered(self) -> Resource:
        kind, version = self._kind, "v1"
        if kind.group:
            what = f"look for {kind}"
            version = scales.preferred_version(await self._client.get(f"/apis/{kind.group}", what))
        root = Resource(kind.group, version, "", kind.kind).root
        found = scales.served_as(kind, version, await self._client.get(root, f"look for {kind}"))
        if isinstance(found, str):
            raise UnservedKind(found)
        return found

    def _decode(self, resource: Resource, data: bytes | Raw) -> Thing:
        return scales.unread(self._kind, data)

    async def _tell(self, batch: list[Event]) -> None:
        told: list[Event] = []
        for event in batch:
            match event:
                case Seen(Workload() as found):
                    self._there[found.key] = found
                    if found.key in self._wanted:
                        told.append(Seen(await self._asked(found)))
                case Lost(Workload() as lost):
                    self._there.pop(lost.key, None)
                    told.append(event)
                case _:
                    pass
        if told:
            await self._listener.tell(told)

    async def _asked(self, found: Workload) -> Workload:
        """An object with its scale; if the scale cannot be read, with the reason."""
        resource, key = self._resource, found.key
        if resource is None:
            return found
        try:
            path = resource.path(key.namespace, key.name, "scale")
            scale = await self._client.get(path, f"read the scale of {resource}")
            labels = scales.selector_of(scale)
            if not labels:
                return scales.unusable(self._kind, key, "its scale names no pods (status.selector)")
            pods = await self._client.get(
                f"{PODS.path(key.namespace)}?labelSelector={quote(labels)}", "list pods"
            )
            return scales.scaled(self._kind, found, scale, pods)
        except (RequestRefused, DecodeError) as error:
            return scales.unusable(self._kind, key, self._words(error))

    async def _explain(self, error: KubeError) -> None:
        self._trouble = self._words(error)
        told: list[Event] = [
            Seen(scales.unusable(self._kind, key, self._trouble)) for key in self._wanted
        ]
        await self._listener.tell(told)
        await self._begin()

    def _words(self, error: Exception) -> str:
        if isinstance(error, RequestRefused) and error.status == 403:
            plural = str(self._resource) if self._resource is not None else str(self._kind)
            return (
                f"{error}; the operator needs get, list and watch on {plural} and get on its scale"
            )
        return str(error)

    async def _listed(self) -> None:
        """All objects are known: correct reports about objects that do not exist."""
        self._trouble = ""
        missing = [key for key in self._wanted if key not in self._there]
        gone: list[Event] = [Lost(scales.unusable(self._kind, key, "")) for key in missing]
        await self._listener.tell(gone)
        await self._begin()

    async def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            await self._listener.synced()
