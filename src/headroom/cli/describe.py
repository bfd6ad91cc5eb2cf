"""`headroom describe`: everything about an object: explanation, conditions, events, spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headroom.cli.nouns import EXPLAINED, subject
from headroom.cli.options import Context, Dialects, From, Kubeconfig, Namespace, Output, What
from headroom.cli.output import OutputFormat, columns, document, put, say

if TYPE_CHECKING:
    from headroom.cli.source import World
    from headroom.cli.views.answers import Explanation


def describe(
    what: What = None,
    namespace: Namespace = "",
    output: Output = OutputFormat.TABLE,
    source: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    dialect: Dialects = None,
) -> None:
    """Explain an object, and show its conditions, its events and its spec."""
    from dataclasses import replace

    from headroom.cli.source import read_world
    from headroom.cli.views.lookup import explanation_of, look_at, raw_of
    from headroom.core.policy import Policy
    from headroom.wire.kinds import EVENTS

    wanted = subject(what or (), EXPLAINED)
    access = (str(kubeconfig or ""), context)
    where = look_at(wanted, access, namespace, source, dialect)
    world = read_world(replace(where, kinds=(*where.kinds, EVENTS)))
    told = explanation_of(world, wanted, where.namespace, Policy())
    item = raw_of(world, wanted, where.namespace)
    if output is OutputFormat.TABLE:
        _put_parts(world, told, item)
    else:
        put(document(_as_document(world, told, item), output))


def _put_parts(world: World, told: Explanation, item: dict[str, Any]) -> None:
    from headroom.cli.views import description
    from headroom.cli.views.prose import prose
    from headroom.cli.views.tables import key_of

    put(prose(told))
    conditions = description.condition_rows(item, world.now)
    if conditions:
        put("\n" + columns(description.CONDITION_HEADINGS, conditions))
    events = description.events_about(world, str(item["kind"]), key_of(item))
    if events:
        rows = description.event_rows(events, world.now)
        put("\n" + columns(description.EVENT_HEADINGS, rows))
    put("\n" + document(description.bare(item), OutputFormat.YAML))
    if told.next_step:
        say(f"next: {told.next_step}")


def _as_document(world: World, told: Explanation, item: dict[str, Any]) -> dict[str, Any]:
    from headroom.cli.views.answers import as_document
    from headroom.cli.views.description import events_about
    from headroom.cli.views.tables import key_of
    from headroom.core.names import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "Description",
        "explanation": as_document(told),
        "events": events_about(world, str(item["kind"]), key_of(item)),
        "object": item,
    }
