"""Answers of an API server, page by page and line by line, as core values.

A list is cut into its objects before any of them is read, and a watch line into its type and its
object: an object that cannot be read is reported beside the others, it never ends a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Raw, field

from headroom.core.fast_dataclass import dataclass
from headroom.core.objects import Key
from headroom.ports import Thing
from headroom.wire import kinds
from headroom.wire.errors import DecodeError
from headroom.wire.objects import volumes
from headroom.wire.objects.budgets import decode_budget
from headroom.wire.objects.headrooms import decode_headroom
from headroom.wire.objects.holds import decode_hold
from headroom.wire.objects.nodes import decode_namespace, decode_node
from headroom.wire.objects.podjson import JsonObject
from headroom.wire.objects.pods import decode_pod
from headroom.wire.objects.reader import (
    ABSENT,
    NOBODY,
    AnyObject,
    Identity,
    Reader,
    identity_in,
    identity_of,
    to_text,
)
from headroom.wire.objects.resourcequotas import decode_resource_quota
from headroom.wire.objects.workloads import decode_autoscaler, decode_slot_set, decode_workload
from headroom.wire.safe_decode import contained

DELETION = b'{"type":"DELETED",'  # Every API server writes the type first, without spaces.
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class _ListMeta(JsonObject):
    resource_version: str | None = None
    next_page: str | None = field(name="continue", default=None)


class _ListBody(JsonObject):
    metadata: _ListMeta | None = None
    items: list[Raw] | None = None


class _WatchLine(JsonObject):
    type: str
    object: Raw = ABSENT


class _ListedLine(JsonObject):
    type: str
    object: AnyObject | None = None


class _BookmarkMeta(JsonObject):
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _Bookmark(JsonObject):
    metadata: _BookmarkMeta | None = None


class _Status(JsonObject):
    code: int | None = None
    reason: str | None = None
    message: str | None = None


_read_list = Reader(_ListBody)
_read_line = Reader(_WatchLine)
_read_listed = Reader(_ListedLine)
_read_bookmark = Reader(_Bookmark)
_read_status = Reader(_Status)

Decode = Callable[[bytes | Raw], Thing]
DecodeThing = Callable[[kinds.Resource, bytes | Raw], Thing]
DECODERS: dict[kinds.Resource, Decode] = {
    kinds.PODS: decode_pod,
    kinds.NODES: decode_node,
    kinds.NAMESPACES: decode_namespace,
    kinds.HOLDS: decode_hold,
    kinds.HEADROOMS: decode_headroom,
    **{resource: partial(decode_workload, kind=resource.kind) for resource in kinds.WORKLOADS},
    kinds.VOLUME_CLAIMS: volumes.decode_claim,
    kinds.VOLUMES: volumes.decode_volume,
    kinds.STORAGE_CLASSES: volumes.decode_storage_class,
    kinds.CSI_NODES: volumes.decode_node_drivers,
    kinds.RESOURCE_QUOTAS: decode_resource_quota,
    kinds.BUDGETS: decode_budget,
    kinds.SLOT_SETS: decode_slot_set,
    kinds.AUTOSCALERS: decode_autoscaler,
}


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page of a list, cut into its objects, of which none has been read."""

    items: list[Raw]
    version: str
    continue_token: str = ""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch.

    `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. A bookmark has a version only, and
    `initial_end` when it ends the first list; an error has `code` and `message`. An object that
    cannot be read has no `thing` but a `problem`, and `key` and `uid` as well as they can be made
    out: the stream goes on after it.
    """

    type: str
    version: str = ""
    thing: Thing | None = None
    initial_end: bool = False
    code: int = 0
    message: str = ""
    problem: DecodeError | None = None
    key: Key | None = None
    uid: str = ""


def decode_thing(resource: kinds.Resource, data: bytes | Raw) -> Thing:
    """Read one object of a kind that we watch."""
    return contained(resource.kind, data, DECODERS[resource])


def thing_from(resource: kinds.Resource, thing: Mapping[str, Any]) -> Thing:
    """Read one object of a kind that we watch, held as plain dicts."""
    return decode_thing(resource, to_text(resource.kind, thing))


def cut_list(resource: kinds.Resource, data: bytes) -> RawPage:
    """Cut one page of a list into its objects; DecodeError if the page itself makes no sense."""
    try:
        body = _read_list(data)
    except DecodeError as error:
        raise DecodeError(f"list of {resource}", error.path, error.problem) from error
    metadata = body.metadata or _ListMeta()
    return RawPage(
        items=body.items or [],
        version=metadata.resource_version or "",
        continue_token=metadata.next_page or "",
    )


def decode_item(
    resource: kinds.Resource, raw: bytes | Raw, decode: DecodeThing = decode_thing
) -> Thing | DecodeError:
    """Read one object of a page, or say why it cannot be read."""
    try:
        return contained(resource.kind, raw, partial(decode, resource))
    except DecodeError as error:
        return error


def decode_watch(
    resource: kinds.Resource, line: bytes, decode: DecodeThing = decode_thing
) -> WatchEvent:
    """Read one line of a watch; DecodeError only if the line itself makes no sense."""
    try:
        event = _read_line(line)
        if event.type == "ERROR":
            status = _read_status(event.object, "object")
            message = status.message or status.reason or ""
            return WatchEvent("ERROR", code=status.code or 0, message=message)
        if event.type == "BOOKMARK":
            return _bookmark(event)
    except DecodeError as error:
        raise DecodeError(f"watch of {resource}", error.path, error.problem) from error
    try:
        thing = contained(resource.kind, event.object, partial(decode, resource))
    except DecodeError as error:
        return _unreadable(event, error)
    return WatchEvent(event.type, thing.version, thing)


def decode_deletion(line: bytes) -> WatchEvent | None:
    """Read only which object a line of a watch says is deleted; None for any other line.

    Whoever has seen the object needs no more, and it is a tenth of the work of reading it.
    """
    if not line.startswith(DELETION):
        return None
    try:
        found = identity_in(_read_listed(line).object)
    except DecodeError:
        return None
    if not found.name:
        return None
    return WatchEvent("DELETED", found.version, key=Key(found.namespace, found.name), uid=found.uid)


def listed_identity(line: bytes) -> Identity:
    """Which object, in which version, a line of a list shows; empty for any other line.

    A tenth of the work of reading the object.
    """
    try:
        event = _read_listed(line)
    except DecodeError:
        return NOBODY
    return identity_in(event.object) if event.type == "ADDED" else NOBODY


def _unreadable(event: _WatchLine, problem: DecodeError) -> WatchEvent:
    found = identity_of(event.object)
    key = Key(found.namespace, found.name)
    return WatchEvent(event.type, found.version, problem=problem, key=key, uid=found.uid)


def _bookmark(event: _WatchLine) -> WatchEvent:
    metadata = _read_bookmark(event.object, "object").metadata or _BookmarkMeta()
    ends = (metadata.annotations or {}).get(INITIAL_EVENTS_END) == "true"
    return WatchEvent("BOOKMARK", metadata.resource_version or "", initial_end=ends)
