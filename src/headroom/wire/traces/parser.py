"""A trace row by row: the header is understood, each line becomes an `Arrival` or a problem.

Nothing is kept: whoever reads decides what to remember, so a trace may be larger than memory. After
the first problem no more arrivals are given, but the rest is checked, so that a person can mend all
of it at once; past a few problems nobody reads on.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from headroom.core.quantity import shown
from headroom.errors import HeadroomError
from headroom.wire.traces.cells import (
    Moment,
    class_from,
    duration_from,
    moment_from,
    pods_from,
    quantity_from,
)

MOST_ROWS = 20_000_000
MOST_TOLD = 10
LONGEST_SPAN = 10 * 366 * 86400.0
TIMES = ("second", "time")
COUNTS = ("pods", "count")
HEADER = "second,pods"


class TraceError(HeadroomError):
    """A trace that cannot be used: every problem in a line of its own."""

    exit_code = 2

    def __init__(self, problems: Iterable[str], hint: str = "") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems), hint or "fix the trace and try again")


class Arrival(NamedTuple):
    """One line: so many pods came at `second`; what the line does not say is empty."""

    second: float
    pods: int = 1
    kind: str = ""
    cpu: str = ""
    memory: str = ""
    duration: float | None = None
    zone: str = ""


class Columns(NamedTuple):
    """Where things stand in a line; -1: nowhere."""

    time: int
    pods: int = -1
    others: tuple[tuple[str, int, Callable[[str], Any]], ...] = ()
    width: int = 1


_OTHERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "class": ("kind", class_from),
    "cpu": ("cpu", quantity_from),
    "memory": ("memory", quantity_from),
    "duration": ("duration", duration_from),
}


class Reading:
    """One pass over the lines of a trace."""

    def __init__(self, source: str, most_rows: int = MOST_ROWS) -> None:
        self._source = source
        self._most_rows = most_rows
        self._problems: list[str] = []
        self._last = Moment(-1.0)
        self._first: tuple[Moment, int] | None = None

    def arrivals(self, lines: Iterable[str]) -> Iterator[Arrival]:
        """The arrivals in their order; TraceError at the end if any line is bad."""
        numbered = enumerate(lines, 1)
        columns = self._header(numbered)
        rows = 0
        for number, line in numbered:
            text = line.strip()
            if columns is None or len(self._problems) >= MOST_TOLD:
                break
            if not text:
                continue
            rows += 1
            if rows > self._most_rows:
                self._blame(number, f"more than {self._most_rows} lines; count pods by the second")
                break
            try:
                found = self._row(number, text, columns)
            except ValueError as error:
                self._blame(number, str(error))
                continue
            if not self._problems:
                yield found
        if len(self._problems) >= MOST_TOLD:
            self._problems.append(f"{self._source}: there may be more; reading ended here")
        if not rows and not self._problems:
            words = f"there are no arrivals in it; write a line `{HEADER}` and one for each time"
            self._problems.append(f"{self._source}: {words}")
        if self._problems:
            raise TraceError(self._problems)

    def _header(self, numbered: Iterator[tuple[int, str]]) -> Columns | None:
        for number, line in numbered:
            text = line.lstrip("\ufeff").strip()
            if not text:
                continue
            names = [name.strip().lower() for name in text.split(",")]
            problem = _header_problem(text, names)
            if problem:
                self._blame(number, problem)
                return None
            time = next(names.index(name) for name in TIMES if name in names)
            count = next((names.index(name) for name in COUNTS if name in names), -1)
            others = tuple(
                (field, names.index(name), read)
                for name, (field, read) in _OTHERS.items()
                if name in names
            )
            return Columns(time, count, others, len(names))
        return None

    def _row(self, number: int, text: str, columns: Columns) -> Arrival:
        """Read one line; ValueError says what is wrong with it."""
        try:
            cells = text.split(",") if '"' not in text else next(csv.reader([text], strict=True))
        except csv.Error as error:
            raise ValueError(f"the line cannot be read: {error}") from error
        if len(cells) != columns.width:
            words = f"{len(cells)} values where the header has {columns.width} columns"
            raise ValueError(f"{words}; is a comma missing or too many?")
        at = moment_from(cells[columns.time].strip())
        self._check_order(number, at)
        pods = pods_from(cells[columns.pods].strip()) if columns.pods >= 0 else 1
        if not columns.others:
            return Arrival(at.second, pods, zone=at.zone)
        more = {
            field: read(cells[index].strip())
            for field, index, read in columns.others
            if cells[index].strip()
        }
        return Arrival(at.second, pods, zone=at.zone, **more)

    def _check_order(self, number: int, at: Moment) -> None:
        first, first_line = self._first or (at, number)
        self._first = (first, first_line)
        if at.zone != first.zone:
            raise ValueError(_mixed(first, at, first_line))
        if at.second < self._last.second:
            words = f"earlier than the line before ({at.second:.12g} < {self._last.second:.12g})"
            raise ValueError(f"{words}; sort the lines under the header by time")
        if at.second - first.second > LONGEST_SPAN:
            raise ValueError("more than ten years after the first line; are these seconds?")
        self._last = at

    def _blame(self, number: int, words: str) -> None:
        self._problems.append(f"{self._source}:{number}: {words}")


def _header_problem(text: str, names: list[str]) -> str:
    known = (*TIMES, *COUNTS, *_OTHERS)
    for other, word in ((";", "semicolons"), ("\t", "tabs")):
        if other in text and "," not in text:
            return f"columns are separated by {word}; write commas: {HEADER}"
    if not any(name in names for name in TIMES):
        wanted = f"a header such as {HEADER} is expected (columns {', '.join(known)})"
        return f"no column `second` or `time`: {wanted}, not {shown(text)}"
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return f"the column {shown(twice[0])} is there twice"
    for same in (TIMES, COUNTS):
        if all(name in names for name in same):
            return f"`{same[0]}` and `{same[1]}` say the same: leave one out"
    return ""


def _mixed(first: Moment, at: Moment, line: int) -> str:
    """Why two times cannot stand in one trace."""
    if first.zone and at.zone:
        words = f"the zone is {at.zone}, and {first.zone} in line {line}"
        return f"times in two zones: {words}; write all of them in one, such as UTC (Z)"
    kinds = ("a time", "seconds") if at.zone else ("seconds", "a time")
    return f"{kinds[0]} where line {line} has {kinds[1]}; write all in the same way"
