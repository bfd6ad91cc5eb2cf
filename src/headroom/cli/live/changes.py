"""The lines of `get -w`: what has changed in a table since it was last printed."""

from __future__ import annotations

from collections import Counter

from headroom.cli.formats.forms import Form, Layout
from headroom.cli.formats.lists import item_text, own_columns
from headroom.cli.output import columns
from headroom.cli.views.tables import Table, TableRow

# Cells under these headings change with time alone, so they do not count as changes.
CLOCKS = frozenset({"AGE", "EXPIRES", "NEXT START"})


class PrintedChanges:
    """Remembers the printed rows, and returns those that differ.

    As in kubectl, a deleted object is printed once more, in its last state.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._before: dict[str, TableRow] = {}
        self._news: dict[str, tuple[str, ...]] = {}
        self._first = True
        self._width = 0

    def text(self, table: Table) -> str:
        """The lines to print now; empty if nothing changed."""
        now = _by_name(table.rows)
        news = {name: self._tells(table, row) for name, row in now.items()}
        rows = [row for name, row in now.items() if self._news.get(name) != news[name]]
        rows += [row for name, row in self._before.items() if name not in now]
        known = list({**self._before, **now}.values())
        first, self._first = self._first, False
        self._before, self._news = now, news
        if not rows:
            return ""
        return self._lines(table, rows, known, first)

    def _tells(self, table: Table, row: TableRow) -> tuple[str, ...]:
        """The parts of a row that count as a change."""
        if not self._form.is_table:
            return (str(row.item),)
        headings, cells = self._cells(table, row)
        return tuple(
            cell for heading, cell in zip(headings, cells, strict=True) if heading not in CLOCKS
        )

    def _cells(self, table: Table, row: TableRow) -> tuple[tuple[str, ...], list[str]]:
        if self._form.look is Layout.WIDE:
            return (*table.headings, *table.wide), [*row.cells, *row.wide]
        return table.headings, list(row.cells)

    def _lines(self, table: Table, rows: list[TableRow], known: list[TableRow], first: bool) -> str:
        if not self._form.is_table and self._form.look is not Layout.COLUMNS:
            return "\n".join(item_text(row, self._form) for row in rows)
        if self._form.look is Layout.COLUMNS:
            headings, lines = own_columns(self._form, [*known, *rows])
        else:
            headings = self._cells(table, rows[0])[0]
            cells = [self._cells(table, row)[1] for row in (*known, *rows)]
            # A resource column may have been added or removed since a row was printed.
            lines = [line for line in cells if len(line) == len(headings)]
            first = first or len(headings) != self._width
            self._width = len(headings)
            rows = [row for row in rows if len(self._cells(table, row)[1]) == len(headings)]
        laid_out = columns(headings, lines).splitlines()
        new = laid_out[len(laid_out) - len(rows) :]
        return "\n".join([laid_out[0], *new] if first else new)


def _by_name(rows: list[TableRow]) -> dict[str, TableRow]:
    """Rows by their object; objects of two kinds may have slots with the same name."""
    found: dict[str, TableRow] = {}
    seen: Counter[str] = Counter()
    for row in rows:
        name = f"{row.key} {row.ref}"
        seen[name] += 1
        found[f"{name} {seen[name]}"] = row
    return found
