"""Files that commands read and write: an error names the file, and the flag that names it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headroom.cli.errors import Misuse, Unwritable


def text_of(path: Path, read: Callable[[Path], str], flag: str = "") -> str:
    """The text of a file; raise Misuse if it cannot be read."""
    named = f"{flag} {path}" if flag else str(path)
    try:
        return read(path)
    except OSError as trouble:
        raise Misuse(f"{named}: cannot be read: {trouble.strerror or trouble}") from trouble
    except UnicodeDecodeError as trouble:
        raise Misuse(f"{named}: not a text file") from trouble


def write_file(path: Path, text: str) -> None:
    """Write a whole file; raise Unwritable if that fails."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as trouble:
        raise _unwritable(path, trouble) from trouble


@contextmanager
def lines_into(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """Return a function that writes one line of JSON into a file; None without a file."""
    if path is None:
        yield None
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as trouble:
        raise _unwritable(path, trouble) from trouble
    with file:
        yield lambda line: print(json.dumps(line, ensure_ascii=False), file=file)


def _unwritable(path: Path, trouble: OSError) -> Unwritable:
    return Unwritable(f"cannot write {path}: {trouble.strerror or trouble}", "name another file")
