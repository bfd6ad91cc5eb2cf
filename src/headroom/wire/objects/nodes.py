"""Nodes and namespaces from their JSON: only what placing and matching look at.

A node's heartbeat changes nothing here, so two readings of a node that only beat are equal but for
their version.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Raw

from headroom.core.names import LIMITS_ANNOTATION
from headroom.core.objects import Namespace, Node, Taint
from headroom.wire.amounts import amounts_of
from headroom.wire.objects.codec import TEXT, Codec
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.metadata import annotations_of, labels_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Decoder, Time, spelling
from headroom.wire.times import bounded


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


def _namespace(namespace: _NamespaceObject) -> Namespace:
    metadata = namespace.metadata or Metadata()
    version = metadata.resource_version or ""
    limits = annotations_of(metadata).get(LIMITS_ANNOTATION, "")
    return Namespace(metadata.name or "", labels_of(metadata), version, limits)


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


_TAINT = Codec(Taint, key=TEXT, value=TEXT, effect=TEXT)
_taints: Interned[bytes, tuple[Taint, ...]] = Interned(
    lambda text: _TAINT.decode_list(text, "spec.taints"), limit=1024
)
decode_node = Decoder("Node", _NodeObject, _node)
decode_namespace = Decoder("Namespace", _NamespaceObject, _namespace)
node_from = decode_node.plain
namespace_from = decode_namespace.plain
