"""The parts of a pod's JSON that we read, field by field as Kubernetes spells them.

Only shapes live here; `pods` and `placement` make core values from them. Every field may be absent
or null. Parts that many pods share stay `Raw` until somebody needs a spelling not seen before.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from headroom.wire.objects.reader import ABSENT, Time


class JsonObject(Struct, rename="camel", gc=False):
    """Root of the shapes: camelCase on the wire, no reference cycles, unknown fields skipped."""


class Metadata(JsonObject):
    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: Raw = ABSENT
    annotations: Raw = ABSENT
    owner_references: Raw = ABSENT


class CustomObject(JsonObject):
    """An object of a custom kind: spec and status are text that is read later, part by part."""

    api_version: str | None = None
    kind: str | None = None
    metadata: Metadata | None = None
    spec: Raw = ABSENT
    status: Raw = ABSENT


class Container(JsonObject):
    name: str | None = None
    restart_policy: str | None = None
    resources: Raw = ABSENT
    ports: Raw = ABSENT


class GateJson(JsonObject):
    name: str | None = None


class ClaimVolume(JsonObject):
    claim_name: str | None = None


class VolumeJson(JsonObject):
    name: str | None = None
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: Raw = ABSENT


class DeviceClaim(JsonObject):
    name: str | None = None


class PodSpec(JsonObject):
    node_name: str | None = None
    scheduler_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    scheduling_gates: list[GateJson] | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    host_network: bool | None = None
    overhead: Raw = ABSENT
    resources: Raw = ABSENT
    node_selector: Raw = ABSENT
    affinity: Raw = ABSENT
    tolerations: Raw = ABSENT
    topology_spread_constraints: Raw = ABSENT
    volumes: list[VolumeJson] | None = None
    resource_claims: list[DeviceClaim] | None = None
    termination_grace_period_seconds: int | None = None


class PodCondition(JsonObject):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: Time | None = None


class ContainerStatus(JsonObject):
    name: str | None = None
    resources: Raw = ABSENT
    allocated_resources: Raw = ABSENT


class PodStatus(JsonObject):
    phase: str | None = None
    reason: str | None = None
    nominated_node_name: str | None = None
    start_time: Time | None = None
    conditions: list[PodCondition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resources: Raw = ABSENT
    allocated_resources: Raw = ABSENT


class PodObject(JsonObject):
    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: PodStatus | None = None
