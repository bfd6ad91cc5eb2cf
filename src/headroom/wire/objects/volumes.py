"""Volume claims, volumes, storage classes and the drivers of nodes from their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
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
from headroom.wire.objects.codec import COUNT, TEXT, TEXT_MAP, TEXTS, Codec, Part
from headroom.wire.objects.metadata import (
    METADATA,
    AnnotationReader,
    controller_of,
    key_of,
    labels_of,
    version_of,
)
from headroom.wire.objects.podjson import Metadata
from headroom.wire.objects.selectors import SELECTOR, node_terms

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_ZONES_BETWEEN = "__"


_annotations = AnnotationReader((BIND_COMPLETED, SELECTED_NODE))


def _size(written: object) -> int:
    """So many bytes; what cannot be read is none, as the API server has refused it anyway."""
    try:
        return parse_quantity(str(written)).value()
    except QuantityError:
        return 0


_SIZE = Part(Any, 0, _size)
_IS_BLOCK = Part(str, False, "Block".__eq__).named("spec.volumeMode")


def _claim(metadata: Metadata, volume: str, **read: Any) -> VolumeClaim:
    notes = _annotations(metadata)
    return VolumeClaim(
        key=key_of(metadata),
        volume=volume,
        bound=bool(volume) and BIND_COMPLETED in notes,
        deleting=metadata.deletion_timestamp is not None,
        made_for=controller_of(metadata),
        selected=notes.get(SELECTED_NODE, ""),
        **version_of(metadata),
        **read,
    )


decode_claim = Codec(
    _claim,
    metadata=METADATA,
    volume=TEXT.named("spec.volumeName"),
    storage_class=TEXT.named("spec.storageClassName"),
    modes=TEXTS.named("spec.accessModes"),
    lost=Part(str, False, "Lost".__eq__).named("status.phase"),
    size=_SIZE.named("spec.resources.requests.storage"),
    block=_IS_BLOCK,
    selector=SELECTOR.named("spec.selector"),
).decoder("PersistentVolumeClaim")


def _claim_ref(uid: str, **key: str) -> tuple[Key | None, str]:
    return Key(**key), uid


_CLAIM_REF = Codec(_claim_ref, namespace=TEXT, name=TEXT, uid=TEXT)


def _volume(metadata: Metadata, claim: tuple[Key | None, str], free: bool, **read: Any) -> Volume:
    labels = labels_of(metadata)
    return Volume(
        name=metadata.name or "",
        claim=claim[0],
        claim_uid=claim[1],
        zones=_zones(labels),
        free=free and metadata.deletion_timestamp is None,
        labels=labels,
        **version_of(metadata),
        **read,
    )


def _zones(labels: Mapping[str, str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Where a volume is, as its labels say it: several zones are written as one text."""
    found = []
    for key in ZONE_LABELS:
        values = tuple(part.strip() for part in labels.get(key, "").split(_ZONES_BETWEEN))
        if all(values):
            found.append((key, values))
    return tuple(found)


decode_volume = Codec(
    _volume,
    metadata=METADATA,
    driver=TEXT.named("spec.csi.driver"),
    attributes=TEXT_MAP.named("spec.csi.volumeAttributes"),
    claim=_CLAIM_REF.part((None, "")).named("spec.claimRef"),
    terms=node_terms().named("spec.nodeAffinity.required"),
    storage_class=TEXT.named("spec.storageClassName"),
    size=_SIZE.named("spec.capacity.storage"),
    modes=TEXTS.named("spec.accessModes"),
    block=_IS_BLOCK,
    free=Part(str, False, "Available".__eq__).named("status.phase"),
).decoder("PersistentVolume")


def _storage_class(metadata: Metadata, **read: Any) -> StorageClass:
    return StorageClass(name=metadata.name or "", **version_of(metadata), **read)


_ZONES = Codec(partial(Requirement, operator="In"), key=TEXT, values=TEXTS).parts()
decode_storage_class = Codec(
    _storage_class,
    metadata=METADATA,
    provisioner=TEXT,
    waits_for_pod=Part(str, False, "WaitForFirstConsumer".__eq__).named("volumeBindingMode"),
    topologies=Codec(NodeTerm, labels=_ZONES.named("matchLabelExpressions"))
    .parts()
    .named("allowedTopologies"),
).decoder("StorageClass")


def _node_drivers(metadata: Metadata, drivers: tuple[tuple[str, int | None], ...]) -> NodeDrivers:
    limits = {name: most for name, most in drivers if name and most is not None}
    return NodeDrivers(metadata.name or "", limits, **version_of(metadata))


_DRIVERS = Codec(
    lambda name, most: (name, most), name=TEXT, most=COUNT.named("allocatable.count")
).parts()
decode_node_drivers = Codec(
    _node_drivers, metadata=METADATA, drivers=_DRIVERS.named("spec.drivers")
).decoder("CSINode")
claim_from = decode_claim.plain
volume_from = decode_volume.plain
storage_class_from = decode_storage_class.plain
node_drivers_from = decode_node_drivers.plain
