"""`get -w`: watch a live cluster and print changed lines until Ctrl-C.

Every kind that a table depends on is listed and then watched. Changed objects are kept as plain
JSON. A moment later the table is calculated again from all of them, and the rows that differ are
printed. A watch that ends is continued; a watch that is too old starts with a new list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from headroom.cli.dialects import chosen
from headroom.cli.formats.progress import Progress, waiting
from headroom.cli.live.dialects import dialects_on
from headroom.cli.live.object_reader import Hidden, LiveReader, copied
from headroom.cli.output import say
from headroom.cli.source import Where, World, decoded
from headroom.cli.views.tables import key_of
from headroom.core.objects import Key
from headroom.kube.client import Client
from headroom.kube.errors import CannotReach, Expired
from headroom.kube.kubeconfig import find_access
from headroom.kube.lines import LineSplitter
from headroom.wire.kinds import HEADROOMS, HOLDS, Resource

Json = Mapping[str, Any]
SETTLE = 0.2  # Changes arrive in bursts; one refresh for each burst is enough.
QUIET = 400.0  # A server ends a watch sooner than this.
LAST = 300
PAUSES = (0.5, 1.0, 2.0, 5.0)


async def worlds(where: Where) -> AsyncIterator[World]:
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
        self._where = where
        self._speech = chosen(where.dialects)
        self._reader = LiveReader(client, where, Hidden())
        self._items: dict[Resource, dict[Key, Json]] = {}

    async def begin(self, progress: Progress) -> World:
        """List everything once."""
        self._reader = replace(self._reader, progress=progress)
        self._speech = chosen((*self._where.dialects, *await dialects_on(self._client)))
        foreign = self._speech.foreign if self._where.foreign else ()
        self.kinds = tuple(dict.fromkeys((*self._where.kinds, *foreign)))
        for resource in self.kinds:
            await self._list(resource)
        for resource in copied(self.world()):
            await self._list(resource)
            self.kinds = (*self.kinds, resource)
        if told := self._reader.hidden.told(self._reader.where.namespace):
            say(told)
        return self.world()

    async def _list(self, resource: Resource) -> None:
        optional = resource in (HOLDS, HEADROOMS, *self._speech.foreign)
        found = await self._reader.read(resource, optional)
        self._items[resource] = {key_of(item): item for item in found}

    def world(self) -> World:
        """The current objects."""
        raw = [item for items in self._items.values() for item in items.values()]
        world = decoded(raw, tuple(self._items), datetime.now(UTC), self._speech)
        return self._reader.hidden.marked(world)

    async def follow(self, resource: Resource) -> None:
        """Watch one kind, and reconnect after errors."""
        failures = 0
        while resource in self._reader.versions:  # Not served, or forbidden: it stays empty.
            try:
                async for line in self._lines(resource):
                    self._take(resource, line)
                    failures = 0
            except Expired:
                await self._list(resource)
                self.changed.set()
            except CannotReach as trouble:
                pause = PAUSES[min(failures, len(PAUSES) - 1)]
                failures += 1
                say(f"note: {trouble.message}; trying again in {pause:g}s")
                await asyncio.sleep(pause)

    async def _lines(self, resource: Resource) -> AsyncIterator[bytes]:
        namespace, version = self._reader.versions[resource]
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(LAST),
            "resourceVersion": version,
        }
        path = f"{resource.path(namespace)}?{urlencode(query)}"
        async with self._client.stream(path, f"watch {resource}", QUIET) as chunks:
            lines = LineSplitter()
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    yield line

    def _take(self, resource: Resource, line: bytes) -> None:
        event = msgspec.json.decode(line, type=dict[str, Any])
        item, type_ = event.get("object") or {}, event.get("type")
        if type_ == "ERROR":
            raise Expired(int(item.get("code") or 0), f"watch {resource}: {item.get('message')}")
        version = str((item.get("metadata") or {}).get("resourceVersion") or "")
        namespace, _ = self._reader.versions[resource]
        self._reader.versions[resource] = (namespace, version)
        if type_ == "BOOKMARK":
            return
        items = self._items[resource]
        if type_ == "DELETED":
            items.pop(key_of(item), None)
        else:
            items[key_of(item)] = item
        self.changed.set()
