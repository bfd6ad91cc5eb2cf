"""Decode CapacityBuffers as Headrooms whose slots any pod may preempt.

A PodTemplate, which can be the shape of a chunk, is decoded as a workload without replicas.

A value that the schema accepts and that is still invalid is a problem, which the status reports. A
buffer whose status another client writes is served by that client: two controllers would undo each
other's work.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import Headroom, Limits, Slot, Workload, WorkloadRef
from headroom.core.holds import PREEMPTIBLE
from headroom.dialects.capacitybuffer.names import APPS, BATCH, BUFFERS, OURS, PEOPLE
from headroom.dialects.capacitybuffer.rules.size import BufferSize, is_ours
from headroom.dialects.capacitybuffer.schema import with_buffers
from headroom.dialects.capacitybuffer.statuses import status_of
from headroom.wire.kinds import POD_TEMPLATES
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.metadata import life_of, parent_of, version_of
from headroom.wire.objects.podjson import CustomObject, JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Decoder, spelling
from headroom.wire.objects.scales import ForeignKind
from headroom.wire.objects.templates import template_of
from headroom.wire.objects.values import Makers, SpecReader
from headroom.wire.schema.notation import kubernetes
from headroom.wire.schema.promises import MOST_SLOTS


class _Manager(JsonObject):
    manager: str | None = None
    subresource: str | None = None


class _BufferMetadata(Metadata):
    managed_fields: list[_Manager] | None = None


class _BufferObject(CustomObject):
    metadata: _BufferMetadata | None = None


def _workload(kind: str, name: str, api_group: str = "") -> WorkloadRef:
    """The workload of a reference; for an unknown kind, an object with a scale subresource."""
    if kind in APPS and api_group in ("", "apps"):
        return WorkloadRef("apps/v1", kind, name)
    if kind in BATCH and api_group == "batch":
        return WorkloadRef("batch/v1", kind, name)
    foreign = ForeignKind("" if api_group == "core" else api_group, kind)
    return WorkloadRef(foreign.api_version, kind, name)


_MAKERS: Makers = {
    "CapacityBufferTemplateRef": partial(WorkloadRef, "v1", POD_TEMPLATES.kind),
    "CapacityBufferScalableRef": _workload,
}
_read_spec = SpecReader("CapacityBufferSpec", cache(lambda: with_buffers(kubernetes())), _MAKERS)


def _headroom(read: _BufferObject) -> Headroom:
    metadata = read.metadata or _BufferMetadata()
    findings = Findings()
    spec = findings.fields(read.spec, "spec")
    given = _read_spec(spec)
    _check(given, spec)
    return Headroom(
        parent=parent_of(read, BUFFERS),
        slot=Slot(source=given.get("pod_template_ref") or given.get("scalable_ref")),
        size=BufferSize(given.get("replicas"), given.get("percentage"), given.get("limits")),
        limits=Limits(resources=given.get("limits") or ()),
        mode=PREEMPTIBLE,
        **life_of(metadata),
        status=status_of(spelling(read.status)),
        served=is_ours(given.get("provisioning_strategy", "")) and not _others(metadata),
        problems=findings.problems,
    )


def _others(metadata: _BufferMetadata) -> bool:
    """Whether another client writes the status: an autoscaler that serves buffers itself."""
    return any(
        each.subresource == "status" and not (each.manager or "").startswith((OURS, PEOPLE))
        for each in metadata.managed_fields or ()
    )


def _check(given: Mapping[str, Any], spec: Fields) -> None:
    """Take down what the schema accepts and nobody can serve."""
    if given.get("replicas", 0) > MOST_SLOTS:
        spec.add("replicas", f"{given['replicas']} is above {MOST_SLOTS}, the most it may be")
    if not spec.findings.problems and not {"pod_template_ref", "scalable_ref"} & given.keys():
        told = "has neither podTemplateRef nor scalableRef: a chunk has no shape"
        spec.findings.add("spec", told)


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
        **version_of(metadata),
        generation=metadata.generation or 1,
    )


# Labels and annotations of its pods are left out, as for any workload.
decode_pod_template = Decoder(POD_TEMPLATES.kind, _PodTemplateObject, _shape_of)
