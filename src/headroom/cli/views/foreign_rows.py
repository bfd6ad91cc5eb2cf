"""Tables for objects of a dialect, with the columns of their CustomResourceDefinition.

The names and states are those that `kubectl get` shows. The wide table has the rest of the columns,
and the requests of every resource if known. One column is ours, and only present if an object has
owners without a door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from headroom.cli.amounts import cells, headings, in_play
from headroom.cli.formats.evaluate import found_by, shown
from headroom.cli.formats.jsonpath import parse_path
from headroom.cli.source import World
from headroom.cli.spans import age
from headroom.cli.views.doors import told_reason
from headroom.cli.views.tables import Table, key_of, object_row
from headroom.core.headrooms.headrooms import Headroom
from headroom.core.holds import Hold
from headroom.core.resources import EMPTY
from headroom.wire.times import parse_time

Json = Mapping[str, Any]


def foreign(world: World, kind: str) -> Table:
    """Every object of a dialect's kind."""
    definition = next(
        each for each in world.codecs.definitions() if each["spec"]["names"]["kind"] == kind
    )["spec"]
    columns: Sequence[Json] = definition["versions"][0].get("additionalPrinterColumns", ())
    narrow = [each for each in columns if not each.get("priority")]
    further = [each for each in columns if each.get("priority")]
    requests = {
        hold.key: hold.template.pod.requests for hold in world.holds if hold.parent.kind == kind
    }
    wishes: list[Hold | Headroom] = [*world.holds, *world.headrooms]
    ours = [each for each in wishes if each.parent.kind == kind]
    warned = {each.key: told_reason(each) for each in ours if told_reason(each)}
    resources = in_play(requests.values()) if requests else ()
    namespaced = definition["scope"] == "Namespaced"
    before = ("NAMESPACE", "NAME") if namespaced else ("NAME",)
    singular = definition["names"]["singular"]
    rows = [
        object_row(
            item,
            singular,
            [
                *_names(item, namespaced),
                *_cells(item, narrow, world.now),
                *([warned.get(key_of(item), "")] if warned else ()),
            ],
            [
                *_cells(item, further, world.now),
                *cells(requests.get(key_of(item), EMPTY), resources),
            ],
        )
        for item in world.of(kind)
    ]
    return Table(
        (*before, *(each["name"].upper() for each in narrow), *(("WARNING",) if warned else ())),
        rows,
        (*(each["name"].upper() for each in further), *headings(resources)),
        namespaced,
    )


def _names(item: Json, namespaced: bool) -> list[str]:
    key = key_of(item)
    return [key.namespace, key.name] if namespaced else [key.name]


def _cells(item: Json, columns: Sequence[Json], now: datetime) -> list[str]:
    return [_cell(item, column, now) for column in columns]


def _cell(item: Json, column: Json, now: datetime) -> str:
    values = found_by(parse_path(column["jsonPath"]), item, item)
    if column["type"] != "date":
        return ",".join(shown(value) for value in values)
    try:
        return age(parse_time(str(values[0])), now) if values else ""
    except ValueError:
        return str(values[0])
