"""The kinds that the embedded API server serves, and how far each is modelled.

A kind is alive (an actor of the simulator acts on it) or inert (it is stored and shown, nothing
acts on it, and the run says so). All other kinds are unknown and refused, because a run without
them would be misleading. The kinds of enabled dialects are in `registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headroom.wire import kinds as wire
from headroom.wire.kinds import Resource


class Depth(Enum):
    """How far a kind is modelled."""

    ALIVE = "alive"
    INERT = "inert"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its API group, whether its status is a subresource, and how far it is modelled.

    `scale` is the path of its replicas if it can be scaled; `custom` is true for a kind that a CRD
    defines.
    """

    resource: Resource
    depth: Depth = Depth.ALIVE
    has_status: bool = True
    scale: tuple[str, ...] = ()
    custom: bool = False

    @property
    def name(self) -> str:
        return self.resource.kind

    @property
    def namespaced(self) -> bool:
        return self.resource.namespaced

    @property
    def title(self) -> str:
        """`Deployment.apps`, as the API server's validation errors write it."""
        return f"{self.name}.{self.resource.group}" if self.resource.group else self.name


_REPLICAS = ("spec", "replicas")

NAMESPACE = Kind(wire.NAMESPACES)
NODE = Kind(wire.NODES)
POD = Kind(wire.PODS)
EVENT = Kind(wire.EVENTS, has_status=False)
PRIORITY_CLASS = Kind(wire.PRIORITY_CLASSES, has_status=False)
HOLD = Kind(wire.HOLDS, scale=("spec", "expectedPods"), custom=True)
HEADROOM = Kind(wire.HEADROOMS, scale=("spec", "size", "replicas"), custom=True)
SLOT_SET = Kind(wire.SLOT_SETS, has_status=False, scale=("spec", "expectedPods"), custom=True)
CLAIM_INDEX = Kind(wire.CLAIM_INDEXES, has_status=False, custom=True)
QUOTA = Kind(Resource("", "v1", "resourcequotas", "ResourceQuota"))
LIMIT_RANGE = Kind(wire.LIMIT_RANGES, has_status=False)
SERVICE = Kind(Resource("", "v1", "services", "Service"))
DEPLOYMENT = Kind(wire.DEPLOYMENTS, scale=_REPLICAS)
REPLICA_SET = Kind(wire.REPLICA_SETS, scale=_REPLICAS)
DAEMON_SET = Kind(wire.DAEMON_SETS)
STATEFUL_SET = Kind(wire.STATEFUL_SETS, scale=_REPLICAS)
JOB = Kind(wire.JOBS)
POD_TEMPLATE = Kind(wire.POD_TEMPLATES, has_status=False)
VOLUME_CLAIM = Kind(wire.VOLUME_CLAIMS)
VOLUME = Kind(wire.VOLUMES)
STORAGE_CLASS = Kind(wire.STORAGE_CLASSES, has_status=False)
CSI_NODE = Kind(wire.CSI_NODES, has_status=False)
DISRUPTION_BUDGET = Kind(wire.BUDGETS)

_ALIVE = (
    NAMESPACE,
    NODE,
    POD,
    EVENT,
    PRIORITY_CLASS,
    HOLD,
    HEADROOM,
    SLOT_SET,
    CLAIM_INDEX,
    QUOTA,
    LIMIT_RANGE,
    SERVICE,
    DEPLOYMENT,
    REPLICA_SET,
    DAEMON_SET,
    STATEFUL_SET,
    JOB,
    POD_TEMPLATE,
    DISRUPTION_BUDGET,
    VOLUME_CLAIM,
    VOLUME,
    STORAGE_CLASS,
    CSI_NODE,
)

_INERT = (
    Resource("", "v1", "configmaps", "ConfigMap"),
    Resource("", "v1", "serviceaccounts", "ServiceAccount"),
    wire.AUTOSCALERS,  # Its status is a source of known demand for headrooms.
)

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*_ALIVE, *(Kind(resource, Depth.INERT) for resource in _INERT))
}
