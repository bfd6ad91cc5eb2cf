"""Read objects of a live cluster once, with the user's permissions.

Whole kinds are requested first, because the free room of a node depends on all pods. A user with
permissions in one namespace gets that namespace. One line reports what could not be read. The world
remembers it, so that no answer claims to know it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import msgspec

from headroom.cli.dialects import chosen
from headroom.cli.formats.progress import Progress, waiting
from headroom.cli.live.dialects import dialects_on
from headroom.cli.output import say
from headroom.cli.source import Where, World, decoded
from headroom.core.headrooms.headrooms import NODE_CHUNK
from headroom.kube.answers import no_kubernetes
from headroom.kube.client import Client
from headroom.kube.errors import NoSuchKind, RequestForbidden
from headroom.kube.kubeconfig import find_access
from headroom.wire import kinds
from headroom.wire.errors import UNREADABLE_JSON
from headroom.wire.objects.needed import ANNOUNCING

Json = Mapping[str, Any]
PAGE = 500
# Without the permission to list them, none are assumed.
DETAILS = (kinds.RESOURCE_QUOTAS, kinds.BUDGETS, kinds.VOLUME_CLAIMS, kinds.AUTOSCALERS)
ASK_FOR_LESS = "permissions in one namespace are enough for that namespace: -n NAMESPACE"


@dataclass(slots=True)
class Hidden:
    """What the user may not list: whole kinds, and kinds outside one namespace."""

    whole: list[kinds.Resource] = field(default_factory=list)
    elsewhere: list[kinds.Resource] = field(default_factory=list)

    def told(self, namespace: str) -> str:
        """One line about it; empty if everything was visible."""
        parts = []
        if self.whole:
            parts.append(_listed([each.plural for each in self.whole]))
        if self.elsewhere:
            names = _listed([each.plural for each in self.elsewhere])
            parts.append(f"{names} outside of namespace {namespace}")
        if not parts:
            return ""
        return f"note: you may not list {' and '.join(parts)}: the output leaves them out"

    def marked(self, world: World) -> World:
        """The world, with a note of what was not visible."""
        return replace(
            world,
            unseen=frozenset(each.plural for each in self.whole),
            unseen_elsewhere=frozenset(each.plural for each in self.elsewhere),
        )


def _listed(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


async def read_cluster(where: Where) -> World:
    """Read everything that the command may need; raise errors about kinds in `needed`."""
    async with Client(find_access(where.kubeconfig, where.context)) as client:
        with waiting(f"asking {client.access.endpoint.server}") as progress:
            _, world = await read_all(LiveReader(client, where, Hidden(), progress=progress))
            return world


async def read_all(reader: LiveReader) -> tuple[dict[kinds.Resource, list[Json]], World]:
    """List every kind that the command may need: as plain JSON by kind, and as one world."""
    where = reader.where
    codecs = chosen((*where.dialects, *await dialects_on(reader.client)))
    foreign = codecs.foreign if where.foreign else ()
    optional = (kinds.HOLDS, kinds.HEADROOMS, *codecs.foreign)
    found: dict[kinds.Resource, list[Json]] = {}
    for resource in dict.fromkeys((*where.kinds, *foreign)):
        found[resource] = await reader.read(resource, resource in optional)
    raw = [item for items in found.values() for item in items]
    world = decoded(raw, tuple(found), datetime.now(UTC), codecs)
    for resource in (each for each in copied(world) if each not in found):
        found[resource] = await reader.read(resource)
        more = decoded(found[resource], (resource,), world.now, codecs)
        world = replace(
            world,
            raw=world.raw + more.raw,
            workloads=world.workloads + more.workloads,
            autoscalers=world.autoscalers + more.autoscalers,
        )
    if told := reader.hidden.told(where.namespace):
        say(told)
    return found, reader.hidden.marked(world)


def copied(world: World) -> list[kinds.Resource]:
    """The kinds of workload that a headroom's slots copy, or run beside on every node."""
    copying = {each.slot.source.kind for each in world.headrooms if each.slot.source is not None}
    if any(each.slot.chunk == NODE_CHUNK for each in world.headrooms):
        copying.add(kinds.DAEMON_SETS.kind)
    if any(each.slot.auto is not None for each in world.headrooms):
        copying |= {each.kind for each in ANNOUNCING}
    known = filter(world.codecs.reads, (*kinds.WORKLOADS, kinds.POD_TEMPLATES, kinds.AUTOSCALERS))
    return [resource for resource in known if resource.kind in copying]


