"""How full nodes are: used, held, free. Pure; for `get nodes` and `top`.

Used is what ordinary pods request, held is what guardians keep, free is the rest. Latches are left
out: for half a second they count a pod twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headroom.cli.amounts import in_play, shown
from headroom.cli.source import World
from headroom.cli.views.tables import Table, TableRow
from headroom.core.names import ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Key, Node, Pod
from headroom.core.resources import EMPTY, PODS, Resources
from headroom.dashboard.rows import node_state

CLUSTER = "*"


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """One node's room; `state` says what keeps pods away from it, if anything."""

    node: str
    allocatable: Resources
    used: Resources = EMPTY
    held: Resources = EMPTY
    state: str = ""

    @property
    def free(self) -> Resources:
        """What is neither used nor held; negative if a node is overcommitted."""
        return self.allocatable - self.used - self.held


def rooms(nodes: Iterable[Node], pods: Iterable[Pod]) -> list[NodeRoom]:
    """The room of every node, by name."""
    used: dict[str, Resources] = {}
    held: dict[str, Resources] = {}
    for pod in pods:
        if not pod.occupies_node:
            continue
        sums = held if pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN else used
        counted = pod.requests + Resources({PODS: 1})
        sums[pod.node] = sums.get(pod.node, EMPTY) + counted
    return [
        NodeRoom(
            node.name,
            node.allocatable,
            used.get(node.name, EMPTY),
            held.get(node.name, EMPTY),
            node_state(node),
        )
        for node in sorted(nodes, key=lambda node: node.name)
    ]


def total(found: Sequence[NodeRoom]) -> NodeRoom:
    """The whole cluster as one line."""
    allocatable, used, held = EMPTY, EMPTY, EMPTY
    for room in found:
        allocatable = allocatable + room.allocatable
        used = used + room.used
        held = held + room.held
    return NodeRoom(CLUSTER, allocatable, used, held)


def resources_of(found: Iterable[NodeRoom]) -> tuple[str, ...]:
    """The resources that a node offers or a pod requests, as columns of a table."""
    there = list(found)
    asked = [part for room in there for part in (room.used, room.held)]
    return in_play(asked, [room.allocatable for room in there])


def room_headings(resources: Sequence[str]) -> tuple[str, ...]:
    """The headings of `get nodes`."""
    parts = [(name.upper(), "USED", "HELD", "FREE") for name in resources]
    return ("NODE", *(heading for part in parts for heading in part), "STATE")


def room_row(room: NodeRoom, resources: Sequence[str]) -> list[str]:
    """One line of the table."""
    cells = [room.node]
    for resource in resources:
        parts = (room.allocatable, room.used, room.held, room.free)
        cells += [shown(resource, part[resource]) for part in parts]
    return [*cells, room.state]


def room_item(room: NodeRoom) -> dict[str, Any]:
    """The same for programs; CPU in thousandths, everything else in its own unit."""
    return {
        "name": room.node,
        "state": room.state,
        "allocatable": dict(sorted(room.allocatable.items())),
        "used": dict(sorted(room.used.items())),
        "held": dict(sorted(room.held.items())),
        "free": dict(sorted(room.free.items())),
    }


def node_table(world: World) -> Table:
    """Every node by name, below a line for all of them; the wide table counts pods too."""
    found = rooms(world.nodes, world.pods)
    labels = {node.name: node.labels for node in world.nodes}
    resources = resources_of(found)
    rows = [
        TableRow(
            room_item(room),
            room_row(room, resources),
            room_row(room, (PODS,))[1:-1],
            Key("", room.node),
            labels[room.node],
            f"node/{room.node}",
        )
        for room in found
    ]
    everything = total(found)
    above = [*room_row(everything, resources), *room_row(everything, (PODS,))[1:-1]]
    return Table(
        room_headings(resources),
        rows,
        room_headings((PODS,))[1:-1],
        namespaced=False,
        above=(above,),
        listed="NodeRoomList",
    )
