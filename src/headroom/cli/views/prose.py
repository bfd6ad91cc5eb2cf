"""An explanation as text for people: a sentence, facts, and small tables.

Slots of one headroom with the same answer share a line. A table with thousands of rows is cut, and
then begins with the problems; JSON has all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from headroom.cli.amounts import headings, shown
from headroom.cli.output import first_rows
from headroom.cli.views.answers import Explanation, HoldAnswer
from headroom.cli.views.rooms import resources_of
from headroom.core.resources import MEMORY
from headroom.terminal_text import one_line

MOST_ROWS = 50
WELL = ("held", "fits")
SLOT_HEADINGS = ("SLOT", "STATE", "NODE", "WHY")


def prose(told: Explanation) -> str:
    """The whole explanation, except its next step."""
    parts = [one_line(told.summary)]
    if told.facts:
        width = max(len(fact.topic) for fact in told.facts)
        lines = [f"{fact.topic.ljust(width)}   {fact.text}" for fact in told.facts]
        parts.append("\n".join(map(one_line, lines)))
    if told.holds:
        parts.append(_table(("HOLD", "ANSWER"), _hold_rows(told.holds)))
    if told.slots and not told.by_node:
        rows = [(each.slot, each.state, each.node, each.why) for each in told.slots]
        parts.append(_table(SLOT_HEADINGS, rows))
    if told.nodes:
        resources = resources_of(each.room for each in told.nodes)
        parts.append(_table(_node_headings(resources), _node_rows(told, resources)))
    return "\n\n".join(parts)


def _hold_rows(holds: Sequence[HoldAnswer]) -> list[tuple[str, ...]]:
    groups: dict[tuple[str, str], list[HoldAnswer]] = {}
    for each in holds:
        groups.setdefault((each.group or str(each.parent), each.answer), []).append(each)
    rows: list[tuple[str, ...]] = []
    for (group, answer), alike in groups.items():
        name = alike[0].hold
        if len(alike) > 1:
            name = f"{group.partition('/')[2]} ({len(alike)} slots)"
        rows.append((name, answer))
    return rows


def _node_headings(resources: Sequence[str]) -> tuple[str, ...]:
    free = [f"{name} FREE" for name in headings(resources)]
    held = [f"{name} HELD" for name in headings(resources) if name != MEMORY.upper()]
    return ("NODE", *free, *held, "ANSWER")


def _node_rows(told: Explanation, resources: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (
            each.room.node,
            *(shown(name, each.room.free[name]) for name in resources),
            *(shown(name, each.room.held[name]) for name in resources if name != MEMORY),
            each.answer or "fits",
        )
        for each in told.nodes
    ]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if len(rows) > MOST_ROWS:
        rows = sorted(rows, key=lambda row: any(cell in WELL for cell in row))
    return first_rows(headings, rows, MOST_ROWS)
