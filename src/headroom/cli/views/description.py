"""The conditions and events of an object as rows.

For `describe`, besides the output of `explain`. It works on plain JSON, because conditions and
events look the same on every kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headroom.cli.source import World
from headroom.cli.spans import age
from headroom.core.objects import Key
from headroom.wire.kinds import EVENTS
from headroom.wire.times import parse_time

Json = Mapping[str, Any]
CONDITION_HEADINGS = ("CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE")
EVENT_HEADINGS = ("LAST SEEN", "TYPE", "REASON", "COUNT", "MESSAGE")


def condition_rows(item: Json, now: datetime) -> list[list[str]]:
    """An object's conditions, in their order."""
    status = item.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    return [
        [
            str(each.get("type", "")),
            str(each.get("status", "")),
            str(each.get("reason", "")),
            _age(each.get("lastTransitionTime"), now),
            str(each.get("message", "")),
        ]
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, Mapping)
    ]


def events_about(world: World, kind: str, key: Key) -> list[Json]:
    """The events about one object, the oldest first."""
    places = {(kind, key.namespace, key.name)}
    if not key.namespace:  # A manifest without a namespace is in "default".
        places.add((kind, "default", key.name))
    found = [item for item in world.of(EVENTS.kind) if _about(item) in places]
    return sorted(found, key=lambda item: (_last(item), str(item.get("metadata"))))


def event_rows(events: list[Json], now: datetime) -> list[list[str]]:
    """Events as kubectl shows them."""
    return [
        [
            _age(_last(each), now),
            str(each.get("type", "")),
            str(each.get("reason", "")),
            str((each.get("series") or {}).get("count") or each.get("count") or 1),
            str(each.get("message") or each.get("note") or ""),
        ]
        for each in events
    ]


def bare(item: Json) -> dict[str, Any]:
    """The object as its author wrote it: without status and without fields of the API server."""
    metadata = dict(item.get("metadata") or {})
    metadata.pop("managedFields", None)
    kept = {name: value for name, value in item.items() if name not in ("status", "metadata")}
    order = ("apiVersion", "kind")
    head = {name: kept.pop(name) for name in order if name in kept}
    return {**head, "metadata": metadata, **kept}


def _about(event: Json) -> tuple[str, str, str]:
    thing = event.get("involvedObject") or event.get("regarding") or {}
    return str(thing.get("kind", "")), str(thing.get("namespace", "")), str(thing.get("name", ""))


def _last(event: Json) -> str:
    """When it was last seen, as text: times in one format sort as texts."""
    series = event.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        event.get("firstTimestamp"),
    )
    return str(next((each for each in times if each), ""))


def _age(text: object, now: datetime) -> str:
    try:
        return age(parse_time(str(text)), now) if text else ""
    except ValueError:
        return str(text)
