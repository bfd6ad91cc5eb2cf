"""Tables for `get`: a line for people and the object itself for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headroom.core.objects import Key

NOWHERE = Key("", "")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line: `wide` are the extra cells of the wide table; `ref` is for `-o name`."""

    item: Mapping[str, Any]
    cells: Sequence[str]
    wide: Sequence[str] = ()
    key: Key = NOWHERE
    labels: Mapping[str, str] = field(default_factory=dict)
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Lines under headings; the first column is the namespace if there are namespaces.

    `above` are lines without an object, such as a total. `listed` is the kind of the document for
    the items; empty means that they are objects of the cluster.
    """

    headings: tuple[str, ...]
    rows: list[TableRow]
    wide: tuple[str, ...] = ()
    namespaced: bool = True
    above: tuple[Sequence[str], ...] = ()
    listed: str = ""


def object_row(
    item: Mapping[str, Any], singular: str, cells: Sequence[str], wide: Sequence[str] = ()
) -> TableRow:
    """The line of an object of the cluster, with its own namespace and name."""
    metadata = item.get("metadata") or {}
    group, _, _ = str(item.get("apiVersion", "")).rpartition("/")
    key = key_of(item)
    ref = f"{singular}.{group}/{key.name}" if group else f"{singular}/{key.name}"
    return TableRow(item, cells, wide, key, metadata.get("labels") or {}, ref)


def key_of(item: Mapping[str, Any]) -> Key:
    """The key of an object, from its metadata."""
    metadata = item.get("metadata") or {}
    return Key(str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))
