"""Lines of JSON written into a file as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headroom.cli.errors import Misuse


@contextmanager
def lines_into(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None] | None]:
    """Give what writes one line of a file; None where there is none to write."""
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
