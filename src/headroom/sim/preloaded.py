"""Objects that exist in every cluster from the start: namespaces and priority classes."""

from __future__ import annotations

from headroom.core.names import (
    LOCKED_CLASS,
    LOCKED_PRIORITY,
    PREEMPTIBLE_CLASS,
    PREEMPTIBLE_PRIORITY,
)
from headroom.sim.api.values import Json

NAMESPACES = ("default", "kube-system", "headroom-system")
_CLASSES = (
    ("system-cluster-critical", 2_000_000_000, "PreemptLowerPriority"),
    ("system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
    (LOCKED_CLASS, LOCKED_PRIORITY, "Never"),
    (PREEMPTIBLE_CLASS, PREEMPTIBLE_PRIORITY, "Never"),
)


def preloaded() -> list[Json]:
    """The objects of an empty cluster in which our operator is installed."""
    namespaces: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "status": {"phase": "Active"},
        }
        for name in NAMESPACES
    ]
    classes: list[Json] = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "preemptionPolicy": policy,
        }
        for name, value, policy in _CLASSES
    ]
    return namespaces + classes
