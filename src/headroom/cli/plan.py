"""`headroom plan`: what would be held where if these manifests were applied; writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headroom.cli import options
from headroom.cli.errors import NegativeAnswer, parsed
from headroom.cli.output import OutputFormat, document, put, say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from headroom.cli.views.plan_result import Planned
    from headroom.wire.yamls import Document

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Headrooms and Holds. - is standard input.")
]
At = Annotated[str, options.option("--at", "Plan for this time. [default: now]", "TIME")]


def plan(
    files: Files,
    namespace: options.Namespace = "",
    at: At = "",
    output: options.Output = OutputFormat.TABLE,
    source: options.From = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = "",
    dialect: options.Dialects = None,
    namespace_limits: options.NamespaceLimits = "",
    allow_invalid: options.AllowInvalid = False,
) -> None:
    """Say what would be held where if these manifests were applied.

    On a cluster, on what --from says, or on a Scenario, a dump or a result among the files.
    """
    from dataclasses import replace

    from headroom.cli.formats.progress import waiting
    from headroom.cli.manifests import is_world, read_wanted
    from headroom.cli.source import WATCHED, Where, documents_in, look_in, read_world
    from headroom.cli.views.plan_result import planned
    from headroom.cli.views.plan_rows import plan_document, plan_prose
    from headroom.wire.kinds import NODES, PODS, RESOURCE_QUOTAS
    from headroom.wire.objects.needed import shaping_kinds

    dialects, limits = tuple(dialect or ()), options.read_limits(namespace_limits)
    access, moment = (str(kubeconfig or ""), context), _moment(at)
    with waiting(f"reading {', '.join(map(str, files))}"):
        documents = documents_in(files)
    enclosed = not source and any(map(is_world, documents))
    home = look_in(access, namespace, source or (files if enclosed else None), "default")
    wanted = read_wanted(documents, home, dialects)
    whole = (NODES, PODS)  # The free room is unknown without all of them.
    where = Where(
        tuple(source or ()),
        *access,
        kinds=(*WATCHED, RESOURCE_QUOTAS, *shaping_kinds(wanted.asked)),
        dialects=dialects,
        namespace=home,
        needed=whole,
        everywhere=whole,
        documents=wanted.around if enclosed else (),
    )
    world = wanted.beside(read_world(where))
    with waiting(f"finding places for {len(wanted.asked)} objects on {len(world.nodes)} nodes"):
        found = planned(replace(world, now=moment) if moment else world, wanted.asked, limits)
    table = output is OutputFormat.TABLE
    put(plan_prose(found) if table else document(plan_document(found), output))
    troubles = [line for each in found for line in _trouble(each, wanted.places)]
    if not troubles:
        return
    if allow_invalid:
        for line in troubles:
            say(f"accepted: {line}")
        return
    raise NegativeAnswer(
        "\n".join(["not everything would be held", *troubles]),
        "headroom get nodes  shows what is free",
    )


def _trouble(each: Planned, places: Mapping[str, Document]) -> list[str]:
    """Report an object that would not be served: where it is written, and why."""
    if each.fits:
        return []
    written = places.get(each.name)
    where = f"{written.source}:{written.line_of(each.blamed)}: " if written is not None else ""
    short = f"{len(each.unplaced)} of {len(each.places)} slots find no room"
    why = each.refused or f"{short}: {each.unplaced[0].why}"
    return [f"{where}{each.name}: {why}"]


def _moment(at: str) -> datetime | None:
    from headroom.wire.times import parse_time

    return parsed("--at", parse_time, at) if at else None
