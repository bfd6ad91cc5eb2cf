"""Comparing an object with its schema: everything that is wrong with it, each with its path.

What the API server would refuse or drop in silence is said here before anything runs: fields that
do not exist (with the one that was probably meant), values of the wrong type, what is missing.
Whether an object makes *sense* is for whoever uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from headroom.core.holds import Problem
from headroom.wire.kinds import FOREIGN_GROUPS
from headroom.wire.schema import notation
from headroom.wire.schema.scalars import check_facts, check_scalar, named
from headroom.wire.yamls import Document, ManifestError
from headroom.wire.yamls.lines import step

_MOST_PROBLEMS = 100  # Nobody reads more, and a file of the wrong kind has thousands.
_MOST_GUESSES = 10  # To guess what was meant takes long; so many misspelled names are no slips.


def validate(
    data: Mapping[str, Any], type_name: str, catalogue: notation.Catalogue, *, stored: bool = False
) -> list[Problem]:
    """Return what is wrong with an object of this type, in the order in which it is written.

    Of one that an API server has `stored`, fields that do not exist are no problem: its CRD may be
    newer than we are.
    """
    walk = _Walk(catalogue, custom=type_name in catalogue.custom, stored=stored)
    return list(islice(walk.struct(dict(data), type_name, ""), _MOST_PROBLEMS))


def type_of(data: Mapping[str, Any], catalogue: notation.Catalogue) -> str | Problem:
    """Return the name of the object's type, or why it has none."""
    version, kind = data.get("apiVersion"), data.get("kind")
    for name, value in (("apiVersion", version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            return Problem(name, "missing: every object says its apiVersion and kind")
    found = catalogue.kinds.get(f"{version}/{kind}")
    return found or Problem("kind", _unknown_kind(f"{version}/{kind}", str(kind), catalogue))


def check(document: Document, catalogue: notation.Catalogue) -> list[ManifestError]:
    """Return what is wrong with a document of a file, each with its line."""
    type_name = type_of(document.data, catalogue)
    if isinstance(type_name, Problem):
        return [document.error(type_name.path, type_name.message)]
    problems = validate(document.data, type_name, catalogue) or _nameless(document.data)
    return [document.error(problem.path, problem.message) for problem in problems]


class _Walk:
    """One way through an object.

    `custom` is for objects of a CRD: there the API server takes no quantity that is a fraction
    without quotes, though it does in its own kinds.
    """

    def __init__(self, catalogue: notation.Catalogue, custom: bool, stored: bool) -> None:
        self._catalogue = catalogue
        self._custom = custom
        self._stored = stored
        self._guesses = _MOST_GUESSES

    def struct(self, data: dict[str, Any], type_name: str, path: str) -> Iterator[Problem]:
        """Tell what is wrong with an object, and, if nothing is, which rule it breaks."""
        sound = True
        for problem in self._fields(data, type_name, path):
            sound = False
            yield problem
        if not sound:
            return
        present = {name: value for name, value in data.items() if value is not None}
        for rule in self._catalogue.rules.get(type_name, ()):
            if not rule.holds(present):
                yield Problem(step(path, rule.at) if rule.at else path, rule.problem(present))

    def _fields(self, data: dict[str, Any], type_name: str, path: str) -> Iterator[Problem]:
        fields = self._catalogue.types[type_name]
        foreign = type_name in self._catalogue.foreign
        for name, value in data.items():
            place, known = step(path, name), fields.get(name)
            if known is None:
                if self._stored:
                    continue
                self._guesses -= 1
                guess = _meant(name, fields) if self._guesses >= 0 else ""
                yield Problem(place, f"no such field{guess}")
            elif not _is_absent(value, known, foreign):
                yield from self._value(value, known.type, place)
                broken = check_facts(known.facts, value) if known.facts else None
                if broken:
                    yield Problem(place, broken)
        if foreign and (path == "status" or path.startswith("status.")):
            return
        for name, known in fields.items():
            if known.required and data.get(name) is None:
                lacking = f"missing: {known.lacking}" if known.lacking else "missing"
                yield Problem(step(path, name), lacking)

    def _value(self, value: object, wanted: notation.Type, path: str) -> Iterator[Problem]:
        match wanted:
            case notation.Scalar(name):
                problem = self._scalar(name, value)
                if problem:
                    yield Problem(path, problem)
            case notation.WordChoice(words):
                if value not in words:
                    yield Problem(path, _choose(value, words))
            case notation.ListOf(item):
                if not isinstance(value, list):
                    yield Problem(path, f"a list is expected, not {named(value)}")
                    return
                for position, part in enumerate(value):
                    yield from self._value(part, item, step(path, position))
            case notation.MapOf(inner):
                if not isinstance(value, dict):
                    yield Problem(path, f"a map of values is expected, not {named(value)}")
                    return
                for name, part in value.items():
                    yield from self._value(part, inner, step(path, name))
            case notation.Struct(name):
                if not isinstance(value, dict):
                    yield Problem(path, f"an object is expected, not {named(value)}")
                    return
                yield from self.struct(value, name, path)

    def _scalar(self, name: str, value: object) -> str | None:
        problem = check_scalar(name, value)
        if problem is None and self._custom and name == "quantity" and isinstance(value, float):
            return f"write {value} in quotes: the API server expects an integer or a string here"
        return problem


def _is_absent(value: object, known: notation.Field, foreign: bool) -> bool:
    """Whether the API server takes this for absent: null, or an empty word of its own types."""
    if foreign and value == "":
        return isinstance(known.type, notation.WordChoice) and not known.required
    return value is None


def _nameless(data: Mapping[str, Any]) -> list[Problem]:
    metadata = data.get("metadata") or {}
    if metadata.get("name") or metadata.get("generateName"):
        return []
    return [Problem("metadata.name", "missing: every object needs a name")]


def _unknown_kind(full: str, kind: str, catalogue: notation.Catalogue) -> str:
    dialect = FOREIGN_GROUPS.get(full.partition("/")[0])
    if dialect is not None:
        return f"{full} is served by the dialect {dialect}; switch it on with --dialect {dialect}"
    by_kind = {name.rsplit("/", 1)[-1]: name for name in sorted(catalogue.kinds)}
    close = get_close_matches(kind, sorted(by_kind), n=1, cutoff=0.75)
    known = f"known are {', '.join(sorted(by_kind))}"
    wanted = f"did you mean {by_kind[close[0]]}?" if close else known
    return f"{full} is not a kind that is known here; {wanted}"


def _meant(name: str, fields: Mapping[str, notation.Field]) -> str:
    lowered = {field.lower(): field for field in fields}
    close = get_close_matches(name.lower(), sorted(lowered), n=1, cutoff=0.7)
    return f"; did you mean {lowered[close[0]]}?" if close else ""


def _choose(value: object, words: tuple[str, ...]) -> str:
    close = get_close_matches(str(value), words, n=1)
    wanted = f"did you mean {close[0]}?" if close else f"choose from {', '.join(words)}"
    return f"{named(value)} is not possible here; {wanted}"
