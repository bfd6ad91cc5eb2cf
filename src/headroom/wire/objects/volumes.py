"""Volume claims, volumes and storage classes from their JSON: what binds, and who reaches what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Raw

from headroom.core.demand.volumes import StorageClass, Volume, VolumeClaim
from headroom.core.objects import Key, NodeTerm
from headroom.wire.errors import DecodeError
from headroom.wire.objects.metadata import Kept
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Reader, about, to_text
from headroom.wire.objects.selectors import NodeSelectorTerm, node_term

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_LATE = "WaitForFirstConsumer"


class _ClaimSpec(JsonObject):
    volume_name: str | None = None
    storage_class_name: str | None = None


class _Claim(JsonObject):
    metadata: Metadata | None = None
    spec: _ClaimSpec | None = None


class _Csi(JsonObject):
    driver: str | None = None
    volume_attributes: dict[str, str] | None = None


class _ClaimRef(JsonObject):
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class _NodeSelector(JsonObject):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class _NodeAffinity(JsonObject):
    required: _NodeSelector | None = None


class _VolumeSpec(JsonObject):
    csi: _Csi | None = None
    claim_ref: _ClaimRef | None = None
    node_affinity: _NodeAffinity | None = None


class _Volume(JsonObject):
    metadata: Metadata | None = None
    spec: _VolumeSpec | None = None


class _Class(JsonObject):
    metadata: Metadata | None = None
    provisioner: str | None = None
    volume_binding_mode: str | None = None


_read_claim = Reader(_Claim)
_read_volume = Reader(_Volume)
_read_class = Reader(_Class)
_annotations = Kept((BIND_COMPLETED,))


def decode_claim(data: bytes | Raw) -> VolumeClaim:
    """Read a PersistentVolumeClaim; DecodeError names the object and the path of what is wrong."""
    try:
        read = _read_claim(data)
    except DecodeError as error:
        raise about("PersistentVolumeClaim", data, error) from error
    metadata, spec = read.metadata or Metadata(), read.spec or _ClaimSpec()
    return VolumeClaim(
        key=Key(metadata.namespace or "", metadata.name or ""),
        volume=spec.volume_name or "",
        storage_class=spec.storage_class_name or "",
        uid=metadata.uid or "",
        bound=bool(spec.volume_name) and BIND_COMPLETED in _annotations(metadata),
        version=metadata.resource_version or "",
    )


def decode_volume(data: bytes | Raw) -> Volume:
    """Read a PersistentVolume."""
    try:
        read = _read_volume(data)
    except DecodeError as error:
        raise about("PersistentVolume", data, error) from error
    metadata, spec = read.metadata or Metadata(), read.spec or _VolumeSpec()
    csi, claim = spec.csi or _Csi(), spec.claim_ref
    return Volume(
        name=metadata.name or "",
        driver=csi.driver or "",
        attributes=csi.volume_attributes or {},
        claim=None if claim is None else Key(claim.namespace or "", claim.name or ""),
        claim_uid="" if claim is None else claim.uid or "",
        terms=_terms(spec.node_affinity),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
    )


def decode_storage_class(data: bytes | Raw) -> StorageClass:
    """Read a StorageClass."""
    try:
        read = _read_class(data)
    except DecodeError as error:
        raise about("StorageClass", data, error) from error
    metadata = read.metadata or Metadata()
    return StorageClass(
        name=metadata.name or "",
        provisioner=read.provisioner or "",
        waits_for_pod=read.volume_binding_mode == _LATE,
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
    )


def claim_from(thing: Mapping[str, Any]) -> VolumeClaim:
    """Read a PersistentVolumeClaim held as plain dicts."""
    return decode_claim(to_text("PersistentVolumeClaim", thing))


def volume_from(thing: Mapping[str, Any]) -> Volume:
    """Read a PersistentVolume held as plain dicts."""
    return decode_volume(to_text("PersistentVolume", thing))


def storage_class_from(thing: Mapping[str, Any]) -> StorageClass:
    """Read a StorageClass held as plain dicts."""
    return decode_storage_class(to_text("StorageClass", thing))


def _terms(affinity: _NodeAffinity | None) -> tuple[NodeTerm, ...] | None:
    if affinity is None or affinity.required is None:
        return None
    return tuple(node_term(term) for term in affinity.required.node_selector_terms or ())
