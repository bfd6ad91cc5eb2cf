"""The kinds that the embedded API server serves, and how far each is modelled.

A kind is alive (an actor of the simulator acts on it) or inert (kept and shown, but nothing acts on
it: the run says so). Any other is unknown and refused: leaving it out silently would mislead.
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
    """One kind: where it lives, whether its status is a subresource, and how far we model it."""

    resource: Resource
    depth: Depth = Depth.ALIVE
    has_status: bool = True

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


NAMESPACE = Kind(wire.NAMESPACES)
NODE = Kind(wire.NODES)
POD = Kind(wire.PODS)
EVENT = Kind(wire.EVENTS, has_status=False)
PRIORITY_CLASS = Kind(wire.PRIORITY_CLASSES, has_status=False)
HOLD = Kind(wire.HOLDS)
CLAIM_INDEX = Kind(wire.CLAIM_INDEXES, has_status=False)
QUOTA = Kind(Resource("", "v1", "resourcequotas", "ResourceQuota"))
SERVICE = Kind(Resource("", "v1", "services", "Service"))
DEPLOYMENT = Kind(Resource("apps", "v1", "deployments", "Deployment"))
REPLICA_SET = Kind(Resource("apps", "v1", "replicasets", "ReplicaSet"))
DAEMON_SET = Kind(Resource("apps", "v1", "daemonsets", "DaemonSet"))
STATEFUL_SET = Kind(Resource("apps", "v1", "statefulsets", "StatefulSet"))
JOB = Kind(Resource("batch", "v1", "jobs", "Job"))
DISRUPTION_BUDGET = Kind(Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"))

_ALIVE = (
    NAMESPACE,
    NODE,
    POD,
    EVENT,
    PRIORITY_CLASS,
    HOLD,
    CLAIM_INDEX,
    QUOTA,
    SERVICE,
    DEPLOYMENT,
    REPLICA_SET,
    DAEMON_SET,
    STATEFUL_SET,
    JOB,
    DISRUPTION_BUDGET,
)

_INERT = (
    Resource("", "v1", "configmaps", "ConfigMap"),
    Resource("", "v1", "limitranges", "LimitRange"),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    Resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False),
    Resource("", "v1", "serviceaccounts", "ServiceAccount"),
    Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False),
)

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*_ALIVE, *(Kind(resource, Depth.INERT) for resource in _INERT))
}
