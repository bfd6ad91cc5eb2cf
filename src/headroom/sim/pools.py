"""Pools of machines: nodes of one shape, and what the autoscaler may do with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headroom.sim.api.values import Json

POOL_LABEL = "sim.headroom.dev/pool"


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes of one shape: `count` at the start, up to `most` with the autoscaler's help."""

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
                "labels": {"kubernetes.io/hostname": name, POOL_LABEL: self.name, **self.labels},
            },
            "spec": {"taints": [*self.taints]} if self.taints else {},
            "status": {"capacity": {**self.capacity}, "allocatable": {**self.capacity}},
        }


@dataclass(frozen=True, slots=True)
class Autoscaling:
    enabled: bool = False
    scale_down_after: float = 600.0


NO_AUTOSCALING = Autoscaling()
