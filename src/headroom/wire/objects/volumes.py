"""Volume claims, volumes and storage classes from their JSON: what binds, and who reaches what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headroom.core.demand.volumes import (
    ZONE_LABELS,
    NodeDrivers,
    StorageClass,
    Volume,
    VolumeClaim,
)
from headroom.core.objects import Key, NodeTerm, Requirement
from headroom.core.quantity import QuantityError, parse_quantity
from headroom.wire.objects.metadata import AnnotationReader, labels_of, owners_of
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder
from headroom.wire.objects.selectors import (
    NodeSelectorTerm,
    Selector,
    node_term,
    optional_selector,
)

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_LATE = "WaitForFirstConsumer"
_ZONES_BETWEEN = "__"
_BLOCK = "Block"


class _Storage(JsonObject):
    storage: Any = None


class _ClaimResources(JsonObject):
    requests: _Storage | None = None


class _ClaimSpec(JsonObject):
    volume_name: str | None = None
    storage_class_name: str | None = None
    access_modes: list[str] | None = None
    volume_mode: str | None = None
    selector: Selector | None = None
    resources: _ClaimResources | None = None


class _Phase(JsonObject):
    phase: str | None = None


class _Claim(JsonObject):
    metadata: Metadata | None = None
    spec: _ClaimSpec | None = None
    status: _Phase | None = None


class _Csi(JsonObject):
    driver: str | None = None
    volume_attributes: dict[str, str] | None = None


class _ClaimRef(JsonObject):
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class _VolumeNodeSelector(JsonObject):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class _VolumeNodeAffinity(JsonObject):
    required: _VolumeNodeSelector | None = None


class _VolumeSpec(JsonObject):
    csi: _Csi | None = None
    claim_ref: _ClaimRef | None = None
    node_affinity: _VolumeNodeAffinity | None = None
    storage_class_name: str | None = None
    capacity: _Storage | None = None
    access_modes: list[str] | None = None
    volume_mode: str | None = None


class _Volume(JsonObject):
    metadata: Metadata | None = None
    spec: _VolumeSpec | None = None
    status: _Phase | None = None


class _TopologyValues(JsonObject):
    key: str | None = None
    values: list[str] | None = None


class _Topology(JsonObject):
    match_label_expressions: list[_TopologyValues] | None = None


class _StorageClass(JsonObject):
    metadata: Metadata | None = None
    provisioner: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[_Topology] | None = None


class _Allocatable(JsonObject):
    count: int | None = None


class _Driver(JsonObject):
    name: str | None = None
    allocatable: _Allocatable | None = None


class _CsiNodeSpec(JsonObject):
    drivers: list[_Driver] | None = None


class _CsiNode(JsonObject):
    metadata: Metadata | None = None
    spec: _CsiNodeSpec | None = None


_annotations = AnnotationReader((BIND_COMPLETED, SELECTED_NODE))


def _claim(read: _Claim) -> VolumeClaim:
    metadata, spec = read.metadata or Metadata(), read.spec or _ClaimSpec()
    notes = _annotations(metadata)
    return VolumeClaim(
        key=Key(metadata.namespace or "", metadata.name or ""),
        volume=spec.volume_name or "",
        storage_class=spec.storage_class_name or "",
        uid=metadata.uid or "",
        bound=bool(spec.volume_name) and BIND_COMPLETED in notes,
        version=metadata.resource_version or "",
        modes=tuple(spec.access_modes or ()),
        lost=read.status is not None and read.status.phase == "Lost",
        deleting=metadata.deletion_timestamp is not None,
        made_for=next((each.uid for each in owners_of(metadata) if each.controller), ""),
        selected=notes.get(SELECTED_NODE, ""),
        size=_size(spec.resources.requests if spec.resources is not None else None),
        block=spec.volume_mode == _BLOCK,
        selector=optional_selector(spec.selector),
    )


def _volume(read: _Volume) -> Volume:
    metadata, spec = read.metadata or Metadata(), read.spec or _VolumeSpec()
    csi, claim = spec.csi or _Csi(), spec.claim_ref
    phase = read.status.phase if read.status is not None else None
    return Volume(
        name=metadata.name or "",
        driver=csi.driver or "",
        attributes=csi.volume_attributes or {},
        claim=None if claim is None else Key(claim.namespace or "", claim.name or ""),
        claim_uid="" if claim is None else claim.uid or "",
        terms=_terms(spec.node_affinity),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        zones=_zones(labels_of(metadata)),
        free=phase == "Available" and metadata.deletion_timestamp is None,
        storage_class=spec.storage_class_name or "",
        size=_size(spec.capacity),
        modes=tuple(spec.access_modes or ()),
        block=spec.volume_mode == _BLOCK,
        labels=labels_of(metadata),
    )


def _storage_class(read: _StorageClass) -> StorageClass:
    metadata = read.metadata or Metadata()
    return StorageClass(
        name=metadata.name or "",
        provisioner=read.provisioner or "",
        waits_for_pod=read.volume_binding_mode == _LATE,
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        topologies=tuple(_topology(each) for each in read.allowed_topologies or ()),
    )


def _node_drivers(read: _CsiNode) -> NodeDrivers:
    metadata, spec = read.metadata or Metadata(), read.spec or _CsiNodeSpec()
    told = ((each.name, each.allocatable) for each in spec.drivers or ())
    limits = {
        name: most.count
        for name, most in told
        if name and most is not None and most.count is not None
    }
    return NodeDrivers(
        metadata.name or "", limits, metadata.uid or "", metadata.resource_version or ""
    )


def _terms(affinity: _VolumeNodeAffinity | None) -> tuple[NodeTerm, ...] | None:
    if affinity is None or affinity.required is None:
        return None
    return tuple(node_term(term) for term in affinity.required.node_selector_terms or ())


def _zones(labels: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Where a volume is, as its labels say it: several zones are written as one text."""
    found = []
    for key in ZONE_LABELS:
        values = tuple(part.strip() for part in labels.get(key, "").split(_ZONES_BETWEEN))
        if all(values):
            found.append((key, values))
    return tuple(found)


def _topology(topology: _Topology) -> NodeTerm:
    listed = topology.match_label_expressions or ()
    return NodeTerm(
        tuple(Requirement(each.key or "", "In", tuple(each.values or ())) for each in listed)
    )


def _size(asked: _Storage | None) -> int:
    """So many bytes; what cannot be read is none, as the API server has refused it anyway."""
    if asked is None or asked.storage is None:
        return 0
    try:
        return parse_quantity(str(asked.storage)).value()
    except QuantityError:
        return 0


decode_claim = Decoder("PersistentVolumeClaim", _Claim, _claim)
decode_volume = Decoder("PersistentVolume", _Volume, _volume)
decode_storage_class = Decoder("StorageClass", _StorageClass, _storage_class)
decode_node_drivers = Decoder("CSINode", _CsiNode, _node_drivers)
claim_from = decode_claim.plain
volume_from = decode_volume.plain
storage_class_from = decode_storage_class.plain
node_drivers_from = decode_node_drivers.plain
