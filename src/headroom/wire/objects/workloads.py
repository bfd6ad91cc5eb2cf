"""Workloads from their JSON, as far as a Headroom copies them: how many pods, of what shape.

Also HorizontalPodAutoscalers, and SlotSets, of which only the owner matters.

Labels and annotations of the pods stay out: a guardian that carried them would be counted by the
workload's autoscaler and disruption budget, and found by its services.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from headroom.core.headrooms.announced_pods import PodAutoscaler, job_size, missing
from headroom.core.headrooms.companions import SLOT_SET
from headroom.core.headrooms.headrooms import Headroom, Workload, WorkloadRef
from headroom.core.holds import PodTemplate, Problem
from headroom.core.names import SHAPE_ANNOTATION
from headroom.core.objects import Key, Pod
from headroom.ports import Thing
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import AUTOSCALERS, WORKLOADS, Resource
from headroom.wire.objects.codec import NUMBER, TEXT, Codec
from headroom.wire.objects.findings import LONGEST_MESSAGE, Findings
from headroom.wire.objects.metadata import (
    METADATA,
    annotations_of,
    controller_of,
    key_of,
    labels_of,
    version_of,
)
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import ABSENT, Reader, about, spelling, to_text
from headroom.wire.objects.slots import API_VERSIONS
from headroom.wire.objects.templates import template_of
from headroom.wire.times import bounded


class _WorkloadTemplate(JsonObject):
    metadata: Metadata | None = None
    spec: Raw = ABSENT


class _WorkloadSelector(JsonObject):
    match_labels: Raw = ABSENT


class _WorkloadSpec(JsonObject):
    selector: _WorkloadSelector | None = None
    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    pod_management_policy: str | None = None
    template: _WorkloadTemplate | None = None


class _Condition(JsonObject):
    type: str | None = None
    status: str | None = None


class _WorkloadStatus(JsonObject):
    desired_number_scheduled: int | None = None
    replicas: int | None = None
    active: int | None = None
    succeeded: int | None = None
    conditions: list[_Condition] | None = None


class _WorkloadObject(JsonObject):
    metadata: Metadata | None = None
    spec: _WorkloadSpec | None = None
    status: _WorkloadStatus | None = None


_read = Reader(_WorkloadObject)
_WITH_REPLICAS = ("Deployment", "ReplicaSet", "StatefulSet")
_OVER = ("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet")
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in WORKLOADS}


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


def copied_kind(thing: Thing) -> Resource | None:
    """The kind of workload that a thing copies, if it is a Headroom that does."""
    source = thing.slot.source if isinstance(thing, Headroom) else None
    return _BY_KIND.get((source.api_version, source.kind)) if source is not None else None


def unseen_workload(ref: WorkloadRef, namespace: str, why: str) -> Workload:
    """A workload that we may not see, and why: told where the author of the headroom looks."""
    words = f"{why}; the operator needs the rights that headroom install grants"
    problem = Problem(str(ref), words[:LONGEST_MESSAGE])
    return Workload(ref, namespace, 0, PodTemplate(Pod(Key(namespace, ""))), (problem,))


def _workload(read: _WorkloadObject, kind: str) -> Workload:
    metadata = read.metadata or Metadata()
    spec = read.spec or _WorkloadSpec()
    namespace = metadata.namespace or ""
    findings = Findings()
    shape = spelling(spec.template.spec) if spec.template else b""
    template = msgspec.json.encode({"spec": Raw(shape)}) if shape else b""
    status = read.status or _WorkloadStatus()
    alive = not metadata.deletion_timestamp
    return Workload(
        ref=WorkloadRef(API_VERSIONS.get(kind, ""), kind, metadata.name or ""),
        namespace=namespace,
        replicas=_replicas(read, spec, kind),
        template=template_of(Raw(template), namespace, findings),
        problems=findings.problems,
        **version_of(metadata),
        missing=_missing(status, spec, kind) if alive else 0,
        controller=controller_of(metadata),
        made_as=annotations_of(metadata).get(SHAPE_ANNOTATION, ""),
        in_order=_in_order(spec, kind),
        suspended=_suspended(status, spec, kind) if alive else 0,
        pod_labels=labels_of((spec.template or _WorkloadTemplate()).metadata or Metadata()),
        labels=labels_of(metadata),
        selector=labels_of(Metadata(labels=(spec.selector or _WorkloadSelector()).match_labels)),
        created=bounded(metadata.creation_timestamp),
    )


def _missing(status: _WorkloadStatus, spec: _WorkloadSpec, kind: str) -> int:
    """How many pods it is about to make; its own status says how many it has."""
    true = _true(status)
    if kind == "Job":
        if spec.suspend or any(each in _OVER for each in true):
            return 0
        return missing(_job_size(status, spec), status.active or 0)
    if kind not in _WITH_REPLICAS:
        return 0
    desired = 1 if spec.replicas is None else spec.replicas
    refused = "ReplicaFailure" in true
    present = status.replicas or 0
    return missing(desired, present, in_order=_in_order(spec, kind), refused=refused)


def _suspended(status: _WorkloadStatus, spec: _WorkloadSpec, kind: str) -> int:
    """How many pods a suspended Job makes at once when it is resumed."""
    ended = [each for each in _true(status) if each in _OVER and each != "Suspended"]
    if kind != "Job" or not spec.suspend or ended:
        return 0
    return _job_size(status, spec)


def _job_size(status: _WorkloadStatus, spec: _WorkloadSpec) -> int:
    return job_size(spec.parallelism, spec.completions, status.succeeded or 0)


def _in_order(spec: _WorkloadSpec, kind: str) -> bool:
    return kind == "StatefulSet" and spec.pod_management_policy != "Parallel"


def _true(status: _WorkloadStatus) -> list[str | None]:
    return [each.type for each in status.conditions or () if each.status == "True"]


def _replicas(read: _WorkloadObject, spec: _WorkloadSpec, kind: str) -> int:
    """How many pods it wants; a number that is left out means one, as for Kubernetes."""
    if kind == "DaemonSet":
        return (read.status or _WorkloadStatus()).desired_number_scheduled or 0
    wanted = spec.parallelism if kind == "Job" else spec.replicas
    return 1 if wanted is None else wanted


def _slot_set(metadata: Metadata) -> Workload:
    key = key_of(metadata)
    return Workload(
        ref=WorkloadRef(*SLOT_SET, key.name),
        namespace=key.namespace,
        replicas=0,
        template=PodTemplate(Pod(Key(key.namespace, ""))),
        controller=controller_of(metadata),
        **version_of(metadata),
    )


decode_slot_set = Codec(_slot_set, metadata=METADATA).decoder(SLOT_SET[1])


def _autoscaler(metadata: Metadata, most: int, desired: int, **target: str) -> PodAutoscaler:
    most = 0 if metadata.deletion_timestamp is not None else max(0, most)
    return PodAutoscaler(
        key=key_of(metadata),
        desired=max(0, min(desired, most)),
        most=most,
        **version_of(metadata),
        **target,
    )


decode_autoscaler = Codec(
    _autoscaler,
    metadata=METADATA,
    kind=TEXT.named("spec.scaleTargetRef.kind"),
    target=TEXT.named("spec.scaleTargetRef.name"),
    most=NUMBER.named("spec.maxReplicas"),
    desired=NUMBER.named("status.desiredReplicas"),
).decoder(AUTOSCALERS.kind)
