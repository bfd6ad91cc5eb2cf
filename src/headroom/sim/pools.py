"""Pools of machines: nodes of one shape, and the behaviour of the autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headroom.sim.api.nodes import kubelet_labels
from headroom.sim.api.values import Json

POOL_LABEL = "sim.headroom.dev/pool"


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes of one shape: `count` at the start, and up to `most` with the autoscaler."""

    name: str
    count: int = 0
    most: int = 0
    capacity: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Json, ...] = ()
    boot_delay: float = 60.0
    price: float = 0.0

    def node_name(self, index: int) -> str:
        return f"{self.name}-{index}"

    def node(self, index: int) -> dict[str, Any]:
        """The Node object of one machine of this pool."""
        name = self.node_name(index)
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {**kubelet_labels(name), POOL_LABEL: self.name, **self.labels},
            },
            "spec": {"taints": [*self.taints]} if self.taints else {},
            "status": {"capacity": {**self.capacity}, "allocatable": {**self.capacity}},
        }


@dataclass(frozen=True, slots=True)
class AutoscalerBehaviour:
    """The behaviour of an autoscaler.

    Pods with a priority below `cutoff` request no node and keep none. A node with `busy`
    thousandths or more of its capacity requested is not removed. `taint` is set on a node that is
    being removed.
    """

    profile: str
    scan: float
    taint: str
    cutoff: int | None = None
    busy: int | None = None


CLUSTER_AUTOSCALER = "ClusterAutoscaler"
KARPENTER = "Karpenter"
BEHAVIOURS = {
    CLUSTER_AUTOSCALER: AutoscalerBehaviour(
        CLUSTER_AUTOSCALER, 10.0, "ToBeDeletedByClusterAutoscaler", cutoff=-10, busy=500
    ),
    KARPENTER: AutoscalerBehaviour(KARPENTER, 1.0, "karpenter.sh/disrupted"),
}


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """Whether there is an autoscaler, which kind, and how long it keeps unneeded nodes."""

    enabled: bool = False
    scale_down_after: float = 600.0
    profile: str = CLUSTER_AUTOSCALER
    cutoff: int | None = None

    @property
    def counts_daemon_sets(self) -> bool:
        """Whether the autoscaler counts only DaemonSets on a node that does not exist yet."""
        return self.enabled and self.profile == KARPENTER

    @property
    def manner(self) -> AutoscalerBehaviour:
        found = BEHAVIOURS[self.profile]
        return found if self.cutoff is None else replace(found, cutoff=self.cutoff)


NO_AUTOSCALING = Autoscaling()
