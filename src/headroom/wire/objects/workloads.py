"""Workloads from their JSON, as far as a Headroom copies them: how many pods, of what shape.

Labels and annotations of the pods stay out: a guardian that carried them would be counted by the
workload's autoscaler and disruption budget, and found by its services.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.headrooms import Workload, WorkloadRef
from headroom.wire.errors import DecodeError
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Reader, about, spelling, to_text
from headroom.wire.objects.slots import API_VERSIONS
from headroom.wire.objects.templates import template_of


class _Template(JsonObject):
    spec: Raw = ABSENT


class _Spec(JsonObject):
    replicas: int | None = None
    parallelism: int | None = None
    template: _Template | None = None


class _Status(JsonObject):
    desired_number_scheduled: int | None = None


class _Object(JsonObject):
    metadata: Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_read = Reader(_Object)


def decode_workload(data: bytes | Raw, kind: str) -> Workload:
    """Read a workload of one of the kinds that a slot may copy; DecodeError names its object."""
    try:
        return _workload(_read(data), kind)
    except DecodeError as error:
        raise about(kind, data, error) from error


def workload_from(thing: Mapping[str, Any]) -> Workload:
    """Read a workload held as plain dicts."""
    kind = str(thing.get("kind", ""))
    return decode_workload(to_text(kind, thing), kind)


def _workload(read: _Object, kind: str) -> Workload:
    metadata = read.metadata or Metadata()
    spec = read.spec or _Spec()
    namespace = metadata.namespace or ""
    findings = Findings()
    shape = spelling(spec.template.spec) if spec.template else b""
    template = msgspec.json.encode({"spec": Raw(shape)}) if shape else b""
    return Workload(
        ref=WorkloadRef(API_VERSIONS.get(kind, ""), kind, metadata.name or ""),
        namespace=namespace,
        replicas=_replicas(read, spec, kind),
        template=template_of(Raw(template), namespace, findings),
        problems=findings.problems,
    )


def _replicas(read: _Object, spec: _Spec, kind: str) -> int:
    """How many pods it wants; a number that is left out means one, as for Kubernetes."""
    if kind == "DaemonSet":
        return (read.status or _Status()).desired_number_scheduled or 0
    wanted = spec.parallelism if kind == "Job" else spec.replicas
    return 1 if wanted is None else wanted
