"""Merge the variants of an object into one tree: differences are marked with their condition.

For every combination the tree gives back exactly that variant. Lists and texts are aligned, so that
what one switch adds becomes one conditional piece.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from tools.chart.conditions import Combination, Condition


@dataclass(frozen=True)
class Same:
    """The same in all variants."""

    value: Any


@dataclass(frozen=True)
class Text:
    """A text of pieces."""

    pieces: tuple[tuple[Condition, str], ...]


@dataclass(frozen=True)
class Fields:
    """An object of fields."""

    fields: tuple[tuple[Condition, str, Node], ...]


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[tuple[Condition, Node], ...]


Node: TypeAlias = Same | Text | Fields | Items
Variants: TypeAlias = Mapping[Combination, Any]


def merge(variants: Variants) -> Node:
    """Fold variants of one value into a tree."""
    values = list(variants.values())
    if all(value == values[0] for value in values):
        return Same(values[0])
    if all(isinstance(value, dict) for value in values):
        return _fields(variants)
    if all(isinstance(value, list) for value in values):
        return _items(variants)
    if all(isinstance(value, str) for value in values):
        return _text(variants)
    raise TypeError(f"variants of different kinds: {values[:2]}")


def _fields(variants: Variants) -> Fields:
    names = dict.fromkeys(name for value in variants.values() for name in value)
    fields = []
    for name in names:
        having = {each: value[name] for each, value in variants.items() if name in value}
        fields.append((frozenset(having), name, merge(having)))
    return Fields(tuple(fields))


def _items(variants: Variants) -> Items:
    rows = _aligned(variants, _identity)
    return Items(tuple((frozenset(row), merge(row)) for row in rows))


def _text(variants: Variants) -> Text:
    words = {each: re.findall(r"zz-[a-z-]+-zz|\w+|\W", value) for each, value in variants.items()}
    pieces: list[tuple[Condition, str]] = []
    for row in _aligned(words, str):
        when, word = frozenset(row), next(iter(row.values()))
        if pieces and pieces[-1][0] == when:
            pieces[-1] = (when, pieces[-1][1] + word)
        else:
            pieces.append((when, word))
    return Text(tuple(pieces))


def _aligned(
    variants: Mapping[Combination, Sequence[Any]], identity: Any
) -> list[dict[Combination, Any]]:
    """Rows of matching elements; the longest variant gives the first rows."""
    rows: list[dict[Combination, Any]] = []
    order = sorted(variants, key=lambda each: (-len(each), sorted(each)))
    for combination in order:
        elements = list(variants[combination])
        known = [identity(next(iter(row.values()))) for row in rows]
        matcher = SequenceMatcher(None, known, [identity(each) for each in elements], False)
        made: list[dict[Combination, Any]] = []
        for tag, first, last, start, end in matcher.get_opcodes():
            if tag == "equal":
                for row, element in zip(rows[first:last], elements[start:end], strict=True):
                    made.append({**row, combination: element})
                continue
            made += rows[first:last]
            made += [{combination: element} for element in elements[start:end]]
        rows = made
    return rows


def _identity(element: Any) -> Hashable:
    """The identity of a list element across variants."""
    if not isinstance(element, dict):
        return json.dumps(element)
    for name in ("name", "message"):
        if name in element:
            return str(element[name])
    if "apiGroups" in element and "verbs" in element:
        known = {name: value for name, value in element.items() if name != "resourceNames"}
        return json.dumps([known, "resourceNames" in element])
    return json.dumps(element, sort_keys=True)
