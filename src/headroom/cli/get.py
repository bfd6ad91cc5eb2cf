"""`headroom get`: what is held, which pods use it, and how full the nodes are.

Kinds, names and output formats are those of kubectl. `-o json|yaml` prints objects unchanged. Slots
and the room of nodes are not objects, so they are printed under our own versioned kinds.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli import options
from headroom.cli.completion import complete_kind_or_name
from headroom.cli.errors import Misuse, NegativeAnswer
from headroom.cli.nouns import LISTED, Inquiry, dialects_for, subjects
from headroom.cli.output import put, say

if TYPE_CHECKING:
    from headroom.cli.formats.forms import Form
    from headroom.cli.formats.lists import RowFilter
    from headroom.cli.source import Where, World
    from headroom.cli.views.tables import Table

What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KIND[,KIND…]] [NAME…]",
        help="holds, headrooms, slots, nodes, guardians, claims, and of dialects orders, tickets, "
        "reservations, capacitybuffers; or KIND/NAME. [default: holds]",
        autocompletion=complete_kind_or_name,
    ),
]
FormOf = Annotated[
    str,
    options.option(
        "--output -o",
        "table, wide, name, json, yaml, jsonpath=TEMPLATE or custom-columns=HEADING:PATH,…",
        "FORM",
    ),
]
Labels = Annotated[
    str, options.option("--selector -l", "Only with these labels: app=web,!old", "LABELS")
]
Watch = Annotated[
    bool, options.option("--watch -w", "Watch, and print every line that changes. Needs a cluster.")
]


def get(
    what: What = None,
    namespace: options.Namespace = "",
    all_namespaces: options.AllNamespaces = False,
    selector: Labels = "",
    output: FormOf = "table",
    watch: Watch = False,
    source: options.From = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
    dialect: options.Dialects = None,
) -> None:
    """List holds, headrooms, their slots, nodes with their held room, guardians or claims."""
    from headroom.cli.formats.forms import read_form
    from headroom.cli.formats.lists import RowFilter
    from headroom.cli.source import look_in, read_world

    asked = subjects(what or (), LISTED, "holds")
    form = read_form(output)
    if source and watch:
        raise Misuse("-w follows a live cluster: files do not change", "leave out --from or -w")
    access = (str(kubeconfig or ""), context)
    home = "" if all_namespaces else look_in(access, namespace, source)
    chosen = RowFilter.by(home, selector)
    where = _where(asked, home, access, dialect)
    if not watch:
        _put(asked, chosen, form, read_world(replace(where, files=tuple(source or ()))))
    elif len(asked) > 1:
        raise Misuse("-w follows one kind at a time")
    else:
        import asyncio

        asyncio.run(_follow(asked[0], chosen, form, where))


def _where(
    asked: list[Inquiry], home: str, access: tuple[str, str], dialect: list[str] | None
) -> Where:
    """What to read for these nouns, and from which namespaces."""
    from headroom.cli.source import Where
    from headroom.cli.views.lists import needs

    found = [needs(each.noun) for each in asked]
    named = [name for each in asked for name in dialects_for(each.noun, dialect)]
    return Where(
        (),
        *access,
        kinds=tuple(dict.fromkeys(kind for each in found for kind in each.kinds)),
        dialects=tuple(dict.fromkeys(named)),
        namespace=home,
        local=all(each.local for each in found),
        foreign=any(each.noun == "slot" for each in asked),
        needed=tuple(each.kinds[0] for each in found),
    )


def _put(asked: list[Inquiry], chosen: RowFilter, form: Form, world: World) -> None:
    """Print what was found; if names were not found, report them at the end."""
    from headroom.cli.formats.lists import list_text, table_text
    from headroom.cli.views.lists import table_of

    tables = [chosen.of(table_of(world, each.noun), each.names) for each in asked]
    if form.is_table:
        parts = [table_text(table, form.look) for table in tables if table.rows or table.above]
        if parts:
            put("\n\n".join(parts))
        for each, table in zip(asked, tables, strict=True):
            if not table.rows and not table.above and (not each.names or each.noun == "slot"):
                say(f"no {each.plural} {_place(chosen, table)}")
    elif not any(each.names for each in asked) or any(table.rows for table in tables):
        put(list_text(tables, form, one=len(asked) == 1 and len(asked[0].names) == 1))
    _tell_missing(asked, tables, chosen, world)


def _place(chosen: RowFilter, table: Table) -> str:
    if not chosen.namespace or not table.namespaced:
        return "here"
    return f"in namespace {chosen.namespace}"


def _tell_missing(
    asked: list[Inquiry], tables: list[Table], chosen: RowFilter, world: World
) -> None:
    """Report the names that do not exist; a headroom may exist and have no slot."""
    empty = {each.key.name for each in world.headrooms}
    missing = [
        (each, name, table)
        for each, table in zip(asked, tables, strict=True)
        for name in each.names
        if name not in {row.key.name for row in table.rows}
        and not (each.noun == "slot" and name in empty)
    ]
    if missing:
        told = "; ".join(
            f"there is no {each.noun} {name} {_place(chosen, table)}"
            for each, name, table in missing
        )
        raise NegativeAnswer(told, f"see: headroom get {missing[0][0].plural} -A")


async def _follow(each: Inquiry, chosen: RowFilter, form: Form, where: Where) -> None:
    """Print the list, then every row that changes."""
    from headroom.cli.live.changes import PrintedChanges
    from headroom.cli.live.table_watch import worlds
    from headroom.cli.views.lists import table_of

    changes = PrintedChanges(form)
    async for world in worlds(where):
        text = changes.text(chosen.of(table_of(world, each.noun), each.names))
        if text:
            put(text)
            sys.stdout.flush()
