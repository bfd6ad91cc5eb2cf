"""Machines that Karpenter's fake cloud sells, and the manifests that let it order them.

Values only: `karpenter` writes and applies them. The provider keeps 100m CPU and 10Mi of each
machine for itself, so a machine of four cores offers pods 3900m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from testbed.api import Json

NODE_CLASS = "testbed"
NODE_POOL = "testbed"
ZONE = "test-zone-a"
_ON_DEMAND = "on-demand"


@dataclass(frozen=True)
class MachineType:
    """One kind of machine and what it costs by the hour; `extra` are devices, for example."""

    name: str
    cpu: int
    memory_gib: int
    price: float
    pods: int = 110
    extra: Mapping[str, str] = field(default_factory=dict)


SMALL = (
    MachineType("two", cpu=2, memory_gib=8, price=0.10),
    MachineType("four", cpu=4, memory_gib=16, price=0.20),
    MachineType("eight", cpu=8, memory_gib=32, price=0.40),
)
GPU = MachineType("gpu", cpu=8, memory_gib=32, price=3.0, extra={"nvidia.com/gpu": "2"})


class Wanted(Protocol):
    """What a NodePool says beside where its machines come from."""

    @property
    def consolidate_after_s(self) -> int: ...
    @property
    def cpu_limit(self) -> str | None: ...
    @property
    def when_empty_only(self) -> bool: ...


def machines_file(machines: Sequence[MachineType]) -> list[Json]:
    """The provider's list of instance types."""
    return [
        {
            "name": machine.name,
            "architecture": "amd64",
            "operatingSystems": ["linux"],
            "offerings": [{"Price": machine.price, "Available": True, "Requirements": _offering()}],
            "resources": {
                "cpu": str(machine.cpu),
                "memory": f"{machine.memory_gib}Gi",
                "ephemeral-storage": "20Gi",
                "pods": str(machine.pods),
                **machine.extra,
            },
        }
        for machine in machines
    ]


def node_class(boot_delay_s: int) -> Json:
    """The KWOKNodeClass: a machine's Node object appears so long after it was ordered."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": NODE_CLASS},
        "spec": {"nodeRegistrationDelay": f"{boot_delay_s}s"},
    }


def node_pool(node_class_name: str, wanted: Wanted) -> Json:
    """The NodePool from which every machine is ordered."""
    policy = "WhenEmpty" if wanted.when_empty_only else "WhenEmptyOrUnderutilized"
    spec: Json = {
        "template": {
            "spec": {
                "nodeClassRef": {
                    "group": "karpenter.kwok.sh",
                    "kind": "KWOKNodeClass",
                    "name": node_class_name,
                },
                "requirements": _offering(),
                "expireAfter": "Never",
            }
        },
        "disruption": {
            "consolidationPolicy": policy,
            "consolidateAfter": f"{wanted.consolidate_after_s}s",
            "budgets": [{"nodes": "100%"}],
        },
    }
    if wanted.cpu_limit is not None:
        spec["limits"] = {"cpu": wanted.cpu_limit}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": NODE_POOL},
        "spec": spec,
    }


def _offering() -> list[Json]:
    return [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [_ON_DEMAND]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [ZONE]},
    ]
