"""The lines of a trace's file: plain or gzip, whatever it is called, never all in memory."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headroom.wire.traces.parser import Arrival, Reading, TraceError
from headroom.wire.yamls.documents import STDIN

MAGIC = b"\x1f\x8b"
LONGEST_LINE = 10_000


def arrivals_of(path: Path) -> Iterator[Arrival]:
    """The arrivals of a file in their order; TraceError says what is wrong, and where."""
    return Reading(str(path)).arrivals(lines_of(path))


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file; `-` is standard input."""
    number = 0
    try:
        with _opened(path) as stream:
            for number, line in enumerate(_lines(stream, str(path)), start=1):  # noqa: B007
                yield line
    except (gzip.BadGzipFile, EOFError, zlib.error) as trouble:
        where, words = f"{path}:{number}", "the gzip file is damaged or cut off after this line"
        if not number:
            where, words = str(path), "cannot be read: it begins like a gzip file and is none"
        hint = "copy it again, and check it by gzip -t"
        raise TraceError([f"{where}: {words} ({trouble})"], hint) from trouble
    except OSError as trouble:
        words = trouble.strerror or str(trouble)
        raise TraceError([f"{path}: cannot be read: {words}"], "name another file") from trouble


def _lines(stream: IO[bytes], source: str) -> Iterator[str]:
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            words = f"a line of more than {LONGEST_LINE} bytes; a trace is CSV with short lines"
            raise TraceError([f"{source}:{number}: {words}"])
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            words = "not a text in UTF-8; a trace is CSV, plain or gzip"
            raise TraceError([f"{source}:{number}: {words}"]) from None


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path == STDIN:
        yield sys.stdin.buffer
        return
    with path.open("rb") as plain:
        packed = plain.read(2) == MAGIC
        plain.seek(0)
        if not packed:
            yield plain
            return
        with gzip.open(plain) as unpacked:
            yield unpacked  # type: ignore[misc]  # GzipFile reads like any binary file.
