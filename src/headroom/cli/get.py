"""`headroom get`: what is held, by whom it is used, and how full the nodes are.

Tables for people; `-o json|yaml` prints holds, guardians and claims as the objects they are, and
nodes as numbers under a versioned kind of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.errors import Answer
from headroom.cli.options import Context, From, Kubeconfig, Namespace, Output
from headroom.cli.output import Format, columns, document, objects, put, say

if TYPE_CHECKING:
    from headroom.cli.rooms import Room
    from headroom.cli.source import World


class Kind(StrEnum):
    HOLDS = "holds"
    NODES = "nodes"
    GUARDIANS = "guardians"
    CLAIMS = "claims"


def get(
    kind: Annotated[Kind, typer.Argument(help="What to list.")] = Kind.HOLDS,
    name: Annotated[str, typer.Argument(help="Only this one.")] = "",
    namespace: Namespace = "",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """List holds, nodes with their held room, guardians or claims."""
    from headroom.cli.source import Where, read_world

    world = read_world(Where(tuple(source or ()), str(kubeconfig or ""), context))
    if kind is Kind.NODES:
        _put_nodes(world, name, output)
    else:
        _put_objects(world, kind, (namespace, name), output)


def _put_nodes(world: World, name: str, output: Format) -> None:
    from headroom.cli.rooms import ROOM_HEADINGS, room_document, room_row, rooms, total

    found = [room for room in rooms(world.nodes, world.pods) if not name or room.node == name]
    if name and not found:
        raise Answer(f"there is no node {name}", "see: headroom get nodes")
    if output is not Format.TABLE:
        put(document(room_document(found), output))
        return
    lines: list[Room] = found if name else [total(found), *found]
    put(columns(ROOM_HEADINGS, [room_row(room) for room in lines]))


def _put_objects(world: World, kind: Kind, wanted: tuple[str, str], output: Format) -> None:
    from headroom.cli import listing

    table = {
        Kind.HOLDS: listing.holds,
        Kind.GUARDIANS: listing.guardians,
        Kind.CLAIMS: listing.claims,
    }[kind](world)
    rows = [row for row in table.rows if _matches(row.item, wanted)]
    if wanted[1] and not rows:
        raise Answer(f"no such {kind.removesuffix('s')}: {wanted[1]}", f"see: headroom get {kind}")
    if output is not Format.TABLE:
        put(objects([row.item for row in rows], output))
    elif rows:
        put(columns(table.headings, [row.cells for row in rows]))
    else:
        say(f"no {kind} here")


def _matches(item: Any, wanted: tuple[str, str]) -> bool:
    metadata = item.get("metadata") or {}
    pairs: Iterable[tuple[str, object]] = (
        (wanted[0], metadata.get("namespace", "default")),
        (wanted[1], metadata.get("name")),
    )
    return all(not asked or asked == there for asked, there in pairs)
