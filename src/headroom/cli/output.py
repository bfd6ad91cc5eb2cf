"""Print results: tables for people, JSON and YAML for programs; data on stdout, messages on stderr.

Tables look like kubectl's: capital headings, columns padded with spaces, no frames, the same in a
pipe and on a terminal. JSON and YAML keep the given order. rich handles `NO_COLOR`.
`headroom.terminal_text` filters both streams, so that text of others cannot control a terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from headroom.cli.formats.progress import clear_line
from headroom.terminal_text import one_line, plain_stream, quoted

if TYPE_CHECKING:
    from rich.console import Console

GAP = "   "
MARGIN = "\n  "
MOST_TOGETHER = 1_000  # values of a list that are formatted together


class OutputFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def say(text: str) -> None:
    """Print a message to stderr."""
    clear_line()
    sys.stderr.write(f"{text}\n")


def put(text: str) -> None:
    """Print data to stdout."""
    clear_line()
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table; an empty cell is shown as a dash."""
    lines = [list(headings), *([one_line(cell) or "-" for cell in row] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(headings))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def first_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> str:
    """Format the first rows as a table; a line under it says how many more there are."""
    table, more = columns(headings, rows[:most]), len(rows) - most
    return f"{table}\n… and {more} more: -o json has them all" if more > 0 else table


def put_document(value: Mapping[str, Any], form: OutputFormat) -> None:
    """Print one object; JSON in parts, so that the text of a long list is never held as a whole."""
    if form is not OutputFormat.JSON:
        whole = {name: list(each) if _is_list(each) else each for name, each in value.items()}
        put(document(whole, form))
        return
    clear_line()
    stream = plain_stream(sys.stdout)  # What is quoted needs no second search.
    for part in _parts(value):
        stream.write(quoted(part))
    stream.write("\n")


def document(value: Any, form: OutputFormat) -> str:
    """Print one value as JSON or YAML."""
    if form is OutputFormat.JSON:
        return quoted(_indented(value))
    from headroom.wire.yamls import dump

    return dump(value)


def _parts(value: Mapping[str, Any]) -> Iterator[str]:
    """The text of an object as `_indented` formats it, in parts."""
    opening = "{"
    for name, each in value.items():
        yield f"{opening}{MARGIN}{json.dumps(name, ensure_ascii=False)}: "
        yield from _list_parts(each) if _is_list(each) else (_shifted(_indented(each)),)
        opening = ","
    yield "\n}" if value else "{}"


def _list_parts(values: Sequence[Any]) -> Iterator[str]:
    """The text of a list inside an object."""
    opening, left = "[", iter(values)
    while some := list(islice(left, MOST_TOGETHER)):
        yield f"{opening}{_shifted(_indented(some)[1:-2])}"
        opening = ","
    yield f"{MARGIN}]" if values else "[]"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shifted(text: str) -> str:
    """Formatted JSON one level deeper; a line break in it is never part of a value."""
    return text.replace("\n", MARGIN)


def _indented(value: Any) -> str:
    """Format JSON as `json.dumps` with an indent does; that is a slow path in Python."""
    import msgspec

    try:
        return msgspec.json.format(json.dumps(value, ensure_ascii=False), indent=2)
    except (UnicodeEncodeError, msgspec.DecodeError):  # Half a character, or no number.
        return json.dumps(value, indent=2, ensure_ascii=False)


def documents(values: Sequence[Mapping[str, Any]]) -> str:
    """Print objects as YAML documents of one file."""
    from headroom.wire.yamls import dump_all

    return dump_all(values)


def objects(values: Sequence[Mapping[str, Any]], form: OutputFormat) -> str:
    """Print objects as kubectl does: one object alone, several as a List."""
    if len(values) == 1:
        return document(values[0], form)
    return document({"apiVersion": "v1", "kind": "List", "items": list(values)}, form)


def console() -> Console:
    """The console for pictures: stdout, without colours if it is not a terminal."""
    from rich.console import Console

    stream = plain_stream(sys.stdout)
    return Console(file=stream, highlight=False, markup=False, soft_wrap=not stream.isatty())
