"""Slots of headrooms as rows of a table and as a document; there is no object for a slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.source import World
from headroom.cli.spans import age
from headroom.cli.views.slots import SlotView, slots_of
from headroom.cli.views.tables import Table, TableRow
from headroom.core.resources import EMPTY, Resources

HEADINGS = ("NAMESPACE", "HEADROOM", "SLOT", "STATE", "NODE")


def slots(world: World) -> Table:
    """Every slot of every headroom, in the order of the wanted slots."""
    found = [
        view
        for each in sorted(world.headrooms, key=lambda each: each.key)
        for view in slots_of(world, each)
    ]
    resources = in_play(_requests(view) for view in found)
    rows = [_row(view, resources, world) for view in found]
    return Table(
        (*HEADINGS, *headings(resources), "AGE", "WHY"), rows, ("GUARDIAN",), listed="SlotList"
    )


def _row(view: SlotView, resources: Sequence[str], world: World) -> TableRow:
    """One line of the table; the age is its guardian's, the labels are its headroom's."""
    key, guardian = view.headroom.key, view.guardian
    cells_shown = [
        key.namespace,
        key.name,
        view.name,
        view.state.value,
        view.node,
        *cells(_requests(view), resources),
        age(guardian.created if guardian is not None else None, world.now),
        view.why,
    ]
    name = guardian.key.name if guardian is not None else ""
    ref = f"slot/{key.name}/{view.name}"
    return TableRow(slot_item(view), cells_shown, [name], key, view.headroom.labels, ref)


def slot_item(view: SlotView) -> dict[str, Any]:
    """The same for programs; CPU in thousandths, everything else in its own unit."""
    return {
        "namespace": view.headroom.key.namespace,
        "headroom": view.headroom.key.name,
        "slot": view.name,
        "state": view.state.value,
        "node": view.node,
        "guardian": view.guardian.key.name if view.guardian is not None else "",
        "requests": dict(sorted(_requests(view).items())),
        "why": view.why,
    }


def _requests(view: SlotView) -> Resources:
    if view.guardian is not None:
        return view.guardian.requests
    return view.hold.template.pod.requests if view.hold is not None else EMPTY
