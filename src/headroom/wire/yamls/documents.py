"""Manifest files as kubectl reads them: many documents, YAML or JSON, every value with its line.

`loader` turns YAML into values by kubectl's rules, `lines` finds the line of a field.
Here a file becomes documents: JSON is read as JSON (faster), Lists are taken apart, and whatever
is wrong becomes one ManifestError. `schema` says whether what was read is a valid object.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from headroom.wire.yamls.lines import Lines, ManifestError
from headroom.wire.yamls.loader import MAX_VALUES, YamlReader, compose_all, expanded_size

STDIN = Path("-")
Read = Callable[[Path], str]


def read_text(path: Path) -> str:
    """The text of a file, or of standard input."""
    return sys.stdin.read() if path == STDIN else path.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file.

    `index` counts the file's documents from 1; objects of one List share it, and `prefix` tells
    them apart (`items[3]`).
    """

    source: str
    index: int
    data: dict[str, Any]
    lines: Lines = field(repr=False, compare=False)
    prefix: str = ""

    @property
    def line(self) -> int:
        """The line where the object begins."""
        return self.lines.find(self.prefix)

    def line_of(self, path: str) -> int:
        """Return the line where a field of this object stands, or that of its nearest parent."""
        return self.lines.find(_join(self.prefix, path))

    def error(self, path: str, message: str) -> ManifestError:
        """Make the error that says what is wrong with a field of this object, and on which line."""
        whole = _join(self.prefix, path)
        return ManifestError(self.source, self.index, self.lines.find(whole), whole, message)


def load(text: str, source: str) -> list[Document]:
    """Read every object of a file, Lists taken apart; raise ManifestError for the first trouble."""
    text = text.removeprefix("\ufeff")
    documents = _load_json(text, source)
    if documents is None:
        documents = _load_yaml(text, source)
    return [item for document in documents for item in _flatten(document)]


_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class _DuplicateName(ValueError):
    pass


def _load_json(text: str, source: str) -> list[Document] | None:
    """Read JSON objects standing one after another; None when this is not clean JSON."""
    if not text.lstrip().startswith("{"):
        return None
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    documents: list[Document] = []
    position = _skip_space(text, 0)
    try:
        while position < len(text):
            data, end = decoder.raw_decode(text, position)
            lines = Lines.of_text(text[position:end], 1 + text.count("\n", 0, position))
            documents.append(Document(source, len(documents) + 1, data, lines))
            position = _skip_space(text, end)
    except (ValueError, RecursionError):
        return None
    return None if _HALF_PAIR.search(text) and not _is_unicode(documents) else documents


def _is_unicode(documents: list[Document]) -> bool:
    """Whether every text can be written again: JSON can name half of a surrogate pair."""
    try:
        json.dumps([document.data for document in documents], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _DuplicateName
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _load_yaml(text: str, source: str) -> list[Document]:
    documents: list[Document] = []
    index = 1
    try:
        for index, root in enumerate(compose_all(text), start=1):
            if "&" in text and expanded_size(root) > MAX_VALUES:  # No alias without an anchor.
                words = f"more than {MAX_VALUES} values; check its aliases"
                raise ManifestError(source, index, root.start_mark.line + 1, "", words)
            reader = YamlReader(source, index)
            data = reader.value(root, "")
            if data is None:
                continue
            lines = Lines.of_node(root)
            if not isinstance(data, dict):
                raise ManifestError(
                    source, index, lines.first, "", "not an object: fields are expected"
                )
            documents.append(Document(source, index, data, lines))
            index += 1  # A syntax error that follows is of the next document.
    except yaml.YAMLError as trouble:
        raise _syntax_error(source, index, trouble) from trouble
    except UnicodeError as trouble:
        raise ManifestError(source, index, 0, "", "not text in UTF-8") from trouble
    except RecursionError as trouble:
        raise ManifestError(source, index, 0, "", "nested too deeply") from trouble
    return documents


def _syntax_error(source: str, index: int, trouble: yaml.YAMLError) -> ManifestError:
    mark = getattr(trouble, "problem_mark", None) or getattr(trouble, "context_mark", None)
    message = getattr(trouble, "problem", None) or str(trouble)
    return ManifestError(source, index, mark.line + 1 if mark else 0, "", f"not YAML: {message}")


def _flatten(document: Document) -> Iterator[Document]:
    """Yield the objects of a List one by one; anything else as it is."""
    kind, items = document.data.get("kind"), document.data.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        yield document
        return
    for position, item in enumerate(items):
        prefix = _join(document.prefix, f"items[{position}]")
        if not isinstance(item, dict):
            raise document.error(f"items[{position}]", "not an object")
        data = item
        if kind != "List" and "kind" not in item:
            # A PodList as the API server answers it leaves this to the list.
            named = {"apiVersion": document.data.get("apiVersion"), "kind": kind[: -len("List")]}
            data = {**named, **item}
        yield from _flatten(replace(document, data=data, prefix=prefix))


def _join(path: str, name: str) -> str:
    if not path or not name:
        return path or name
    return f"{path}{name}" if name.startswith("[") else f"{path}.{name}"
