"""`headroom top`: which objects hold how much, and how full each node is, the fullest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from headroom.cli.errors import Misuse
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Output, a_namespace, option
from headroom.cli.output import OutputFormat, document, put, say

if TYPE_CHECKING:
    from headroom.cli.source import Where

Holders = Annotated[
    str,
    option(
        "--namespace -n",
        "Only holders of this namespace. [default: all]",
        "NAME",
        callback=a_namespace,
    ),
]


Watch = Annotated[
    bool, option("--watch -w", "Draw a bar for each node, and update it. Ctrl-C ends it.")
]
Resource = Annotated[str, option("--resource", "With -w: the resource that is drawn.", "NAME")]
Sort = Annotated[str, option("--sort", "With -w: the order of nodes.", "free|held|name")]
Filter = Annotated[str, option("--filter", "With -w: only nodes with this text.", "TEXT")]


def top(
    namespace: Holders = "",
    watch: Watch = False,
    resource: Resource = "cpu",
    sort: Sort = "free",
    filter: Filter = "",
    output: Output = OutputFormat.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Show who holds how much, and what is used, held and free on each node."""
    from headroom.cli.source import Where, look_in, read_world
    from headroom.cli.views.rooms import rooms
    from headroom.cli.views.tops import fullest, holders, top_document, top_text
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
    if watch:
        if source or output is not OutputFormat.TABLE:
            raise Misuse("-w draws a live cluster: it goes neither with --from nor with -o")
        _follow(where, resource, sort, filter)
        return
    world = read_world(where)
    found = holders(world.pods, namespace)
    nodes = fullest(rooms(world.nodes, world.pods)) if world.sees_room else []
    if output is not OutputFormat.TABLE:
        put(document(top_document(found, nodes), output))
        return
    if not found:
        say("nothing is held")
    put(top_text(found, nodes))


def _follow(where: Where, resource: str, sort: str, filter: str) -> None:
    import asyncio

    from headroom.cli.live.top_screen import follow_top
    from headroom.cli.views.bars import SORTS, Look

    if sort not in SORTS:
        raise Misuse(f"--sort {sort}: there are {', '.join(SORTS)}")
    asyncio.run(follow_top(where, Look(resource, sort, filter)))
