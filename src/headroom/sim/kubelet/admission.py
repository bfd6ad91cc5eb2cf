"""The kubelet's admission check of a bound pod: pure; a rejection is final.

It counts what is really on the node, not what kube-scheduler assumes: room, node affinity, host
ports, NoExecute taints, in the order and with the messages of the real kubelet (1.36).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from headroom.core.objects import Node, Pod
from headroom.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, Resources
from headroom.core.selection import node_matches, tolerated
from headroom.scheduling import reasons

ANY_IP = "0.0.0.0"
_TAINTED = "node(s) had taints that the pod didn't tolerate"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why the kubelet does not run a pod: `reason` as in `status.reason`."""

    reason: str
    message: str


def rejection(pod: Pod, node: Node, others: Collection[Pod], used: Resources) -> Rejection | None:
    """Why a node cannot run a pod beside its other pods; None if it can."""
    return (
        _short_of_room(pod, node, len(others), used)
        or _wrong_node(pod, node)
        or _port_taken(pod, others)
        or _untolerated(pod, node)
    )


def _short_of_room(pod: Pod, node: Node, count: int, used: Resources) -> Rejection | None:
    if count + 1 > node.allocatable[PODS]:
        return _out_of(PODS, 1, count, node.allocatable[PODS])
    first = [CPU, MEMORY, EPHEMERAL_STORAGE]
    if (used + pod.requests).fits_in(node.allocatable):
        return None
    for resource in [*first, *sorted(name for name in pod.requests if name not in first)]:
        asked, taken, capacity = pod.requests[resource], used[resource], node.allocatable[resource]
        if asked and taken + asked > capacity:
            return _out_of(resource, asked, taken, capacity)
    return None


def _out_of(resource: str, asked: int, taken: int, capacity: int) -> Rejection:
    words = f"Node didn't have enough resource: {resource}, requested: {asked}, "
    return Rejection(f"OutOf{resource}", f"{words}used: {taken}, capacity: {capacity}")


def _wrong_node(pod: Pod, node: Node) -> Rejection | None:
    matches = node_matches(pod.placement, node)
    return None if matches else _predicate("NodeAffinity", reasons.NODE_AFFINITY)


def _port_taken(pod: Pod, others: Collection[Pod]) -> Rejection | None:
    for port in pod.placement.ports:
        for other in others:
            for taken in other.placement.ports:
                same = (port.port, port.protocol) == (taken.port, taken.protocol)
                if same and (port.ip == taken.ip or ANY_IP in (port.ip, taken.ip)):
                    return _predicate("NodePorts", reasons.PORTS)
    return None


def _untolerated(pod: Pod, node: Node) -> Rejection | None:
    for taint in node.taints:
        if taint.effect == "NoExecute" and not tolerated(taint, pod.placement.tolerations):
            return _predicate("TaintToleration", _TAINTED)
    return None


def _predicate(name: str, why: str) -> Rejection:
    return Rejection(name, f"Predicate {name} failed: {why}")
