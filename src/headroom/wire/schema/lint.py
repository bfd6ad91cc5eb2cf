"""What a file should not contain, although an API server accepts it.

Such an object has no effect, or another effect than intended: the API server cuts an amount that is
too large to be counted, `Gt` with a word matches no node, and of an object that is written twice
one is lost. A user who tests a configuration needs to know. `validation` checks the schema itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headroom.core.holds import Problem
from headroom.core.quantity import MAX_INT64, QuantityError, parse_quantity
from headroom.wire.yamls import Document, ManifestError
from headroom.wire.yamls.lines import step

AMOUNTS = ("requests", "limits", "capacity", "allocatable", "hard", "overhead")
COMPARING = ("Gt", "Lt")
DEEPEST = 60
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


def odd_parts(thing: Any, path: str = "", depth: int = 0) -> Iterator[Problem]:
    """Everything of this kind in one object."""
    if depth > DEEPEST:
        return
    if isinstance(thing, list):
        for index, item in enumerate(thing):
            yield from odd_parts(item, step(path, index), depth + 1)
    if not isinstance(thing, Mapping):
        return
    if thing.get("operator") in COMPARING and isinstance(thing.get("values"), list):
        yield from _compared(thing, path)
    for name, value in thing.items():
        inner = step(path, str(name))
        if name in AMOUNTS and isinstance(value, Mapping):
            yield from _too_large(value, inner)
        else:
            yield from odd_parts(value, inner, depth + 1)


def _compared(thing: Mapping[str, Any], path: str) -> Iterator[Problem]:
    values = thing["values"]
    if len(values) != 1 or _WHOLE.fullmatch(str(values[0])) is None:
        words = f"{thing['operator']} takes exactly one integer"
        yield Problem(step(path, "values"), words)


def _too_large(amounts: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name, amount in amounts.items():
        try:
            found = parse_quantity(str(amount))
        except QuantityError:
            continue  # The schema says so.
        if found.value() >= MAX_INT64:
            yield Problem(step(path, str(name)), f"{str(amount)[:40]} is too large")


def written_twice(documents: Iterable[Document]) -> list[ManifestError]:
    """The objects that stand in the files more than once, but for the first time."""
    seen: dict[tuple[str, str, str, str], Document] = {}
    found = []
    for document in documents:
        metadata = document.data.get("metadata")
        if not isinstance(metadata, Mapping) or not metadata.get("name"):
            continue
        group = str(document.data.get("apiVersion", "")).rpartition("/")[0]
        place = (str(metadata.get("namespace") or "default"), str(metadata["name"]))
        first = seen.setdefault((group, str(document.data.get("kind")), *place), document)
        if first is not document:
            where = f"{first.source}:{first.line}"
            words = f"the same object is already in {where}"
            found.append(document.error("metadata.name", words))
    return found
