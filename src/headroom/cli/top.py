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
    from headroom.cli.telling.rooms import rooms, total
    from headroom.cli.telling.tops import (
        HOLDER_HEADINGS,
        NODE_HEADINGS,
        fullest,
        holder_row,
        holders,
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
    everything = total(nodes)
    if found:
        rows = [holder_row(each, everything.allocatable) for each in found]
        put(columns(HOLDER_HEADINGS, rows))
        put("")
    else:
        say("nothing is held")
    put(columns(NODE_HEADINGS, [node_row(room) for room in (everything, *nodes)]))
