"""Convert stored JSON to core values.

The decoders are those that read the answers of a real cluster, so the operator sees the same values
from both.
"""

from __future__ import annotations

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Json, Stored
from headroom.sim.errors import SimulationError
from headroom.wire.errors import DecodeError
from headroom.wire.objects.nodes import node_from
from headroom.wire.objects.pods import pod_from


def pod_of(obj: Json) -> Pod:
    """Decode a pod without dialects; a stored pod is decoded once."""
    if type(obj) is not Stored:
        return pod_from(obj)
    found = obj.plain
    if type(found) is Pod:
        return found
    read = obj.plain = obj.again() or pod_from(obj)
    return read


def node_of(obj: Json) -> Node:
    """Decode a node without dialects; a stored node is decoded once."""
    if not isinstance(obj, Stored):
        return node_from(obj)
    found = obj.plain
    if not isinstance(found, Node):
        found = obj.plain = node_from(obj)
    return found


def readable(change: ObjectChange) -> Thing | None:
    """The changed object as a core value; None if it cannot be decoded."""
    try:
        return change.thing
    except DecodeError:
        return None


def changed_pod(change: ObjectChange) -> Pod:
    pod = change.known
    if type(pod) is Pod:  # A pod is asked for ten times for each change.
        return pod
    pod = change.thing
    if not isinstance(pod, Pod):
        raise SimulationError(f"{change.ref} is no pod")
    return pod


def changed_node(change: ObjectChange) -> Node:
    node = change.thing
    if not isinstance(node, Node):
        raise SimulationError(f"{change.ref} is no node")
    return node
