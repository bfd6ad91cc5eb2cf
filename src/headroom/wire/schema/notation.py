"""Which fields an object has, and of what type: a small notation, read into values.

The same notation serves Kubernetes' own kinds (`data/kubernetes.json`, written by
`tools/schemas.py` from a real API server), our kinds and whatever else is written by hand:

    "replicas": "int32"           "containers": "[]Container!"     a list, required
    "labels": "{}string"          "effect": "=NoSchedule|NoExecute"    one of these words

`validation` compares data with it, `structural` makes the schema of a CRD from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

SCALARS = (
    "any",
    "bool",
    "bytes",
    "duration",
    "int32",
    "int64",
    "intorstring",
    "number",
    "object",
    "quantity",
    "string",
    "time",
)


@dataclass(frozen=True, slots=True)
class Scalar:
    name: str


@dataclass(frozen=True, slots=True)
class WordChoice:
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Type


@dataclass(frozen=True, slots=True)
class MapOf:
    value: Type


@dataclass(frozen=True, slots=True)
class Struct:
    """A type with fields of its own, by the name it has in its catalogue."""

    name: str


Type = Scalar | WordChoice | ListOf | MapOf | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """One field; `facts` are further OpenAPI keywords (maxItems, pattern, default, description).

    `lacking` says what a required field is for, where it is missing.
    """

    type: Type
    required: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
    lacking: str = ""

    def needed(self, lacking: str) -> Field:
        """The field, with what to say where it is missing."""
        return replace(self, lacking=lacking)


@dataclass(frozen=True, slots=True)
class SchemaRule:
    """What must hold of a whole struct, told twice: in CEL for a CRD, in Python for ourselves.

    `holds` gets data whose fields have the right types already. `at` is the field to blame. `found`
    says what is there instead: an API server cannot, our own message begins with it. A rule
    without CEL would cost an API server too much: only the operator's condition tells of it.
    """

    cel: str
    message: str
    holds: Callable[[Mapping[str, Any]], bool]
    at: str = ""
    found: Callable[[Mapping[str, Any]], str] | None = None

    def problem(self, data: Mapping[str, Any]) -> str:
        """What to say of data that breaks the rule."""
        return f"{self.found(data)}; {self.message}" if self.found else self.message


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Types by name, the rules of some, and the type of each kind (`apps/v1/Deployment`).

    `foreign` are Kubernetes' own types, which the API server reads more loosely than those of a
    CRD: an empty word passes for an absent one, and under `status` nothing is required. `custom`
    are the types of kinds that a CRD defines.
    """

    types: Mapping[str, Mapping[str, Field]]
    kinds: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, tuple[SchemaRule, ...]] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()
    custom: frozenset[str] = frozenset()

    def extended(
        self,
        types: Mapping[str, Mapping[str, Field]],
        kinds: Mapping[str, str],
        rules: Mapping[str, tuple[SchemaRule, ...]] | None = None,
        custom: frozenset[str] = frozenset(),
    ) -> Catalogue:
        """Return a catalogue that knows these too; a name that is taken is replaced."""
        return Catalogue(
            {**self.types, **types},
            {**self.kinds, **kinds},
            {**self.rules, **(rules or {})},
            self.foreign - types.keys(),
            self.custom | custom,
        )


def parse_type(notation: str) -> Type:
    """Read the notation of a type; ValueError when it makes no sense."""
    if notation.startswith("[]"):
        return ListOf(parse_type(notation[2:]))
    if notation.startswith("{}"):
        return MapOf(parse_type(notation[2:]))
    if notation.startswith("="):
        return WordChoice(tuple(notation[1:].split("|")))
    if notation in SCALARS:
        return Scalar(notation)
    if not notation[:1].isupper():
        raise ValueError(f"{notation!r} is no type")
    return Struct(notation)


def of(notation: str, description: str = "", **facts: Any) -> Field:
    """Write one field by hand: its type (with ! if it is required), what it means, its limits."""
    if description:
        facts = {"description": description, **facts}
    return Field(parse_type(notation.removesuffix("!")), notation.endswith("!"), facts)


def exactly_one(names: Sequence[str]) -> SchemaRule:
    """The rule that of these fields one is given, and no other."""
    return SchemaRule(
        f"[{has_each(names)}].exists_one(given, given)",
        f"exactly one of {', '.join(names)} is needed",
        lambda data: len(given(data, names)) == 1,
        found=lambda data: f"has {' and '.join(given(data, names)) or 'none of them'}",
    )


def given(data: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Those of some fields that are there."""
    return [name for name in names if name in data]


def has_each(names: Sequence[str]) -> str:
    """The same in CEL, as what a list contains: whether each of them is there."""
    return ", ".join(f"has(self.{name})" for name in names)


OBJECT = {"apiVersion": of("string"), "kind": of("string"), "metadata": of("ObjectMeta")}
"""The fields that every kind has."""


def parse_types(notations: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Field]]:
    """Read whole types of which only names and types of the fields are known."""
    return {
        name: {field: of(notation) for field, notation in fields.items()}
        for name, fields in notations.items()
    }


@cache
def kubernetes() -> Catalogue:
    """The kinds of Kubernetes itself that manifests may hold."""
    text = files("headroom.wire").joinpath("data/kubernetes.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    types = parse_types(facts["types"])
    return Catalogue(types, facts["kinds"], foreign=frozenset(types))
