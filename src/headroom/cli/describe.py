"""`headroom describe`: all that is known of an object: explained, conditions, events, spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headroom.cli.nouns import dialects_for, subject
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Namespace, Output
from headroom.cli.output import Format, columns, document, put, say

if TYPE_CHECKING:
    from headroom.cli.source import World
    from headroom.cli.telling.answers import Explanation


def describe(
    what: Annotated[
        str,
        typer.Argument(
            metavar="KIND/NAME",
            help="pod/NAME, hold/NAME, headroom/NAME; a dialect's order/NAME, ticket/NAME, …",
        ),
    ],
    namespace: Namespace = "default",
    output: Output = Format.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Explain an object, and show its conditions, its events and its spec."""
    from headroom.cli.source import WATCHED, Where, read_world
    from headroom.cli.telling.finding import EXPLAINED, explanation_of, raw_of
    from headroom.core.policy import Policy
    from headroom.wire.kinds import EVENTS

    wanted = subject(what, EXPLAINED)
    dialects = dialects_for(wanted[0], dialect)
    kinds = (*WATCHED, EVENTS)
    world = read_world(Where(tuple(source or ()), str(kubeconfig or ""), context, kinds, dialects))
    told = explanation_of(world, wanted, namespace, Policy())
    item = raw_of(world, wanted, namespace)
    if output is Format.TABLE:
        _put_parts(world, told, item)
    else:
        put(document(_as_document(world, told, item), output))


def _put_parts(world: World, told: Explanation, item: dict[str, Any]) -> None:
    from headroom.cli.telling import describing
    from headroom.cli.telling.listing import key_of
    from headroom.cli.telling.prose import prose

    put(prose(told))
    conditions = describing.condition_rows(item, world.now)
    if conditions:
        put("\n" + columns(describing.CONDITION_HEADINGS, conditions))
    events = describing.events_about(world, str(item["kind"]), key_of(item))
    if events:
        rows = describing.event_rows(events, world.now)
        put("\n" + columns(describing.EVENT_HEADINGS, rows))
    put("\n" + document(describing.bare(item), Format.YAML))
    if told.next_step:
        say(f"next: {told.next_step}")


def _as_document(world: World, told: Explanation, item: dict[str, Any]) -> dict[str, Any]:
    from headroom.cli.telling.answers import as_document
    from headroom.cli.telling.describing import events_about
    from headroom.cli.telling.listing import key_of
    from headroom.core.names import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "Description",
        "explanation": as_document(told),
        "events": events_about(world, str(item["kind"]), key_of(item)),
        "object": item,
    }
