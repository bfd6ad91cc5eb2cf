"""What a question is asked about: a live cluster, or files that say how one was.

`get` and `explain` read objects as plain JSON, so that they can print them unchanged, and as core
values, so that they can reason. A simulation's Result, a dump and manifests are all just objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from headroom.cli.errors import Misuse
from headroom.cli.output import say
from headroom.core.holds import Hold
from headroom.core.objects import Namespace, Node, Pod
from headroom.kube.answers import no_kubernetes
from headroom.kube.client import Client
from headroom.kube.errors import NoSuchKind
from headroom.kube.kubeconfig import find_access
from headroom.wire.decode import thing_from
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import HOLDS, NAMESPACES, NODES, PODS, Resource, find_kind
from headroom.wire.times import parse_time
from headroom.wire.yamls import load

Json = Mapping[str, Any]
WATCHED = (NODES, NAMESPACES, PODS, HOLDS)
PAGE = 500
RESULT_KIND = "Result"


@dataclass(frozen=True, slots=True)
class Where:
    """Which cluster or which files, as the command line named them."""

    files: tuple[Path, ...] = ()
    kubeconfig: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """Objects as they were at `now`; `raw` and the decoded values are of the same objects."""

    raw: tuple[Json, ...]
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    holds: tuple[Hold, ...]
    namespaces: tuple[Namespace, ...]
    now: datetime

    def of(self, resource: Resource) -> list[Json]:
        """The raw objects of one kind, by namespace and name."""
        found = [item for item in self.raw if item.get("kind") == resource.kind]
        return sorted(found, key=_place)


def read_world(where: Where) -> World:
    """Read everything the question may need."""
    if where.files:
        return _from_files(where.files)
    return asyncio.run(_from_cluster(where))


def _from_files(files: Sequence[Path]) -> World:
    raw: list[Json] = []
    now: datetime | None = None
    for path in files:
        for item in load(_text(path), str(path)):
            if item.data.get("kind") == RESULT_KIND:
                raw += _objects_of(item.data, path)
                now = _end_of(item.data, path) or now
            else:
                raw.append(item.data)
    return _decoded(raw, now or datetime.now(UTC))


async def _from_cluster(where: Where) -> World:
    client = Client(find_access(where.kubeconfig, where.context))
    try:
        raw: list[Json] = []
        for resource in WATCHED:
            raw += await _listed(client, resource)
        return _decoded(raw, datetime.now(UTC))
    finally:
        await client.close()


async def _listed(client: Client, resource: Resource) -> list[Json]:
    """List one kind, page by page; a cluster without our kinds simply has none of them."""
    found: list[Json] = []
    token = ""
    while True:
        query = f"?limit={PAGE}" + (f"&continue={quote(token)}" if token else "")
        try:
            page = await _page(client, resource, query)
        except NoSuchKind as missing:
            if resource != HOLDS:
                raise no_kubernetes(client.access.endpoint.server) from missing
            say(f"note: {missing.message}; {missing.hint}")
            return []
        names = {"apiVersion": resource.api_version, "kind": resource.kind}
        found += [{**names, **item} for item in page.get("items") or []]
        token = page.get("metadata", {}).get("continue") or ""
        if not token:
            return found


async def _page(client: Client, resource: Resource, query: str) -> dict[str, Any]:
    body = await client.get(resource.path() + query, f"list {resource}")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as nonsense:
        raise no_kubernetes(client.access.endpoint.server) from nonsense


def _decoded(raw: Sequence[Json], now: datetime) -> World:
    """Decode what we know; an object that cannot be read is named and passed over."""
    things: list[Node | Pod | Hold | Namespace] = []
    readable: list[Json] = []
    for item in raw:
        resource = find_kind(str(item.get("apiVersion", "")), str(item.get("kind", "")))
        if resource not in WATCHED:
            continue
        try:
            things.append(thing_from(resource, item))
            readable.append(item)
        except DecodeError as trouble:
            say(f"note: passed over {trouble.message}")
    return World(
        raw=tuple(readable),
        nodes=tuple(thing for thing in things if isinstance(thing, Node)),
        pods=tuple(thing for thing in things if isinstance(thing, Pod)),
        holds=tuple(thing for thing in things if isinstance(thing, Hold)),
        namespaces=tuple(thing for thing in things if isinstance(thing, Namespace)),
        now=now,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as trouble:
        raise Misuse(f"--from {path}: {trouble.strerror or trouble}") from trouble
    except UnicodeDecodeError as trouble:
        raise Misuse(f"--from {path}: not a text file") from trouble


def _objects_of(result: Json, path: Path) -> list[Json]:
    objects = result.get("objects") or []
    if not isinstance(objects, list):
        raise Misuse(f"--from {path}: objects: a list is expected")
    for index, item in enumerate(objects):
        if not isinstance(item, Mapping):
            raise Misuse(f"--from {path}: objects[{index}]: fields with names are expected")
    return objects


def _end_of(result: Json, path: Path) -> datetime | None:
    end = result.get("end")
    try:
        return parse_time(str(end)) if end else None
    except ValueError as trouble:
        raise Misuse(f"--from {path}: end: {trouble}") from trouble


def _place(item: Json) -> tuple[str, str]:
    metadata = item.get("metadata") or {}
    return (str(metadata.get("namespace", "")), str(metadata.get("name", "")))
