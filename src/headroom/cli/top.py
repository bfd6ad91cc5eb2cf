"""`headroom top`: who holds how much, and how full each node is, the fullest first."""

from __future__ import annotations

from typing import Annotated

import typer

from headroom.cli.options import Context, Dialects, From, Kubeconfig, Output, a_namespace
from headroom.cli.output import Format, document, put, say

Holders = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAME",
        callback=a_namespace,
        help="Only holders of this namespace. [default: all]",
    ),
]


def top(
    namespace: Holders = "",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Show who holds how much, and what is used, held and free on each node."""
    from headroom.cli.source import Where, look_in, read_world
    from headroom.cli.telling.rooms import rooms
    from headroom.cli.telling.tops import fullest, holders, top_document, top_text
    from headroom.wire.kinds import NODES, PODS

    access = (str(kubeconfig or ""), context)
    where = Where(
        tuple(source or ()),
        *access,
        kinds=(PODS, NODES),
        dialects=tuple(dialect or ()),
        namespace=look_in(access, namespace, source),
        foreign=False,
        needed=(PODS,),
    )
    world = read_world(where)
    found = holders(world.pods, namespace)
    nodes = fullest(rooms(world.nodes, world.pods)) if world.sees_room else []
    if output is not Format.TABLE:
        put(document(top_document(found, nodes), output))
        return
    if not found:
        say("nothing is held")
    put(top_text(found, nodes))
