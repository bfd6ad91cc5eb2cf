"""`headroom top`: who holds how much, and how full each node is, the fullest first."""

from __future__ import annotations

from headroom.cli.options import Context, Dialects, From, Kubeconfig, Output
from headroom.cli.output import Format, columns, document, put, say


def top(
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Show who holds how much, and what is used, held and free on each node."""
    from headroom.cli.source import Where, read_world
    from headroom.cli.telling.rooms import resources_of, rooms, total
    from headroom.cli.telling.tops import (
        fullest,
        holder_headings,
        holder_row,
        holders,
        node_headings,
        node_row,
        top_document,
    )

    world = read_world(
        Where(tuple(source or ()), str(kubeconfig or ""), context, dialects=tuple(dialect or ()))
    )
    found, nodes = holders(world.pods), fullest(rooms(world.nodes, world.pods))
    if output is not Format.TABLE:
        put(document(top_document(found, nodes), output))
        return
    everything, resources = total(nodes), resources_of(nodes)
    if found:
        rows = [holder_row(each, everything.allocatable, resources) for each in found]
        put(columns(holder_headings(resources), rows))
        put("")
    else:
        say("nothing is held")
    lines = [node_row(room, resources) for room in (everything, *nodes)]
    put(columns(node_headings(resources), lines))
