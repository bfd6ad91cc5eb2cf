"""Stored JSON as core values.

The same decoders that read a real cluster's answers read ours, so the operator cannot tell the
two apart by what it sees.
"""

from __future__ import annotations

from headroom.core.objects import Node, Pod
from headroom.ports import Thing
from headroom.sim.api.store import Change
from headroom.sim.api.values import Json, Stored
from headroom.sim.errors import SimulationError
from headroom.wire.errors import DecodeError
from headroom.wire.objects.nodes import node_from
from headroom.wire.objects.pods import pod_from


def pod_of(obj: Json) -> Pod:
    """A pod as every cluster reads it; one that is stored is read once."""
    if not isinstance(obj, Stored):
        return pod_from(obj)
    found = obj.plain
    if not isinstance(found, Pod):
        found = obj.plain = obj.again() or pod_from(obj)
    return found


def node_of(obj: Json) -> Node:
    """A node as every cluster reads it; one that is stored is read once."""
    if not isinstance(obj, Stored):
        return node_from(obj)
    found = obj.plain
    if not isinstance(found, Node):
        found = obj.plain = node_from(obj)
    return found


def readable(change: Change) -> Thing | None:
    """What changed as a core value; None for what nobody can read."""
    try:
        return change.thing
    except DecodeError:
        return None


def changed_pod(change: Change) -> Pod:
    pod = change.thing
    if not isinstance(pod, Pod):
        raise SimulationError(f"{change.ref} is no pod")
    return pod


def changed_node(change: Change) -> Node:
    node = change.thing
    if not isinstance(node, Node):
        raise SimulationError(f"{change.ref} is no node")
    return node
