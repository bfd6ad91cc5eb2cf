"""`headroom plan`: what would be held where if these manifests were applied; touches nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli.errors import Answer, Misuse
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Namespace, Output
from headroom.cli.output import Format, document, put

if TYPE_CHECKING:
    from datetime import datetime

Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="Headrooms and Holds.")]
At = Annotated[
    str,
    typer.Option("--at", metavar="TIME", help="As if it were this time. [default: now]"),
]


def plan(
    files: Files,
    namespace: Namespace = "default",
    at: At = "",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Say what would be held where if these manifests were applied."""
    from dataclasses import replace

    from headroom.cli.manifests import read_wanted
    from headroom.cli.source import Where, read_world
    from headroom.cli.telling.plan_rows import plan_document, plan_prose
    from headroom.cli.telling.planning import planned

    dialects = tuple(dialect or ())
    wanted = read_wanted(files, namespace, dialects)
    moment = _time(at) if at else None
    where = Where(tuple(source or ()), str(kubeconfig or ""), context, dialects=dialects)
    world = wanted.beside(read_world(where))
    found = planned(replace(world, now=moment) if moment else world, wanted.asked)
    told = plan_prose(found) if output is Format.TABLE else document(plan_document(found), output)
    put(told)
    if not all(each.fits for each in found):
        raise Answer("not everything would be held", "headroom get nodes  shows what is free")


def _time(text: str) -> datetime:
    from headroom.wire.times import parse_time

    try:
        return parse_time(text)
    except ValueError as trouble:
        raise Misuse(f"--at: {trouble}") from trouble
