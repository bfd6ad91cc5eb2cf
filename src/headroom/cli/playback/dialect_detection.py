"""Detect which dialects files use: those that they name, and those of their objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headroom.cli.source import RESULT_KINDS, recorded, spoken
from headroom.errors import HeadroomError
from headroom.wire.yamls import load
from headroom.wire.yamls.documents import Read


def once(read: Read) -> Read:
    """A reader that reads each file once, because standard input cannot be read twice."""
    texts: dict[Path, str] = {}

    def reading(path: Path) -> str:
        if path not in texts:
            texts[path] = read(path)
        return texts[path]

    return reading


def dialects_in(paths: Sequence[Path], read: Read) -> list[str]:
    """The dialects in files; unreadable files are skipped here and reported later."""
    objects: list[Mapping[str, Any]] = []
    named: list[str] = []
    for path in paths:
        for data in _documents(path, read):
            if data.get("kind") in RESULT_KINDS:
                named += recorded(data)
                objects += _mappings(data.get("objects"))
            else:
                objects += [data, *_of_steps(data, path.parent, read)]
    return list(dict.fromkeys([*named, *spoken(objects)]))


def _documents(path: Path, read: Read) -> Iterator[Mapping[str, Any]]:
    try:
        yield from (document.data for document in load(read(path), str(path)))
    except (HeadroomError, OSError, UnicodeDecodeError):
        return


def _of_steps(data: Mapping[str, Any], folder: Path, read: Read) -> Iterator[Mapping[str, Any]]:
    """The objects that the steps of a scenario apply."""
    spec = data.get("spec")
    if data.get("kind") != "Scenario" or not isinstance(spec, Mapping):
        return
    for step in _mappings(spec.get("steps")):
        yield from _mappings(step.get("objects"))
        files = step.get("apply")
        for name in files if isinstance(files, list) else ():
            yield from _documents(folder / str(name), read)


def _mappings(items: Any) -> list[Mapping[str, Any]]:
    return [each for each in items if isinstance(each, Mapping)] if isinstance(items, list) else []
