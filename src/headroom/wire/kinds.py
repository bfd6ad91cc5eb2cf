"""The kinds of object that we read or write, and where the API server keeps them.

Both adapters address objects through these values, so a path is spelled in one place only.
A dialect adds its kinds by making further `Resource` values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias
from urllib.parse import quote

from headroom.core.names import GROUP, VERSION

Json: TypeAlias = dict[str, Any]
"""An object of the API, which is open-ended JSON."""

FOREIGN_GROUPS = {
    "autoscaling.x-k8s.io": "capacitybuffer",
    "core.korder.dev": "korder",
    "scheduling.koordinator.sh": "koordinator",
}
"""Groups whose kinds a dialect serves, by its name: whoever meets one can say what is missing."""


_quoted = lru_cache(maxsize=1024)(partial(quote, safe=""))


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """One kind as the API serves it; an empty `group` is the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """The path under which this group and version are served."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of a collection (no name), an object or its subresource."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts += ["namespaces", _quoted(namespace)]
        parts.append(self.plural)
        if name:
            parts.append(_quoted(name))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)

    def new(self, metadata: Json, **parts: Any) -> Json:
        """An object of this kind, with `parts` after its metadata."""
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **parts}

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


PODS = Resource("", "v1", "pods", "Pod")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
EVENTS = Resource("", "v1", "events", "Event")
PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
HOLDS = Resource(GROUP, VERSION, "holds", "Hold")
HEADROOMS = Resource(GROUP, VERSION, "headrooms", "Headroom")
SLOT_SETS = Resource(GROUP, VERSION, "slotsets", "SlotSet")
CLAIM_INDEXES = Resource(GROUP, VERSION, "claimindexes", "ClaimIndex")

# Kinds whose pods a Headroom's slots may copy; watched only where one does.
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")
REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet")
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet")
JOBS = Resource("batch", "v1", "jobs", "Job")
WORKLOADS = (DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS, DAEMON_SETS, JOBS)

AUTOSCALERS = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
RESOURCE_QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
LIMIT_RANGES = Resource("", "v1", "limitranges", "LimitRange")
POD_TEMPLATES = Resource("", "v1", "podtemplates", "PodTemplate")

# What a pod's volumes are made of.
VOLUME_CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
VOLUMES = Resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False)
STORAGE_CLASSES = Resource(
    "storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False
)

CSI_NODES = Resource("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False)

KINDS: tuple[Resource, ...] = (
    PODS,
    NODES,
    NAMESPACES,
    EVENTS,
    PRIORITY_CLASSES,
    LEASES,
    HOLDS,
    HEADROOMS,
    SLOT_SETS,
    CLAIM_INDEXES,
    *WORKLOADS,
    VOLUME_CLAIMS,
    VOLUMES,
    STORAGE_CLASSES,
    CSI_NODES,
    RESOURCE_QUOTAS,
    BUDGETS,
    AUTOSCALERS,
)
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in KINDS}


def find_kind(api_version: str, kind: str) -> Resource | None:
    """Look a kind up by what an object says of itself."""
    return _BY_KIND.get((api_version, kind))
