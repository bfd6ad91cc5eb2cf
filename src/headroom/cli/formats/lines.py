"""Write lines of JSON into a file during a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headroom.cli.errors import Misuse


@contextmanager
def lines_into(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """Return a function that writes one line into a file; None without a file."""
    if path is None:
        yield None
        return
    import json

    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise Misuse(f"cannot write {path}: {error.strerror or error}") from error
    with file:
        yield lambda line: print(json.dumps(line, ensure_ascii=False), file=file)