@dataclass(frozen=True, slots=True)
class LiveReader:
    """Lists kinds as widely as the command needs and the permissions allow.

    `versions` has the namespace (empty: all) and the version of each list, for watches.
    """

    client: Client
    where: Where
    hidden: Hidden
    versions: dict[kinds.Resource, tuple[str, str]] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)

    async def read(self, resource: kinds.Resource, optional: bool = False) -> list[Json]:
        """List one kind; empty without permission, unless the command is about this kind."""
        where = self.where
        local = where.namespace if where.local and resource.namespaced else ""
        try:
            return await self._listed(resource, local, optional)
        except RequestForbidden as refused:
            if where.namespace and not local:
                return await self._less(resource, optional, refused)
            if resource in where.needed or (resource.namespaced and resource not in DETAILS):
                raise _with_hint(refused, resource, where) from refused
            self.hidden.whole.append(resource)
            return []

    async def _less(
        self, resource: kinds.Resource, optional: bool, refused: RequestForbidden
    ) -> list[Json]:
        """One namespace's objects of a kind that may not be listed in the whole cluster."""
        where = self.where
        if resource == kinds.NAMESPACES:
            found = await self._own_namespace()
            (self.hidden.elsewhere if found else self.hidden.whole).append(resource)
            return found
        if resource in where.everywhere or not resource.namespaced:
            if resource in where.needed:
                raise refused
            self.hidden.whole.append(resource)
            return []
        try:
            found = await self._listed(resource, where.namespace, optional)
        except RequestForbidden as here:
            if resource in where.needed:
                raise here from refused
            self.hidden.whole.append(resource)
            return []
        if resource != kinds.EVENTS:  # Events in other namespaces are about objects there.
            self.hidden.elsewhere.append(resource)
        return found

    async def _own_namespace(self) -> list[Json]:
        answer = await self.client.send("GET", kinds.NAMESPACES.path(name=self.where.namespace))
        if not answer.ok:
            return []
        item = msgspec.json.decode(answer.body, type=dict[str, Any])
        return [{"apiVersion": kinds.NAMESPACES.api_version, "kind": kinds.NAMESPACES.kind, **item}]

    async def _listed(self, resource: kinds.Resource, namespace: str, optional: bool) -> list[Json]:
        """List one kind, page by page; an optional kind that is not served is empty."""
        found: list[Json] = []
        token = ""
        while True:
            query = f"?limit={PAGE}" + (f"&continue={quote(token)}" if token else "")
            try:
                page = await self._page(resource, namespace, query)
            except NoSuchKind as missing:
                if not optional or not (await self.client.send("GET", "/api")).ok:
                    raise no_kubernetes(self.client.access.endpoint.server) from missing
                say(f"note: {missing.message}; {missing.hint}")
                return []
            names = {"apiVersion": resource.api_version, "kind": resource.kind}
            found += [{**names, **item} for item in page.get("items") or []]
            self.progress.tell(f"reading {resource.plural}: {len(found)} so far")
            token = page.get("metadata", {}).get("continue") or ""
            if not token:
                version = str(page.get("metadata", {}).get("resourceVersion") or "")
                self.versions[resource] = (namespace, version)
                return found

    async def _page(self, resource: kinds.Resource, namespace: str, query: str) -> dict[str, Any]:
        what = f"list {resource}" + (f" in namespace {namespace}" if namespace else "")
        body = await self.client.get(resource.path(namespace) + query, what)
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except UNREADABLE_JSON as nonsense:
            raise no_kubernetes(self.client.access.endpoint.server) from nonsense


def _with_hint(
    refused: RequestForbidden, resource: kinds.Resource, where: Where
) -> RequestForbidden:
    """Add a hint that listing one namespace may be enough."""
    if not resource.namespaced or where.namespace:
        return refused
    return RequestForbidden(refused.status, refused.message, ASK_FOR_LESS, refused.retry_after)
