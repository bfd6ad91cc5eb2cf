"""Nodes, pods and clusters for the scheduling tests: everything defaulted, nothing random."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headroom.core.objects import (
    HostPort,
    Key,
    LabelSelector,
    Node,
    NodeAffinity,
    NodeTerm,
    Placement,
    Pod,
    PodAffinity,
    PodTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpread,
)
from headroom.core.resources import Resources
from headroom.scheduling.state import ClusterState

GI = 1024**3
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def node(
    name: str,
    cpu: int = 4000,
    memory: int = 8 * GI,
    *,
    pods: int = 110,
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    unschedulable: bool = False,
    extra: Mapping[str, int] | None = None,
) -> Node:
    found = {HOSTNAME: name, **(labels or {})}
    if zone:
        found[ZONE] = zone
    room = {"cpu": cpu, "memory": memory, "pods": pods, **(extra or {})}
    return Node(
        name,
        labels=found,
        taints=taints,
        unschedulable=unschedulable,
        allocatable=Resources(room),
    )


def pod(name: str, cpu: int = 0, memory: int = 0, **parts: Any) -> Pod:
    """Make a pod of namespace `default`; parts of its placement may be given by their own names."""
    extra: dict[str, int] = parts.pop("extra", {})
    namespace: str = parts.pop("namespace", "default")
    placement = {key: parts.pop(key) for key in list(parts) if key in Placement.__slots__}
    return Pod(
        Key(namespace, name),
        uid=f"uid-{name}",
        requests=Resources({"cpu": cpu, "memory": memory, **extra}),
        placement=Placement(**placement),
        **parts,
    )


def cluster(*things: Node | Pod) -> ClusterState:
    """Make a state of nodes and bound pods."""
    state = ClusterState()
    for thing in things:
        if isinstance(thing, Node):
            state.set_node(thing)
        else:
            state.add_pod(thing)
    return state


def selector(**labels: str) -> LabelSelector:
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in labels.items()))


def affinity(*requirements: Requirement) -> NodeAffinity:
    return NodeAffinity(required=(NodeTerm(labels=requirements),))


def to_node(*names: str) -> NodeAffinity:
    """Name nodes as a DaemonSet does: one term a node."""
    return NodeAffinity(
        required=tuple(
            NodeTerm(fields=(Requirement("metadata.name", "In", (name,)),)) for name in names
        )
    )


def near(topology_key: str = HOSTNAME, **labels: str) -> PodAffinity:
    return PodAffinity(required=(PodTerm(selector(**labels), topology_key),))


def spread(topology_key: str, max_skew: int = 1, hard: bool = True, **parts: Any) -> TopologySpread:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    chosen = parts.pop("chosen", selector(app="web"))
    return TopologySpread(max_skew, topology_key, when, chosen, **parts)


def port(number: int, ip: str = "0.0.0.0", protocol: str = "TCP") -> HostPort:
    return HostPort(number, protocol, ip)


def tolerate_everything() -> tuple[Toleration, ...]:
    return (Toleration(operator="Exists"),)
