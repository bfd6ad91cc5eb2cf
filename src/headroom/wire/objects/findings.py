"""What is wrong in an object, collected instead of raised.

Holds are written by people and partly without a schema, so each field is read on its own: a bad
one becomes a Problem with its path, and everything else of the object is still known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec import Raw

from headroom.core.holds import Problem
from headroom.wire.errors import DecodeError
from headroom.wire.objects.reader import Reader, join, spelling

T = TypeVar("T")
V = TypeVar("V")
LONGEST_MESSAGE = 500  # It ends up in a condition, and may quote what others wrote.


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
