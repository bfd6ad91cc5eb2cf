"""A pod read again after a change: what has not changed is taken from the value before.

Objects in memory share what did not change between two versions, so that a glance tells what did.
Most changes are of the status alone, or put the pod on a node. What comes out equals what `pods`
reads of the whole; where a glance does not tell, nothing comes out, and the whole must be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from datetime import datetime
from operator import attrgetter
from sys import intern
from types import MappingProxyType
from typing import Any, cast

import msgspec

from headroom.core.names import BESIDE_LABEL
from headroom.core.objects import NO_LABELS, Key, Pod
from headroom.wire.errors import DecodeError
from headroom.wire.objects.metadata import (
    KEPT_ANNOTATIONS,
    annotations_of,
    labels_of,
    owners_of,
    spelled_labels,
)
from headroom.wire.objects.podjson import JsonObject, Metadata, PodCondition
from headroom.wire.objects.pods import preempted, unschedulable
from headroom.wire.objects.reader import Reader, Time
from headroom.wire.times import bounded

Json = Mapping[str, Any]

_NAMES = tuple(each.name for each in fields(Pod))
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_values_of = attrgetter(*_NAMES)
_Draft = make_dataclass("_Draft", _NAMES, slots=True)
"""A pod that is not frozen yet: its fields are set in a quarter of the time."""

_READ = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "annotations",
    "ownerReferences",
)
_SIMPLE = frozenset(("name", "namespace", "labels", "annotations"))
_read_metadata = Reader(Metadata)


class _NamedObject(JsonObject):
    name: str | None = None


class _KnownStatus(JsonObject):
    """What is read of a status that says nothing of what its pod asks for."""

    phase: str | None = None
    reason: str | None = None
    nominated_node_name: str | None = None
    start_time: Time | None = None
    conditions: list[PodCondition] | None = None
    container_statuses: list[_NamedObject] | None = None
    init_container_statuses: list[_NamedObject] | None = None


def pod_with(pod: Pod, **changes: Any) -> Pod:
    """The pod with some fields changed; `dataclasses.replace` takes five times as long."""
    values = list(_values_of(pod))
    for name, value in changes.items():
        values[_PLACES[name]] = value
    made = _Draft(*values)
    made.__class__ = Pod  # Both have the same slots.
    return cast("Pod", made)


def pod_again(pod: Pod, old: Json, new: Json) -> Pod | None:
    """Read a pod whose form before was read already; None: the whole must be read."""
    before, after = old["metadata"], new["metadata"]
    for name in _READ:
        if before.get(name) is not after.get(name):
            return None
    node = _node(pod, old.get("spec"), new.get("spec"))
    labels = _labels(pod, before.get("labels"), after.get("labels"))
    status = _status(old.get("status") or {}, new.get("status") or {})
    if node is None or labels is None or status is None:
        return None
    since, message = unschedulable(status.conditions)
    return pod_with(
        pod,
        version=after.get("resourceVersion") or "",
        labels=labels,
        node=node,
        nominated=intern(status.nominated_node_name or ""),
        phase=intern(status.phase or "Pending"),
        reason=intern(status.reason or ""),
        started=bounded(status.start_time),
        unschedulable_since=since,
        unschedulable_message=message,
        preempted=preempted(status.conditions),
    )


def pod_updated(pod: Pod, old: Json, new: Json, **changes: Any) -> Pod | None:
    """Read a pod of which the caller knows what has changed; None: the whole must be read."""
    if _speaks_of_room(old.get("status") or {}):
        return None
    return pod_with(pod, version=new["metadata"]["resourceVersion"], **changes)


def born(pod: Pod, uid: str, version: str, created: datetime, **fields: Any) -> Pod:
    """A pod that was read before it was stored, as it is stored."""
    return pod_with(pod, uid=uid, version=version, created=bounded(created), **fields)


def fields_like(pod: Pod, metadata: Json, same_labels: bool = False) -> dict[str, Any] | None:
    """Read a pod that has spec and status in common with a pod that was read already.

    What comes out are the fields that differ. None: the whole must be read. Neither may have gates
    or volumes, which depend on more. With `same_labels` it has the labels in common too.
    """
    if metadata.keys() <= _SIMPLE:
        found = _named(pod, metadata, same_labels)
        if found is not None:
            return found
    try:
        read = _read_metadata(msgspec.json.encode(metadata))
        labels = labels_of(read)
        if any(name.startswith(BESIDE_LABEL) for name in labels):
            return None
        return {
            "key": Key(intern(read.namespace or ""), read.name or ""),
            "labels": labels,
            "annotations": annotations_of(read),
            "owners": owners_of(read),
            "deleted": bounded(read.deletion_timestamp),
        }
    except (TypeError, ValueError, msgspec.MsgspecError, DecodeError):
        return None


def _named(pod: Pod, metadata: Json, same_labels: bool) -> dict[str, Any] | None:
    """The same for the metadata of most new pods: it is read without a detour through JSON.

    None: it is not plain text.
    """
    name, namespace = metadata.get("name"), metadata.get("namespace")
    notes, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    more = () if same_labels else (*labels, *labels.values())
    for text in (name, namespace, *notes, *notes.values(), *more):
        if type(text) is not str or not text.isascii():
            return None
    if any(each.startswith(BESIDE_LABEL) for each in labels):
        return None
    spelled = pod.labels
    if not same_labels:
        spelled = spelled_labels(msgspec.json.encode(labels)) if labels else NO_LABELS
    kept = {key: value for key, value in notes.items() if key.startswith(KEPT_ANNOTATIONS)}
    return {
        "key": Key(intern(str(namespace)), str(name)),
        "labels": spelled,
        "annotations": MappingProxyType(kept) if kept else NO_LABELS,
        "owners": (),
        "deleted": None,
    }


def _node(pod: Pod, old: Any, new: Any) -> str | None:
    """The node, if nothing else in the spec is new."""
    if old is new:
        return pod.node
    if not isinstance(old, dict) or not isinstance(new, dict) or pod.unsupported:
        return None
    node = new.get("nodeName")
    if "nodeName" in old or not isinstance(node, str) or len(new) != len(old) + 1:
        return None
    same = all(new.get(name) is value for name, value in old.items())
    return intern(node) if same else None


def _labels(pod: Pod, old: Any, new: Any) -> Mapping[str, str] | None:
    """The labels, which a binding may add to; those that let more annotations be read are rare."""
    if old is new:
        return pod.labels
    if not isinstance(new, dict) or any(str(name).startswith(BESIDE_LABEL) for name in new):
        return None
    if not all(name in new for name in pod.labels):
        return None
    try:
        return spelled_labels(msgspec.json.encode(new))
    except (TypeError, ValueError, msgspec.MsgspecError):
        return None


def _status(old: Json, new: Json) -> _KnownStatus | None:
    try:
        read = msgspec.convert(new, _KnownStatus)
    except (msgspec.MsgspecError, TypeError):
        return None
    return None if _speaks_of_room(old) or _speaks_of_room(new) else read


def _speaks_of_room(status: Json) -> bool:
    """Whether a status takes part in what its pod asks for: it is being resized, or was."""
    if "resources" in status or "allocatedResources" in status:
        return True
    for field in ("containerStatuses", "initContainerStatuses"):
        if field in status:
            for each in status[field] or ():
                if "resources" in each or "allocatedResources" in each:
                    return True
    for condition in status.get("conditions") or ():
        if "type" in condition and condition["type"] == "PodResizePending":
            return True
    return False
