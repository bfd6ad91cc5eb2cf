"""Which objects hold how much, and how full the nodes are, the fullest first. Pure; for `top`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headroom.cli.amounts import hundredths, shown
from headroom.cli.output import columns
from headroom.cli.views.rooms import NodeRoom, resources_of, room_item, total
from headroom.core.names import API_VERSION, PARENT_ANNOTATION, ROLE_GUARDIAN, ROLE_LABEL
from headroom.core.objects import Pod, titled
from headroom.core.resources import CPU, EMPTY, MEMORY, Resources


@dataclass(frozen=True, slots=True)
class Holder:
    """An object with guardians, and how much they keep."""

    parent: str
    slots: int
    waiting: int
    held: Resources


def holders(pods: Iterable[Pod], namespace: str = "") -> list[Holder]:
    """Sum up the guardians of each parent in a namespace, or in all, the largest first."""
    found: dict[str, Holder] = {}
    for pod in pods:
        if pod.labels.get(ROLE_LABEL) != ROLE_GUARDIAN or pod.finished or pod.deleted is not None:
            continue
        parent = titled(pod.annotations.get(PARENT_ANNOTATION, ""))
        if namespace and parent.split("/")[1:-1] != [namespace]:
            continue
        old = found.get(parent, Holder(parent, 0, 0, EMPTY))
        if pod.node:
            found[parent] = Holder(parent, old.slots + 1, old.waiting, old.held + pod.requests)
        else:
            found[parent] = Holder(parent, old.slots, old.waiting + 1, old.held)
    return sorted(
        found.values(), key=lambda each: (-each.held[CPU], -each.held[MEMORY], each.parent)
    )


def top_text(found: Sequence[Holder], nodes: Sequence[NodeRoom]) -> str:
    """Both tables, if they have rows."""
    everything = total(nodes)
    resources = resources_of(
        [*nodes, NodeRoom("", EMPTY, held=sum((each.held for each in found), EMPTY))]
    )
    parts = []
    if found:
        rows = [holder_row(each, everything.allocatable, resources) for each in found]
        parts.append(columns(holder_headings(resources), rows))
    if nodes:
        lines = [node_row(room, resources) for room in (everything, *nodes)]
        parts.append(columns(node_headings(resources), lines))
    return "\n\n".join(parts)


def holder_headings(resources: Sequence[str]) -> tuple[str, ...]:
    """The headings of the table of holders."""
    parts = [(name.upper(), "OF ALL") for name in resources]
    return ("HELD FOR", "SLOTS", "WAITING", *(heading for part in parts for heading in part))


def node_headings(resources: Sequence[str]) -> tuple[str, ...]:
    """The headings of the table of nodes."""
    parts = [(f"{name.upper()} USED", "HELD", "FREE") for name in resources]
    return ("NODE", *(heading for part in parts for heading in part), "STATE")


def holder_row(holder: Holder, everything: Resources, resources: Sequence[str]) -> list[str]:
    """One line of the table; the share is of all nodes together."""
    cells = [holder.parent, str(holder.slots), str(holder.waiting) if holder.waiting else ""]
    for resource in resources:
        amount = holder.held[resource]
        cells += [shown(resource, amount), percent(amount, everything[resource])]
    return cells


def fullest(found: Sequence[NodeRoom]) -> list[NodeRoom]:
    """Nodes sorted by free CPU, the fullest first."""
    return sorted(found, key=lambda room: (_free_permille(room), room.node))


def _free_permille(room: NodeRoom) -> int:
    return 1000 * room.free[CPU] // (room.allocatable[CPU] or 1)


def node_row(room: NodeRoom, resources: Sequence[str]) -> list[str]:
    """One line of the table: everything as a share of the node."""
    cells = [room.node]
    for resource in resources:
        parts = (room.used, room.held, room.free)
        cells += [percent(part[resource], room.allocatable[resource]) for part in parts]
    return [*cells, room.state]


def percent(amount: int, of: int) -> str:
    """A share in whole hundredths, rounded to the nearest."""
    return f"{hundredths(amount, of)}%" if of else ""


def top_document(found: Sequence[Holder], nodes: Sequence[NodeRoom]) -> dict[str, Any]:
    """The same for programs; CPU in thousandths, everything else in its own unit."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Top",
        "holders": [
            {
                "parent": each.parent,
                "slots": each.slots,
                "waiting": each.waiting,
                "held": dict(sorted(each.held.items())),
            }
            for each in found
        ],
        "nodes": [
            {name: part for name, part in room_item(room).items() if name != "free"}
            for room in nodes
        ],
    }
