"""Stored JSON as core values, each version read once for all who listen.

The same decoders that read a real cluster's answers read ours, so the operator cannot tell the
two apart by what it sees.
"""

from __future__ import annotations

from headroom.core.objects import Node, Pod
from headroom.sim.api.kinds import KINDS
from headroom.sim.api.store import Change
from headroom.sim.api.values import Json
from headroom.sim.errors import SimulationError
from headroom.wire.decode import Thing, node_from, pod_from, thing_from


def pod_of(obj: Json) -> Pod:
    return pod_from(obj)


def node_of(obj: Json) -> Node:
    return node_from(obj)


def thing_of(change: Change) -> Thing:
    """Decode what changed; a second listener gets the first one's value."""
    if change.value is None:
        resource = KINDS[str(change.obj["kind"])].resource
        change.value = thing_from(resource, change.obj)
    value: Thing = change.value
    return value


def changed_pod(change: Change) -> Pod:
    pod = thing_of(change)
    if not isinstance(pod, Pod):
        raise SimulationError(f"{change.ref} is no pod")
    return pod


def changed_node(change: Change) -> Node:
    node = thing_of(change)
    if not isinstance(node, Node):
        raise SimulationError(f"{change.ref} is no node")
    return node
