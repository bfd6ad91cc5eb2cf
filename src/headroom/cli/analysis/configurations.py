"""Sort files into the common cluster and the configurations to compare.

A file that contains only Headrooms, Holds and objects of a dialect is a configuration; all others
are the cluster. If several files have a Scenario, each of these is a configuration. With `--vary`,
each configuration is run with every value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from headroom.cli.errors import Misuse
from headroom.cli.files import text_of
from headroom.cli.formats.forms import split
from headroom.core.names import API_VERSION
from headroom.wire.kinds import HEADROOMS
from headroom.wire.yamls import Document, ManifestError, dump_all, load
from headroom.wire.yamls.documents import Read

MOST = 64
SCENARIO = "Scenario"
NOTHING = "nothing held"
_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


@dataclass(frozen=True, slots=True)
class Variation:
    """A value to set in objects of a kind (and name, if given) before a run."""

    kind: str
    name: str
    path: str
    value: Any

    def __str__(self) -> str:
        words = self.value if isinstance(self.value, str) else json.dumps(self.value)
        return f"{self.path}={words}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """One row of the comparison."""

    name: str
    files: tuple[Path, ...]
    changes: tuple[Variation, ...] = ()

    def reader(self, read: Read) -> Read:
        """A reader of its files that sets its values."""
        return (lambda path: _changed(path, read(path), self.changes)) if self.changes else read


def configurations(
    files: Sequence[Path], vary: Sequence[str], read: Read, ours: Callable[[str, str], bool]
) -> list[Configuration]:
    """Every configuration, in the order of the files and values."""
    documents = {path: _documents(path, read) for path in dict.fromkeys(files)}
    worlds = [path for path in documents if _has_scenario(documents[path])]
    wishes = [path for path in documents if _all(documents[path], ours)]
    if len(worlds) > 1:
        common = tuple(path for path in documents if path not in worlds)
        found = [Configuration(path.stem, (*common, path)) for path in worlds]
    else:
        common = tuple(path for path in documents if path not in wishes)
        found = [Configuration(path.stem, (*common, path)) for path in wishes]
        if not found:
            found = [Configuration("as it is", common)]
        elif len(found) == 1 and not vary and common:
            found.insert(0, Configuration(NOTHING, common))
    sets = [_values(each, documents.values()) for each in vary]
    varied = [
        Configuration(_named(each, found, changes), each.files, changes)
        for each in found
        for changes in product(*sets)
    ]
    if len(varied) > MOST:
        raise Misuse(f"{len(varied)} configurations are too many; at most {MOST}", "vary less")
    if len(varied) < 2:
        raise Misuse(
            "there is only one configuration",
            "give several files with Headrooms, or --vary spec.size.replicas=0,4,8",
        )
    return _distinct(varied)


def _named(
    each: Configuration, found: Sequence[Configuration], changes: Sequence[Variation]
) -> str:
    told = ", ".join(map(str, changes))
    if not told:
        return each.name
    return told if len(found) == 1 else f"{each.name}: {told}"


def _distinct(found: list[Configuration]) -> list[Configuration]:
    """The same, with folders added to files of the same name."""
    names = [each.name for each in found]
    return [
        Configuration(str(each.files[-1]) if names.count(each.name) > 1 else each.name, *rest)
        for each in found
        for rest in [(each.files, each.changes)]
    ]


def _documents(path: Path, read: Read) -> list[Document]:
    try:
        return load(text_of(path, read), str(path))
    except ManifestError as error:
        raise Misuse(str(error)) from error


def _has_scenario(documents: Sequence[Document]) -> bool:
    return any(item.data.get("kind") == SCENARIO for item in documents)


def _all(documents: Sequence[Document], ours: Callable[[str, str], bool]) -> bool:
    kinds = [(str(item.data.get("apiVersion")), str(item.data.get("kind"))) for item in documents]
    return bool(kinds) and all(
        version == API_VERSION or ours(version, kind) for version, kind in kinds
    )


def _values(text: str, documents: Iterable[Sequence[Document]]) -> list[Variation]:
    """Parse `[KIND[/NAME]:]PATH=A,B,C`; raise Misuse if it is wrong."""
    target, equals, listed = text.partition("=")
    kind, colon, path = target.rpartition(":")
    kind, _, name = (kind if colon else HEADROOMS.kind).partition("/")
    steps = _steps(path)
    if not equals or not steps or not listed.strip():
        raise Misuse(
            f"--vary {text!r} cannot be understood",
            "write a field and its values, such as spec.size.replicas=0,4,8 or "
            "Scenario:spec.pools[1].bootDelay=30s,90s",
        )
    known = [item for group in documents for item in group if _meant(item.data, kind, name)]
    if not known:
        whose = f"{kind}/{name}" if name else kind
        raise Misuse(f"--vary {text!r}: there is no {whose} in the files")
    return [Variation(kind, name, path, _value(part.strip())) for part in split(listed, "[{", "]}")]


def _value(text: str) -> Any:
    try:
        found = load(f"value: {text}", "--vary")
    except ManifestError as error:
        raise Misuse(f"--vary: {text!r} is no value: {error.problem}") from error
    return found[0].data.get("value")


def _steps(path: str) -> list[str | int]:
    found = [(name, index) for name, index in _STEP.findall(path)]
    whole = "".join(f"[{index}]" if index else name for name, index in found)
    if whole != path.replace(".", ""):
        return []
    return [int(index) if index else name for name, index in found]


def _meant(data: dict[str, Any], kind: str, name: str) -> bool:
    own = (data.get("metadata") or {}).get("name")
    return str(data.get("kind")).lower() == kind.lower() and (not name or own == name)


def _changed(path: Path, text: str, changes: Sequence[Variation]) -> str:
    documents = load(text, str(path))
    data = [deepcopy(item.data) for item in documents]
    if not any(_meant(each, change.kind, change.name) for each in data for change in changes):
        return text
    for change in changes:
        for item in data:
            if _meant(item, change.kind, change.name):
                _put(item, _steps(change.path), change, str(path))
    return dump_all(data)


def _put(obj: Any, steps: list[str | int], change: Variation, where: str) -> None:
    """Set a nested value in an object; missing maps are created, list items must exist."""
    for index, step in enumerate(steps):
        last = index + 1 == len(steps)
        if isinstance(step, int):
            if not isinstance(obj, list) or step >= len(obj):
                raise Misuse(f"--vary {change}: {where} has no item {step} there")
        elif not isinstance(obj, dict):
            raise Misuse(f"--vary {change}: in {where} there is no field {step!r} to be set")
        if last:
            if change.value is None and isinstance(step, str):
                obj.pop(step, None)
            else:
                obj[step] = deepcopy(change.value)
            return
        obj = obj.setdefault(step, {}) if isinstance(step, str) else obj[step]
