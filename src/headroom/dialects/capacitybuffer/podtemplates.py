"""Decode PodTemplates as workloads without replicas: the shape of a buffer's chunk."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from headroom.core.headrooms.headrooms import Workload, WorkloadRef
from headroom.wire.kinds import POD_TEMPLATES
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Decoder, spelling
from headroom.wire.objects.templates import template_of


class _PodTemplate(JsonObject):
    spec: Raw = ABSENT


class _PodTemplateObject(JsonObject):
    metadata: Metadata | None = None
    template: _PodTemplate | None = None


def _workload(read: _PodTemplateObject) -> Workload:
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
decode_pod_template = Decoder(POD_TEMPLATES.kind, _PodTemplateObject, _workload)
