"""Print lists in every format of `-o`: tables, names, documents, templates, custom columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headroom.cli.errors import parsed
from headroom.cli.formats.evaluate import filled_in, found_by, shown
from headroom.cli.formats.forms import Form, Layout
from headroom.cli.output import OutputFormat, columns, document, documents, objects
from headroom.cli.views.tables import Table, TableRow
from headroom.core.names import API_VERSION
from headroom.core.objects import LabelSelector
from headroom.core.selection import matches
from headroom.sim.selectors import parse_selector

Json = Mapping[str, Any]
DEFAULT = "default"
NONE = "<none>"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter for rows: a namespace (empty: all) and labels."""

    namespace: str
    labels: LabelSelector

    @classmethod
    def by(cls, namespace: str, selector: str) -> RowFilter:
        """Parse the selector; raise Misuse if it is wrong."""
        return cls(namespace, parsed(f"-l {selector}", parse_selector, selector))

    def of(self, table: Table, names: Sequence[str]) -> Table:
        """The table with the selected rows; for one namespace without the namespace column."""
        rows = [row for row in table.rows if self._wants(row, table.namespaced, names)]
        above = () if names or self.labels.requirements else table.above
        if not (table.namespaced and self.namespace):
            return replace(table, rows=rows, above=above)
        bare = [replace(row, cells=row.cells[1:]) for row in rows]
        return replace(table, rows=bare, headings=table.headings[1:])

    def _wants(self, row: TableRow, namespaced: bool, names: Sequence[str]) -> bool:
        """A manifest without a namespace is in "default"."""
        here = row.key.namespace or DEFAULT
        return (
            (not names or row.key.name in names)
            and (not namespaced or self.namespace in ("", here))
            and matches(self.labels, row.labels)
        )


def table_text(table: Table, look: Layout) -> str:
    """A table; the wide one has all columns."""
    if look is not Layout.WIDE:
        width = len(table.headings)
        rows = [*(line[:width] for line in table.above), *(row.cells for row in table.rows)]
        return columns(table.headings, rows)
    rows = [*table.above, *([*row.cells, *row.wide] for row in table.rows)]
    return columns((*table.headings, *table.wide), rows)


def list_text(tables: Sequence[Table], form: Form, one: bool) -> str:
    """Every format except tables; `one`: a single object was requested by name."""
    rows = [row for table in tables for row in table.rows]
    match form.look:
        case Layout.NAME:
            return "\n".join(row.ref for row in rows)
        case Layout.COLUMNS:
            return columns(*own_columns(form, rows))
        case Layout.JSONPATH:
            whole = list_document(tables, one)
            return filled_in(form.template, whole, whole)
        case _:
            return document(list_document(tables, one), OutputFormat(form.look.value))


def own_columns(form: Form, rows: Iterable[TableRow]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The custom columns, with a line for each object."""
    lines = [
        [
            ",".join(shown(value) for value in found_by(path, row.item, row.item)) or NONE
            for _, path in form.columns
        ]
        for row in rows
    ]
    return tuple(heading for heading, _ in form.columns), lines


def list_document(tables: Sequence[Table], one: bool) -> Json:
    """The result as one document: an object, a List, or a list of our own kind."""
    if len(tables) == 1 and tables[0].listed:
        items = [dict(row.item) for row in tables[0].rows]
        return {"apiVersion": API_VERSION, "kind": tables[0].listed, "items": items}
    found = [_whole(table, row.item) for table in tables for row in table.rows]
    if one and len(found) == 1:
        return found[0]
    return {"apiVersion": "v1", "kind": "List", "items": found}


def _whole(table: Table, item: Json) -> Json:
    """In a list, an item that is no object of the cluster has its own kind."""
    if not table.listed:
        return item
    return {"apiVersion": API_VERSION, "kind": table.listed.removesuffix("List"), **item}


def item_text(row: TableRow, form: Form) -> str:
    """One object, as a watch prints each changed object."""
    match form.look:
        case Layout.NAME:
            return row.ref
        case Layout.JSONPATH:
            return filled_in(form.template, row.item, row.item)
        case Layout.YAML:
            return f"---\n{documents([row.item])}"
        case _:
            return objects([row.item], OutputFormat.JSON)
