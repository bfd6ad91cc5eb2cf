"""`headroom get`: what is held, by whom it is used, and how full the nodes are.

Tables for people; `-o json|yaml` prints holds, headrooms, guardians and claims as the objects they
are, and slots and nodes, which are no objects, under versioned kinds of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.errors import Answer
from headroom.cli.nouns import NAMES, dialects_for, noun
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Namespace, Output
from headroom.cli.output import Format, columns, document, objects, put, say

if TYPE_CHECKING:
    from headroom.cli.source import World
    from headroom.cli.telling.listing import Table
    from headroom.cli.telling.rooms import Room

LISTED = (
    "hold",
    "headroom",
    "slot",
    "node",
    "guardian",
    "claim",
    "order",
    "ticket",
    "reservation",
)


def get(
    kind: Annotated[
        str,
        typer.Argument(metavar="[KIND]", help="holds, headrooms, slots, nodes, guardians, claims"),
    ] = "holds",
    name: Annotated[str, typer.Argument(help="Only this one.")] = "",
    namespace: Namespace = "",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """List holds, headrooms, their slots, nodes with their held room, guardians or claims."""
    from headroom.cli.source import Where, read_world

    wanted = noun(kind, LISTED)
    dialects = dialects_for(wanted, dialect)
    files = tuple(source or ())
    world = read_world(Where(files, str(kubeconfig or ""), context, dialects=dialects))
    if wanted == "node":
        _put_nodes(world, name, output)
    elif wanted == "slot":
        _put_slots(world, (namespace, name), output)
    else:
        _put_objects(world, wanted, (namespace, name), output)


def _put_nodes(world: World, name: str, output: Format) -> None:
    from headroom.cli.telling.rooms import (
        resources_of,
        room_document,
        room_headings,
        room_row,
        rooms,
        total,
    )

    found = [room for room in rooms(world.nodes, world.pods) if not name or room.node == name]
    if name and not found:
        raise Answer(f"there is no node {name}", "see: headroom get nodes")
    if output is not Format.TABLE:
        put(document(room_document(found), output))
        return
    lines: list[Room] = found if name else [total(found), *found]
    resources = resources_of(lines)
    put(columns(room_headings(resources), [room_row(room, resources) for room in lines]))


def _put_slots(world: World, wanted: tuple[str, str], output: Format) -> None:
    from headroom.cli.telling.slot_rows import slot_document, slot_table
    from headroom.cli.telling.slots import slots_of

    found = [
        view
        for each in sorted(world.headrooms, key=lambda each: each.key)
        if wanted[0] in ("", each.key.namespace) and wanted[1] in ("", each.key.name)
        for view in slots_of(world, each)
    ]
    if output is not Format.TABLE:
        put(document(slot_document(found), output))
    elif found:
        put(columns(*slot_table(found, world.now)))
    else:
        say(f"no slots of {wanted[1]} here" if wanted[1] else "no slots here")


def _put_objects(world: World, kind: str, wanted: tuple[str, str], output: Format) -> None:
    table = _table(world, kind)
    kinds = NAMES[kind][1]
    rows = [row for row in table.rows if _matches(row.item, wanted)]
    if wanted[1] and not rows:
        raise Answer(f"no such {kind}: {wanted[1]}", f"see: headroom get {kinds}")
    if output is not Format.TABLE:
        put(objects([row.item for row in rows], output))
    elif rows:
        put(columns(table.headings, [row.cells for row in rows]))
    else:
        say(f"no {kinds} here")


def _table(world: World, kind: str) -> Table:
    from headroom.cli.telling import headroom_rows, listing

    if kind in ("headroom", "order"):
        return headroom_rows.headrooms(world, kind.capitalize())
    if kind == "guardian":
        return listing.guardians(world)
    if kind == "claim":
        return listing.claims(world)
    return listing.holds(world, kind.capitalize())


def _matches(item: Any, wanted: tuple[str, str]) -> bool:
    metadata = item.get("metadata") or {}
    pairs: Iterable[tuple[str, object]] = (
        (wanted[0], metadata.get("namespace", "default")),
        (wanted[1], metadata.get("name")),
    )
    return all(not asked or asked == there for asked, there in pairs)
