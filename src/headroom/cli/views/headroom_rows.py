"""Headrooms as rows of a table, each with its object."""

from __future__ import annotations

from headroom.cli.source import World
from headroom.cli.spans import age, remaining
from headroom.cli.views.doors import told_reason
from headroom.cli.views.tables import Table, key_of, object_row
from headroom.core.conditions import ready_in
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.headrooms.windows import next_start
from headroom.engine.cron import calendar
from headroom.wire.kinds import HEADROOMS

HEADINGS = (
    "NAMESPACE",
    "NAME",
    "DESIRED",
    "HELD",
    "PENDING",
    "CLAIMED",
    "NEXT START",
    "READY",
    "WHY",
)
WIDE = ("MODE", "REFILL", "HITS", "MISSES", "AGE", "MESSAGE")


def headrooms(world: World) -> Table:
    """Every headroom with its own status; empty if no operator has seen it.

    The next start is calculated, because a status may be older than the last start.
    """
    raw = {key_of(item): item for item in world.of(HEADROOMS.kind)}
    rows = [
        object_row(raw[each.key], "headroom", _cells(each, world), _wide(each, world))
        for each in sorted(world.headrooms, key=lambda each: each.key)
        if each.parent.kind == HEADROOMS.kind
    ]
    return Table(HEADINGS, rows, WIDE)


def _cells(headroom: Headroom, world: World) -> list[str]:
    status = headroom.status
    ready = ready_in(status.conditions)
    start = next_start(headroom, world.now, calendar)
    counts = (status.desired, status.held, status.pending, status.claimed)
    return [
        headroom.key.namespace,
        headroom.key.name,
        *(str(count) if ready is not None else "" for count in counts),
        f"in {remaining(start, world.now)}" if start is not None else "",
        ready.status if ready is not None else "",
        ready.reason if ready is not None and ready.reason != "Held" else told_reason(headroom),
    ]


def _wide(headroom: Headroom, world: World) -> list[str]:
    status = headroom.status
    ready = ready_in(status.conditions)
    return [
        headroom.mode,
        headroom.refill,
        *(str(count) if ready is not None else "" for count in (status.hits, status.misses)),
        age(headroom.created, world.now),
        ready.message if ready is not None else "",
    ]
