"""Pods from their JSON, with everything that can be shared between them shared.

What a pod asks for is worked out in `needs`, where it may go in `placement`. A pod that carries a
wrong type where we look is refused as a whole, by name and path; its neighbours are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from sys import intern
from typing import Any

from msgspec import Raw

from headroom.core.names import BESIDE_LABEL, DEFAULT_SCHEDULER_NAME
from headroom.core.objects import Key, Pod
from headroom.wire.errors import DecodeError
from headroom.wire.objects.metadata import (
    AnnotationReader,
    annotations_of,
    owners_of,
    spelled_labels,
)
from headroom.wire.objects.needs import needs_of
from headroom.wire.objects.placement import placement_of
from headroom.wire.objects.podjson import Metadata, PodCondition, PodObject, PodSpec, PodStatus
from headroom.wire.objects.reader import ABSENT, Reader, about, spelling, to_text
from headroom.wire.times import bounded

_GRACE_SECONDS = 30
_BESIDE = f"{BESIDE_LABEL}-".encode()
_all_annotations = AnnotationReader(("",))
_read_pod = Reader(PodObject)


def decode_pod(data: bytes | Raw, kept: AnnotationReader = annotations_of) -> Pod:
    """Read a pod; DecodeError names the pod and the path of what is wrong."""
    try:
        return pod_of(_read_pod(data), kept)
    except DecodeError as error:
        raise about("Pod", data, error) from error


def pod_from(thing: Mapping[str, Any]) -> Pod:
    """Read a pod held as plain dicts."""
    return decode_pod(to_text("Pod", thing))


def pod_of(pod: PodObject, kept: AnnotationReader = annotations_of) -> Pod:
    """Make the core value from a pod's JSON shape."""
    metadata = pod.metadata or Metadata()
    spec = pod.spec or PodSpec()
    status = pod.status or PodStatus()
    needs = needs_of(spec, status)
    since, message = unschedulable(status.conditions)
    claims, own_claims = _claims(spec, metadata.name or "")
    grace = spec.termination_grace_period_seconds
    labels = spelling(metadata.labels)
    # Slots may follow the pod: a Headroom may go by any annotation of it.
    followed = bool(spec.scheduling_gates) or _BESIDE in labels
    annotations = _all_annotations(metadata) if followed else kept(metadata)
    return Pod(
        key=Key(intern(metadata.namespace or ""), metadata.name or ""),
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
        labels=spelled_labels(labels),
        annotations=annotations,
        owners=owners_of(metadata),
        created=bounded(metadata.creation_timestamp),
        deleted=bounded(metadata.deletion_timestamp),
        node=intern(spec.node_name or ""),
        nominated=intern(status.nominated_node_name or ""),
        scheduler=intern(spec.scheduler_name or DEFAULT_SCHEDULER_NAME),
        priority=spec.priority or 0,
        preempts=spec.preemption_policy != "Never",
        gates=_gates(spec),
        phase=intern(status.phase or "Pending"),
        reason=intern(status.reason or ""),
        started=bounded(status.start_time),
        requests=needs.requests,
        nonzero_requests=needs.nonzero,
        growth=needs.growth,
        placement=placement_of(spec),
        unsupported=_unsupported(spec),
        claims=claims,
        own_claims=own_claims,
        unschedulable_since=since,
        unschedulable_message=message,
        grace_seconds=_GRACE_SECONDS if grace is None else grace,
        preempted=preempted(status.conditions),
    )


def _gates(spec: PodSpec) -> tuple[str, ...]:
    if not spec.scheduling_gates:
        return ()
    return tuple(intern(gate.name or "") for gate in spec.scheduling_gates)


def unschedulable(conditions: Iterable[PodCondition] | None) -> tuple[datetime | None, str]:
    """Since when, and why, a scheduler says that the pod fits nowhere."""
    for each in conditions or ():
        if each.type == "PodScheduled" and each.status == "False":
            if each.reason == "Unschedulable":
                return bounded(each.last_transition_time), each.message or ""
            return None, ""
    return None, ""


def preempted(conditions: Iterable[PodCondition] | None) -> bool:
    """Whether kube-scheduler is ending the pod to make room for another."""
    if not conditions:
        return False
    return any(
        each.type == "DisruptionTarget"
        and each.status == "True"
        and each.reason == "PreemptionByScheduler"
        for each in conditions
    )


def _claims(spec: PodSpec, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The volume claims that the pod names, and those made for it alone, in its order.

    The second are only the claims of generic ephemeral volumes: nobody but the pod may have made
    them.
    """
    found, own = [], []
    for volume in spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            found.append(volume.persistent_volume_claim.claim_name or "")
        elif volume.ephemeral is not ABSENT and spelling(volume.ephemeral):
            found.append(f"{name}-{volume.name}")
            own.append(found[-1])
    return tuple(found), tuple(own)


def _unsupported(spec: PodSpec) -> tuple[str, ...]:
    """What our own scheduler must leave to others; of no interest once the pod has its node."""
    if spec.node_name or not spec.resource_claims:
        return ()
    return tuple(f"device claim {claim.name}" for claim in spec.resource_claims)
