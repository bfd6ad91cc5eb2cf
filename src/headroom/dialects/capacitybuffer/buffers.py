"""Decode CapacityBuffers as Headrooms whose slots any pod may preempt.

A PodTemplate, which can be the shape of a chunk, is decoded as a workload without replicas.

A value that the schema accepts and that is still invalid is a problem, which the status reports. A
buffer whose status another client writes is served by that client: two controllers would undo each
other's work.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import Headroom, Slot, Workload, WorkloadRef
from headroom.core.holds import PREEMPTIBLE
from headroom.dialects.capacitybuffer.names import APPS, BATCH, BUFFERS, OURS, PEOPLE
from headroom.dialects.capacitybuffer.rules.size import BufferSize, is_ours
from headroom.dialects.capacitybuffer.statuses import status_of
from headroom.wire.kinds import POD_TEMPLATES
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import parent_of
from headroom.wire.objects.podjson import CustomObject, JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Decoder, Reader, spelling
from headroom.wire.objects.scales import ForeignKind
from headroom.wire.objects.templates import template_of
from headroom.wire.schema.promises import MOST_SLOTS
from headroom.wire.times import bounded

_MOST = 2**31 - 1


class _Manager(JsonObject):
    manager: str | None = None
    subresource: str | None = None


class _BufferMetadata(Metadata):
    managed_fields: list[_Manager] | None = None


class _BufferObject(CustomObject):
    metadata: _BufferMetadata | None = None


class _BufferTemplateRef(JsonObject):
    name: str | None = None


class _ScalableRef(JsonObject):
    api_group: str | None = None
    kind: str | None = None
    name: str | None = None


_read_template_ref = Reader(_BufferTemplateRef)
_read_scalable_ref = Reader(_ScalableRef)


def _headroom(read: _BufferObject) -> Headroom:
    metadata = read.metadata or _BufferMetadata()
    findings = Findings()
    spec = findings.fields(read.spec, "spec")
    strategy = spec.text("provisioningStrategy")
    return Headroom(
        parent=parent_of(read, BUFFERS),
        slot=Slot(source=_source(spec)),
        size=_size(spec),
        mode=PREEMPTIBLE,
        created=bounded(metadata.creation_timestamp),
        deleted=bounded(metadata.deletion_timestamp),
        generation=metadata.generation or 1,
        version=metadata.resource_version or "",
        status=status_of(spelling(read.status)),
        served=is_ours(strategy or "") and not _others(metadata),
        problems=findings.problems,
    )


def _others(metadata: _BufferMetadata) -> bool:
    """Whether another client writes the status: an autoscaler that serves buffers itself."""
    return any(
        each.subresource == "status" and not (each.manager or "").startswith((OURS, PEOPLE))
        for each in metadata.managed_fields or ()
    )


def _size(spec: Fields) -> BufferSize:
    limits = spec.amounts("limits")
    return BufferSize(
        replicas=spec.number("replicas", 0, MOST_SLOTS),
        percentage=spec.number("percentage", 0, _MOST),
        limits=None if limits is None else tuple(sorted(limits.items())),
    )


def _source(spec: Fields) -> WorkloadRef | None:
    template = spec.read(_read_template_ref, "podTemplateRef")
    scalable = spec.read(_read_scalable_ref, "scalableRef")
    findings = spec.findings
    if template is not None and scalable is not None:
        findings.add("spec", "has both podTemplateRef and scalableRef; remove one of them")
    elif template is not None:
        return WorkloadRef("v1", "PodTemplate", template.name or "")
    elif scalable is not None:
        return _workload(scalable)
    elif not findings.problems:
        findings.add("spec", "has neither podTemplateRef nor scalableRef: a chunk has no shape")
    return None


def _workload(ref: _ScalableRef) -> WorkloadRef:
    """The workload of a reference; for an unknown kind, an object with a scale subresource."""
    kind, group = ref.kind or "", ref.api_group or ""
    if kind in APPS and group in ("", "apps"):
        return WorkloadRef("apps/v1", kind, ref.name or "")
    if kind in BATCH and group == "batch":
        return WorkloadRef("batch/v1", kind, ref.name or "")
    foreign = ForeignKind("" if group == "core" else group, kind)
    return WorkloadRef(foreign.api_version, kind, ref.name or "")


# Errors in the spec of a buffer are in `problems`.
decode_buffer = Decoder(BUFFERS.kind, _BufferObject, _headroom)


class _PodTemplate(JsonObject):
    spec: Raw = ABSENT


class _PodTemplateObject(JsonObject):
    metadata: Metadata | None = None
    template: _PodTemplate | None = None


def _shape_of(read: _PodTemplateObject) -> Workload:
    metadata = read.metadata or Metadata()
    findings = Findings()
    shape = spelling(read.template.spec) if read.template else b""
    template = msgspec.json.encode({"spec": Raw(shape)}) if shape else b""
    return Workload(
        ref=WorkloadRef("v1", POD_TEMPLATES.kind, metadata.name or ""),
        namespace=metadata.namespace or "",
        replicas=0,
        template=template_of(Raw(template), metadata.namespace or "", findings),
        problems=findings.problems,
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        generation=metadata.generation or 1,
    )


# Labels and annotations of its pods are left out, as for any workload.
decode_pod_template = Decoder(POD_TEMPLATES.kind, _PodTemplateObject, _shape_of)
