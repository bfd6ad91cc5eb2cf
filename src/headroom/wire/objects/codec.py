"""Core values from JSON and to it, by one table for both ways.

A table names the attributes of a core value and how each is written: its JSON type, its name (with
dots, where it is deeper inside), and what it is where it is absent or null. Our own statuses are
read and written by it. What is written reads back equal: a status that differs from what was meant
would be written again and again. Whatever is empty is left out, as Kubernetes does, unless it is
told always. What makes no sense in a status counts as empty: it is ours, and is then written anew.
What others wrote is read by the same tables (`decode`), and what makes no sense is a DecodeError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from operator import attrgetter
from types import GenericAlias, MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from headroom.core.amounts import format_resources
from headroom.core.resources import EMPTY, Resources
from headroom.wire.amounts import amounts_in
from headroom.wire.durations import format_duration, parse_duration
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import Json
from headroom.wire.objects.reader import Decoder, Reader, Time
from headroom.wire.times import bounded, bounded_sum, format_time

T = TypeVar("T")


def filled(fields: Json) -> Json:
    """Leave out what is empty, as Kubernetes does."""
    return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True)
class Part:
    """How one attribute is written: its JSON type, and both ways. `name` is that in the JSON."""

    wanted: Any
    empty: Any
    read: Callable[[Any], Any] | None = None  # None: it is the same on both sides
    write: Callable[[Any], Any] | None = None
    name: str = ""
    told: bool = False  # also where it is empty

    def named(self, name: str) -> Part:
        return replace(self, name=name)

    @property
    def always(self) -> Part:
        return replace(self, told=True)


class Codec(Generic[T]):
    """Writes and reads one class of core values; `made` gets the attributes by name."""

    def __init__(self, made: Callable[..., T], **parts: Part) -> None:
        self._made = made
        self._parts = {
            each: part if part.name else part.named(_camel(each)) for each, part in parts.items()
        }
        self._rows = [
            (each, attrgetter(part.name), part.empty, part.read)
            for each, part in self._parts.items()
        ]
        self.shape = _shape([(part.name.split("."), part.wanted) for part in self._parts.values()])
        self._read = Reader(self.shape)
        self._read_list: Reader[list[Any]] = Reader(_list_of(self.shape))

    def write(self, value: T) -> Json:
        written: Json = {}
        for each, part in self._parts.items():
            given = getattr(value, each)
            if part.told or (given is not None and given != part.empty):
                *outer, name = part.name.split(".")
                place = written
                for step in outer:
                    place = place.setdefault(step, {})
                place[name] = part.write(given) if part.write else given
        return written

    def read(self, text: bytes) -> T:
        """Read what was written; empty for what is absent or makes no sense."""
        try:
            return self.decode(text, "")
        except DecodeError:
            return self.value(self.shape())

    def whole(self, text: bytes | msgspec.Raw) -> T:
        """Read an object of its own; unlike a part of another, it must be there."""
        return self.value(self._read(text))

    def decode(self, text: bytes, path: str) -> T:
        """Read what stands at `path`; empty where it is absent."""
        return self.value(self._read(text or b"{}", path))

    def decode_list(self, text: bytes, path: str) -> tuple[T, ...]:
        """Read a list that stands at `path`; empty where it is absent."""
        return tuple(map(self.value, self._read_list(text or b"[]", path)))

    def decoder(self, kind: str) -> Decoder[T]:
        """What reads whole objects of a kind."""
        return Decoder(kind, self.shape, self.value)

    def value(self, read: Any) -> T:
        """The core value from its shape."""
        given = {}
        for each, get, empty, convert in self._rows:
            try:
                got = get(read)
            except AttributeError:  # A part around it is null.
                got = None
            if got is None:
                given[each] = empty
            else:
                given[each] = convert(got) if convert else got
        return self._made(**given)

    def part(self, empty: T | None = None) -> Part:
        """The value as a part of another."""
        return Part(self.shape, empty, self.value, self.write)

    def parts(self, most: int | None = None) -> Part:
        """Several values as a part of another; of more than `most`, the first."""
        return Part(
            _list_of(self.shape),
            (),
            lambda found: tuple(map(self.value, found[:most])),
            lambda values: list(map(self.write, values)),
        )


def _shape(parts: list[tuple[list[str], Any]]) -> type[Any]:
    """The msgspec struct that has these fields; those with longer paths in structs of their own."""
    fields: list[Any] = [(path[0], wanted | None, None) for path, wanted in parts if not path[1:]]
    for outer in dict.fromkeys(path[0] for path, _ in parts if path[1:]):
        inner = _shape([(path[1:], wanted) for path, wanted in parts if path[0] == outer])
        fields.append((outer, inner | None, msgspec.field(default_factory=inner)))
    return msgspec.defstruct("Shape", fields, gc=False)


def _list_of(shape: type[Any]) -> Any:
    return GenericAlias(list, (shape,))


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text) if text else timedelta()
    except ValueError:
        return timedelta()


def text_or(usual: str) -> Part:
    """A text that is this one where it is absent or empty."""
    return Part(str, usual, lambda text: text or usual)


TEXT = Part(str, "")
NUMBER = Part(int, 0)
COUNT = Part(int, None)  # None where nothing is said
SHARE = Part(float, 0.0)
TEXTS = Part(list[str], (), tuple, list)
TEXT_MAP = Part(dict[str, str], MappingProxyType({}))
TEXT_PAIRS = Part(dict[str, str], (), lambda texts: tuple(sorted(texts.items())), dict)
TIME = Part(Time, None, bounded, format_time)
SUM = Part(Time, None, bounded_sum, format_time)  # a time that we added up ourselves
DURATION = Part(str, timedelta(), _duration, format_duration)
AMOUNTS = Part(
    dict[str, Any],
    EMPTY,
    lambda written: Resources(amounts_in(written, "status")),
    format_resources,
)
