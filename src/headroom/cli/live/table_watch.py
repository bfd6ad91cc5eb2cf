"""`get -w`: watch a live cluster and print changed lines until Ctrl-C.

Every kind that a table depends on is listed with the user's permissions and then watched by an
informer of `kube.watch`. Changed objects are kept as plain JSON. A moment later the table is
calculated again from all of them, and the rows that differ are printed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from headroom.cli.formats.progress import Progress, waiting
from headroom.cli.live.object_reader import Hidden, LiveReader, read_all
from headroom.cli.output import say
from headroom.cli.source import Where, World, decoded
from headroom.cli.views.tables import key_of
from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.kube.watch import Informer
from headroom.kube.watch_scope import Listener, Trouble, WatchedObject, WatchScope, WatchTuning
from headroom.ports import Seen
from headroom.wire.kind_codecs import NATIVE
from headroom.wire.kinds import Resource

Json = Mapping[str, Any]
SETTLE = 0.2  # Changes arrive in bursts; one refresh for each burst is enough.
TUNING = WatchTuning(
    quiet_seconds=400.0,  # A server ends a watch sooner than this.
    renew_seconds=(300, 300),
    first_backoff=0.5,
    attempts_to_start=1,  # Everything was listed: a refusal now is final.
)


async def worlds(where: Where) -> AsyncGenerator[World, None]:
    """Yield the world as it is, and again after every change."""
    client = Client(find_access(where.kubeconfig, where.context))
    follower = Follower(client, where)
    tasks: list[asyncio.Task[None]] = []
    try:
        with waiting(f"asking {client.access.endpoint.server}") as progress:
            first = await follower.begin(progress)
        yield first
        tasks = [asyncio.create_task(follower.follow(resource)) for resource in follower.kinds]
        while True:
            await _news(follower.changed, tasks)
            await asyncio.sleep(SETTLE)
            follower.changed.clear()
            yield follower.world()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()


async def _news(changed: asyncio.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Wait for a change; raise the error of a watch that ended."""
    news = asyncio.create_task(changed.wait())
    try:
        running: list[asyncio.Task[Any]] = [task for task in tasks if not task.done()]
        await asyncio.wait([news, *running], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done() and (trouble := task.exception()) is not None:
                raise trouble
        if not news.done():
            await news
    finally:
        news.cancel()


class Follower:
    """All objects of some kinds, kept up to date by watches."""

    def __init__(self, client: Client, where: Where) -> None:
        self.changed = asyncio.Event()
        self.kinds: tuple[Resource, ...] = ()
        self._client = client
        self._codecs = NATIVE
        self._reader = LiveReader(client, where, Hidden())
        self._items: dict[Resource, dict[Key, WatchedObject]] = {}

    async def begin(self, progress: Progress) -> World:
        """List everything once."""
        self._reader = replace(self._reader, progress=progress)
        found, world = await read_all(self._reader)
        self._codecs = world.codecs
        self.kinds = tuple(found)
        for resource, items in found.items():
            self._items[resource] = {each.key: each for each in map(_watched, items)}
        return world

    def world(self) -> World:
        """The current objects."""
        raw = [each.content for items in self._items.values() for each in items.values()]
        world = decoded(raw, tuple(self._items), datetime.now(UTC), self._codecs)
        return self._reader.hidden.marked(world)

    async def follow(self, resource: Resource) -> None:
        """Watch one kind; one that is not served, or forbidden, stays empty."""
        if resource not in self._reader.versions:
            return
        namespace, version = self._reader.versions[resource]
        scope = WatchScope(resource, namespace, must_exist=True)
        listener = Listener(partial(self._tell, self._items[resource]), _nothing, _report)
        informer = Informer(self._client, scope, listener, TUNING, _decoded)
        things: list[Any] = list(self._items[resource].values())
        informer.start_from(version, things)
        await informer.run()

    async def _tell(self, items: dict[Key, WatchedObject], batch: list[Any]) -> None:
        for event in batch:
            found: WatchedObject = event.thing
            if isinstance(event, Seen):
                items[found.key] = found
            else:
                items.pop(found.key, None)
        self.changed.set()


def _decoded(resource: Resource, data: bytes | Raw) -> Any:
    item = msgspec.json.decode(data, type=dict[str, Any])
    return _watched({"apiVersion": resource.api_version, "kind": resource.kind, **item})


def _watched(item: Json) -> WatchedObject:
    metadata = item.get("metadata") or {}
    uid, version = str(metadata.get("uid") or ""), str(metadata.get("resourceVersion") or "")
    return WatchedObject(key_of(item), uid, version, item)


def _report(trouble: Trouble) -> None:
    again = f"; trying again in {trouble.retry_in:.1f}s" if trouble.retry_in is not None else ""
    say(f"note: {trouble.message}{again}")


async def _nothing() -> None:
    """The end of a list is no news here."""
