"""What is wrong in an object, collected instead of raised.

Holds are written by people and partly without a schema, so each field is read on its own: a bad
one becomes a Problem with its path, and everything else of the object is still known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import Raw

from headroom.core.holds import Problem
from headroom.wire.amounts import read_amounts
from headroom.wire.errors import DecodeError
from headroom.wire.objects.reader import ABSENT, Reader, join, spelling

T = TypeVar("T")
V = TypeVar("V")
LONGEST_MESSAGE = 500  # It ends up in a condition, and may quote what others wrote.
_FIELDS = Reader(dict[str, Raw])
_LIST = Reader(list[dict[str, Raw]])
_TEXT = Reader(str)
_FLAG = Reader(bool)
_NUMBER = Reader(int)


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

    def fields(self, raw: Raw, path: str) -> Fields:
        """Read a part of the object, to go through its fields."""
        return Fields(self, path, self.read(_FIELDS, raw, path))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Take down problems that were found apart."""
        for problem in problems:
            self.add(problem.path, problem.message)

    def parse(self, parse: Callable[[str], V], text: str | None, path: str) -> V | None:
        """Parse a text; None when there is none, or it is wrong and taken down."""
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self.add(path, str(error))
            return None


class Fields:
    """One part of an object, whose fields are read by name; what is wrong is told with its path.

    `given`: the part is there, and is an object.
    """

    def __init__(self, findings: Findings, path: str, raws: Mapping[str, Raw] | None) -> None:
        self.findings = findings
        self.path = path
        self.given = raws is not None
        self._raws = raws or {}

    def at(self, name: str) -> str:
        """The path of a field."""
        return f"{self.path}.{name}"

    def raw(self, name: str) -> Raw:
        """The text of a field, for who reads it in another way."""
        return self._raws.get(name, ABSENT)

    def has(self, name: str) -> bool:
        return bool(spelling(self.raw(name)))

    def texts(self) -> dict[str, bytes]:
        """The texts of all fields that are there."""
        spelled = {name: spelling(raw) for name, raw in self._raws.items()}
        return {name: text for name, text in spelled.items() if text}

    def present(self, names: Iterable[str]) -> dict[str, Raw]:
        """Those of some fields that are there, with their texts."""
        return {name: self.raw(name) for name in names if self.has(name)}

    def add(self, name: str, message: str) -> None:
        """Take down what is wrong with a field."""
        self.findings.add(self.at(name), message)

    def read(self, reader: Reader[T], name: str) -> T | None:
        """Read a field; None when it is absent, or wrong and taken down."""
        return self.findings.read(reader, self.raw(name), self.at(name))

    def part(self, name: str) -> Fields:
        """A field that has fields of its own."""
        return self.findings.fields(self.raw(name), self.at(name))

    def parts(self, name: str) -> Iterator[Fields]:
        """The items of a list of such fields; none, where one of them is no object."""
        for index, raws in enumerate(self.read(_LIST, name) or ()):
            yield Fields(self.findings, f"{self.at(name)}[{index}]", raws)

    def parse(self, parse: Callable[[str], V], name: str) -> V | None:
        """Read a string and parse it; an empty one counts as absent."""
        return self.findings.parse(parse, self.text(name) or None, self.at(name))

    def text(self, name: str) -> str | None:
        """Read a string."""
        return self.read(_TEXT, name)

    def flag(self, name: str) -> bool | None:
        """Read a boolean."""
        return self.read(_FLAG, name)

    def number(self, name: str, least: int, most: int) -> int | None:
        """Read an integer in this range."""
        number = self.read(_NUMBER, name)
        if number is not None and not least <= number <= most:
            self.add(name, f"{number} is out of range; it may be {least} to {most}")
            return None
        return number

    def amounts(self, name: str) -> Mapping[str, int] | None:
        """Read a list of resources by name; a name with zero is kept."""
        if not self.has(name):
            return None
        try:
            return read_amounts(spelling(self.raw(name)), self.at(name))
        except DecodeError as error:
            self.findings.note(error)
            return None
