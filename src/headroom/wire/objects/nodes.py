"""Nodes and namespaces from their JSON: only what placing and matching look at.

A node's heartbeat changes nothing here, so two readings of a node that only beat are equal but for
their version.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Raw

from headroom.core.names import LIMITS_ANNOTATION
from headroom.core.objects import Namespace, Node, Taint
from headroom.wire.amounts import amounts_of
from headroom.wire.errors import DecodeError
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.metadata import annotations_of, labels_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Reader, Time, about, spelling, to_text
from headroom.wire.times import bounded


class _Taint(JsonObject):
    key: str | None = None
    value: str | None = None
    effect: str | None = None


class _NodeSpec(JsonObject):
    unschedulable: bool | None = None
    taints: Raw = ABSENT


class _NodeCondition(JsonObject):
    type: str | None = None
    status: str | None = None
    last_transition_time: Time | None = None


class _NodeStatus(JsonObject):
    allocatable: Raw = ABSENT
    conditions: list[_NodeCondition] | None = None


class _NodeObject(JsonObject):
    metadata: Metadata | None = None
    spec: _NodeSpec | None = None
    status: _NodeStatus | None = None


class _NamespaceObject(JsonObject):
    metadata: Metadata | None = None


_read_node = Reader(_NodeObject)
_read_namespace = Reader(_NamespaceObject)
_read_taints = Reader(list[_Taint])


def decode_node(data: bytes | Raw) -> Node:
    """Read a node; DecodeError names the node and the path of what is wrong."""
    try:
        return _node(_read_node(data))
    except DecodeError as error:
        raise about("Node", data, error) from error


def node_from(thing: Mapping[str, Any]) -> Node:
    """Read a node held as plain dicts."""
    return decode_node(to_text("Node", thing))


def decode_namespace(data: bytes | Raw) -> Namespace:
    """Read a namespace; DecodeError names it and the path of what is wrong."""
    try:
        metadata = _read_namespace(data).metadata or Metadata()
        version = metadata.resource_version or ""
        limits = annotations_of(metadata).get(LIMITS_ANNOTATION, "")
        return Namespace(metadata.name or "", labels_of(metadata), version, limits)
    except DecodeError as error:
        raise about("Namespace", data, error) from error


def namespace_from(thing: Mapping[str, Any]) -> Namespace:
    """Read a namespace held as plain dicts."""
    return decode_namespace(to_text("Namespace", thing))


def _node(node: _NodeObject) -> Node:
    metadata = node.metadata or Metadata()
    spec = node.spec or _NodeSpec()
    status = node.status or _NodeStatus()
    return Node(
        name=metadata.name or "",
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        labels=labels_of(metadata),
        annotations=annotations_of(metadata),
        taints=_taints(spelling(spec.taints)),
        unschedulable=bool(spec.unschedulable),
        allocatable=amounts_of(spelling(status.allocatable), "status.allocatable"),
        ready=_ready(status.conditions),
        created=bounded(metadata.creation_timestamp),
        deleted=bounded(metadata.deletion_timestamp),
        unready_since=_unready_since(status.conditions),
    )


def _ready(conditions: list[_NodeCondition] | None) -> bool:
    """Whether the node says so of itself; one that says nothing is not ready."""
    return any(each.type == "Ready" and each.status == "True" for each in conditions or ())


def _unready_since(conditions: list[_NodeCondition] | None) -> datetime | None:
    for each in conditions or ():
        if each.type == "Ready" and each.status != "True":
            return bounded(each.last_transition_time)
    return None


def _read_node_taints(text: bytes) -> tuple[Taint, ...]:
    return tuple(
        Taint(taint.key or "", taint.value or "", taint.effect or "")
        for taint in _read_taints(text or b"[]", "spec.taints")
    )


_taints: Interned[bytes, tuple[Taint, ...]] = Interned(_read_node_taints, limit=1024)
