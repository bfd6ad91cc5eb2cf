"""Rules between fields, written once: a term is CEL for an API server and a function for ourselves.

    rule(lacks("size.percent") | lacks("slot.template"), "percent is of a workload", at="size")

Terms are for rules about what is given beside what. A rule that compares amounts or goes through a
list is a `SchemaRule` of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headroom.wire.durations import parse_duration
from headroom.wire.schema.notation import SchemaRule
from headroom.wire.schema.structural import DURATION_PATTERN

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RuleTerm:
    """What may hold of data whose fields have the right types."""

    cel: str
    holds: Callable[[Data], bool]

    def __or__(self, other: RuleTerm) -> RuleTerm:
        return RuleTerm(
            f"{self.cel} || {other.cel}", lambda data: self.holds(data) or other.holds(data)
        )


def rule(term: RuleTerm, message: str, at: str = "") -> SchemaRule:
    """The rule that a term holds; `at` is the field to blame."""
    return SchemaRule(term.cel, message, term.holds, at)


def has(path: str) -> RuleTerm:
    """A field is there; one inside others is named with dots."""
    return RuleTerm(f"has(self.{path})", lambda data: _at(data, path) is not None)


def lacks(path: str) -> RuleTerm:
    return RuleTerm(f"!has(self.{path})", lambda data: _at(data, path) is None)


def one_of(first: str, *others: str) -> RuleTerm:
    """At least one of these is there."""
    term = has(first)
    for path in others:
        term |= has(path)
    return term


def equals(path: str, word: str) -> RuleTerm:
    """A field is this word; also by its default, where that is this word."""
    return RuleTerm(f"self.{path} == '{word}'", lambda data: _at(data, path) == word)


def differs(path: str, word: str) -> RuleTerm:
    return RuleTerm(f"self.{path} != '{word}'", lambda data: _at(data, path) != word)


def longer_than_zero(name: str) -> RuleTerm:
    """A duration is more than 0; what is no duration is refused by its type."""
    cel = f"!self.{name}.matches('{DURATION_PATTERN}') || duration(self.{name}) > duration('0s')"
    return RuleTerm(cel, lambda data: parse_duration(data[name]).total_seconds() > 0)


def _at(data: Data, path: str) -> Any:
    value: Any = data
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
