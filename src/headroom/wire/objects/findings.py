"""What is wrong in an object, collected instead of raised.

Holds are written by people and partly without a schema, so each field is read on its own: a bad
one becomes a Problem with its path, and everything else of the object is still known.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from msgspec import Raw

from headroom.core.holds import Problem
from headroom.wire.durations import parse_duration
from headroom.wire.errors import DecodeError
from headroom.wire.objects.reader import Reader, join, spelling
from headroom.wire.times import parse_time

T = TypeVar("T")
V = TypeVar("V")
LONGEST_MESSAGE = 500  # It ends up in a condition, and may quote what others wrote.
_TEXT = Reader(str)
_FLAG = Reader(bool)
_NUMBER = Reader(int)
_DURATION: Reader[str | int] = Reader(str | int)  # type: ignore[arg-type]  # a union is no type


class Findings:
    """The problems found so far in one object."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(self._problems)

    def add(self, path: str, message: str) -> None:
        cut = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"
        self._problems.append(Problem(path[:LONGEST_MESSAGE], cut))

    def note(self, error: DecodeError, path: str = "") -> None:
        """Take down what a decoder could not read; its path is inside `path`."""
        inner = error.path if not path or error.path.startswith("[") else f".{error.path}"
        self.add(join(path, inner) if error.path else path, error.problem)

    def read(self, reader: Reader[T], raw: Raw, path: str) -> T | None:
        """Read a field; None when it is absent, or wrong and taken down."""
        text = spelling(raw)
        if not text:
            return None
        try:
            return reader(text, path)
        except DecodeError as error:
            self.note(error)
            return None

    def parse(self, parse: Callable[[str], V], text: str | None, path: str) -> V | None:
        """Parse a text; None when there is none, or it is wrong and taken down."""
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self.add(path, str(error))
            return None

    def text(self, raw: Raw, path: str) -> str | None:
        """Read a string."""
        return self.read(_TEXT, raw, path)

    def flag(self, raw: Raw, path: str) -> bool | None:
        """Read a boolean."""
        return self.read(_FLAG, raw, path)

    def word(self, raw: Raw, path: str, words: tuple[str, ...]) -> str:
        """Read one of some words; the first of them is the default."""
        word = self.text(raw, path)
        if word is None:
            return words[0]
        if word not in words:
            self.add(path, f"{word!r} is not one of {', '.join(words)}")
            return words[0]
        return word

    def number(self, raw: Raw, path: str, least: int, most: int) -> int | None:
        """Read an integer in this range."""
        number = self.read(_NUMBER, raw, path)
        if number is not None and not least <= number <= most:
            self.add(path, f"{number} is out of range; it may be {least} to {most}")
            return None
        return number

    def duration(
        self, raw: Raw, path: str, negative: str = "must not be negative"
    ) -> timedelta | None:
        """Read a duration of zero or more; `negative` is the message for one that is less."""
        written = self.read(_DURATION, raw, path)
        if isinstance(written, int) and written != 0:
            self.add(path, f"{written} has no unit; write for example {written}s")
            return None
        text = str(written) if written is not None else None
        duration = self.parse(parse_duration, text, path)
        if duration is not None and duration < timedelta():
            self.add(path, negative)
            return None
        return duration

    def time(self, raw: Raw, path: str) -> datetime | None:
        """Read an RFC 3339 time."""
        return self.parse(parse_time, self.text(raw, path), path)
