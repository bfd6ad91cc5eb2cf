"""Values that we write into objects and read back, such as statuses: one table for both ways.

A table names the attributes of a core value and how each is written. What is written reads back
equal: a status that differs from what was meant would be written again and again. Whatever is
empty is left out, as Kubernetes does, unless it is told always. What makes no sense counts as
empty: it is ours, and is then written anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from types import GenericAlias
from typing import Any, Generic, TypeVar

import msgspec

from headroom.core.amounts import format_resources
from headroom.core.resources import EMPTY, Resources
from headroom.wire.amounts import amounts_in
from headroom.wire.durations import format_duration, parse_duration
from headroom.wire.errors import DecodeError
from headroom.wire.kinds import Json
from headroom.wire.objects.reader import Reader, Time
from headroom.wire.times import bounded, bounded_sum, format_time

T = TypeVar("T")


def filled(fields: Json) -> Json:
    """Leave out what is empty, as Kubernetes does."""
    return {name: value for name, value in fields.items() if value}


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Part:
    """How one attribute is written: its JSON type, and both ways. `name` is that in the JSON."""

    wanted: Any
    empty: Any
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same
    name: str = ""
    told: bool = False  # also where it is empty

    def named(self, name: str) -> Part:
        return replace(self, name=name)

    @property
    def always(self) -> Part:
        return replace(self, told=True)


class Codec(Generic[T]):
    """Writes and reads one class of core values."""

    def __init__(self, made: Callable[..., T], **parts: Part) -> None:
        self._made = made
        self._parts = {
            each: part if part.name else part.named(_camel(each)) for each, part in parts.items()
        }
        fields = [
            (each, part.wanted | None, msgspec.field(default=None, name=part.name))
            for each, part in self._parts.items()
        ]
        self.shape = msgspec.defstruct("Shape", fields, gc=False)
        self._read = Reader(self.shape)

    def write(self, value: T) -> Json:
        written = {}
        for each, part in self._parts.items():
            given = getattr(value, each)
            if part.told or (given is not None and given != part.empty):
                written[part.name] = part.write(given)
        return written

    def read(self, text: bytes) -> T:
        """Read what was written; empty for what is absent or makes no sense."""
        try:
            return self.value(self._read(text or b"{}"))
        except DecodeError:
            return self.value(self.shape())

    def value(self, read: Any) -> T:
        """The core value from its shape."""
        given = ((each, part, getattr(read, each)) for each, part in self._parts.items())
        return self._made(
            **{each: part.empty if got is None else part.read(got) for each, part, got in given}
        )

    def part(self, empty: T | None = None) -> Part:
        """The value as a part of another."""
        return Part(self.shape, empty, self.value, self.write)

    def parts(self, most: int | None = None) -> Part:
        """Several values as a part of another; of more than `most`, the first."""
        return Part(
            GenericAlias(list, (self.shape,)),
            (),
            lambda found: tuple(map(self.value, found[:most])),
            lambda values: list(map(self.write, values)),
        )


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text) if text else timedelta()
    except ValueError:
        return timedelta()


TEXT = Part(str, "")
NUMBER = Part(int, 0)
SHARE = Part(float, 0.0)
TEXTS = Part(list[str], (), tuple, list)
TIME = Part(Time, None, bounded, format_time)
SUM = Part(Time, None, bounded_sum, format_time)  # a time that we added up ourselves
DURATION = Part(str, timedelta(), _duration, format_duration)
AMOUNTS = Part(
    dict[str, Any],
    EMPTY,
    lambda written: Resources(amounts_in(written, "status")),
    format_resources,
)
