"""HorizontalPodAutoscalers from their JSON: which workload, how many now, and how many at most."""

from __future__ import annotations

from headroom.core.demand.autoscalers import PodAutoscaler
from headroom.core.objects import Key
from headroom.wire.kinds import AUTOSCALERS
from headroom.wire.objects.podjson import JsonObject, Metadata
from headroom.wire.objects.reader import Decoder


class _Target(JsonObject):
    kind: str | None = None
    name: str | None = None


class _AutoscalerSpec(JsonObject):
    scale_target_ref: _Target | None = None
    max_replicas: int | None = None


class _AutoscalerStatus(JsonObject):
    desired_replicas: int | None = None


class _AutoscalerObject(JsonObject):
    metadata: Metadata | None = None
    spec: _AutoscalerSpec | None = None
    status: _AutoscalerStatus | None = None


def _autoscaler(read: _AutoscalerObject) -> PodAutoscaler:
    metadata, spec = read.metadata or Metadata(), read.spec or _AutoscalerSpec()
    target, most = spec.scale_target_ref or _Target(), max(0, spec.max_replicas or 0)
    desired = (read.status or _AutoscalerStatus()).desired_replicas or 0
    leaves = metadata.deletion_timestamp is not None
    return PodAutoscaler(
        key=Key(metadata.namespace or "", metadata.name or ""),
        kind=target.kind or "",
        target=target.name or "",
        desired=0 if leaves else max(0, min(desired, most)),
        most=0 if leaves else most,
        uid=metadata.uid or "",
        version=metadata.resource_version or "",
    )


decode_autoscaler = Decoder(AUTOSCALERS.kind, _AutoscalerObject, _autoscaler)
