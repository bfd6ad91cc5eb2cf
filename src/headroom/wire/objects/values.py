"""The spec of an object as core values, read by the declaration that its CRD is made from.

A field is declared once, in `wire.schema`: its name, type, limits, default and meaning. A
`SpecReader` checks a spec against that, tells what is wrong with its path, and makes values of the
rest: a duration becomes a timedelta, a time a datetime, a list a tuple, a map sorted pairs,
quantities whole numbers. Which core value the fields of a type become is said by a maker, which
gets them by their names in snake_case; a type without a maker stays as it is written. A maker
refuses with a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from keyword import iskeyword
from types import MappingProxyType
from typing import Any

from headroom.core.holds import Problem
from headroom.wire.amounts import amounts_in
from headroom.wire.durations import parse_duration
from headroom.wire.errors import DecodeError
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.intern import Interned
from headroom.wire.objects.reader import Reader
from headroom.wire.schema.notation import Catalogue, Field, ListOf, MapOf, Scalar, Struct, Type
from headroom.wire.schema.validation import validate
from headroom.wire.times import parse_time
from headroom.wire.yamls.lines import step

_CAPITAL = re.compile("(?=[A-Z])")
_read_any: Reader[Any] = Reader(Any)
Makers = Mapping[str, Callable[..., Any]]
Texts = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class _Spec:
    values: Mapping[str, Any]
    problems: tuple[Problem, ...]


class SpecReader:
    """Reads the specs of one kind; each spelling once, for most objects differ in few fields.

    `apart` are fields that are read, and required, in another way: here only whether they are
    there counts.
    """

    def __init__(
        self,
        type_name: str,
        catalogue: Callable[[], Catalogue],
        makers: Makers,
        apart: tuple[str, ...] = (),
    ) -> None:
        self._type = type_name
        self._known = catalogue
        self._makers = makers
        self._apart = apart
        self._specs: Interned[Texts, _Spec] = Interned(self._read, limit=512)

    def __call__(self, spec: Fields) -> Mapping[str, Any]:
        """The values of a spec by name, without those that are wrong and taken down."""
        texts = (
            (name, b"{}" if name in self._apart else text) for name, text in spec.texts().items()
        )
        read = self._specs(tuple(texts))
        spec.findings.extend(read.problems)
        return read.values

    @cached_property
    def _catalogue(self) -> Catalogue:
        known = self._known()
        fields = dict(known.types[self._type])
        for name in self._apart:
            fields[name] = Field(Scalar("any"))
        return known.extended({self._type: fields}, {})

    def _read(self, texts: Texts) -> _Spec:
        findings = Findings()
        written = {}
        for name, text in texts:
            try:
                written[name] = _read_any(text, f"spec.{name}")
            except DecodeError as error:
                findings.note(error)
        found = validate(written, self._type, self._catalogue, stored=True)
        findings.extend(Problem(f"spec.{each.path}".rstrip("."), each.message) for each in found)
        wrong = {re.split(r"[.\[]", each.path)[0] for each in found}
        values = {}
        for name, given, wanted in self._given(written, self._type):
            if name in wrong or name in self._apart:
                continue
            try:
                values[_snake(name)] = self._value(given, wanted, f"spec.{name}")
            except DecodeError as error:
                findings.note(error)
        return _Spec(MappingProxyType(values), findings.problems)

    def _given(self, written: Mapping[str, Any], type_name: str) -> Iterator[tuple[str, Any, Type]]:
        """The fields of a type that are there or have a default."""
        for name, field in self._catalogue.types[type_name].items():
            given = written.get(name)
            given = field.facts.get("default") if given is None else given
            if given is not None:
                yield name, given, field.type

    def _value(self, written: Any, wanted: Type, path: str) -> Any:
        match wanted:
            case Scalar("duration"):
                return parse_duration(written)
            case Scalar("time"):
                return parse_time(written)
            case ListOf(item):
                parts = enumerate(written)
                return tuple(self._value(each, item, step(path, at)) for at, each in parts)
            case MapOf(Scalar("quantity")):
                return tuple(sorted(amounts_in(written, path).items()))
            case MapOf():
                return tuple(sorted(written.items()))
            case Struct(name) if name in self._makers:
                return self._made(written, name, path)
        return written

    def _made(self, written: Mapping[str, Any], type_name: str, path: str) -> Any:
        given = {
            _snake(name): self._value(value, wanted, step(path, name))
            for name, value, wanted in self._given(written, type_name)
        }
        try:
            return self._makers[type_name](**given)
        except ValueError as error:
            raise DecodeError("", path, str(error)) from error


@cache
def _snake(name: str) -> str:
    """The name that a field has in Python."""
    snake = "_".join(part.lower() for part in _CAPITAL.split(name))
    return f"{snake}_" if iskeyword(snake) else snake
