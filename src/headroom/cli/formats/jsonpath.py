"""Parse the JSONPath of `kubectl get -o jsonpath=…` into a small tree.

It supports the common parts: fields, `['a','b']`, `[0]`, `[-1]`, `[1:3]`, `[*]`, `..name`, filters
`[?(@.x=="y")]`, text between braces, `{"\\n"}`, `{range …}{end}`. Anything else raises `BadPath`
with the position. `evaluate` finds the values and prints them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
_NAME = re.compile(r"(?:\\.|[^\\.\[\]{}()\s,'\"=<>!|])+")
_TEXT = re.compile(r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\"")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_DEEPEST = 20


class BadPath(ValueError):
    """An expression that cannot be parsed."""


@dataclass(frozen=True, slots=True)
class FieldStep:
    """One or several members of an object, by name."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Every:
    """All elements of a list or all values of an object; with `deep` also all nested ones."""

    deep: bool = False


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements of a list; None for an open end. One index is a slice of one."""

    start: int | None
    stop: int | None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of a list by index; negative ones count from the end."""

    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Elements for which a comparison is true; without an operator, those that have the path."""

    left: Path
    operator: str = ""
    right: Operand = None


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from the root (`$`) or from the current element."""

    steps: tuple[Step, ...]
    from_root: bool = False


@dataclass(frozen=True, slots=True)
class LiteralText:
    text: str


@dataclass(frozen=True, slots=True)
class Range:
    """A part that is printed for every value of a path."""

    path: Path
    body: tuple[Part, ...]


Step: TypeAlias = FieldStep | Every | Slice | Elements | Filter
Operand: TypeAlias = "str | int | float | bool | Path | None"
Part: TypeAlias = LiteralText | Path | Range


def parse_template(template: str) -> tuple[Part, ...]:
    """Parse a whole template; one without braces is a single path, as in kubectl."""
    if "{" not in template and "}" not in template:
        template = f"{{{template}}}"
    return _Reader(template).parts(0)


def parse_path(text: str) -> Path:
    """Parse one path, with or without braces and with or without a leading dot."""
    bare = text.strip()
    if bare.startswith("{") and bare.endswith("}"):
        bare = bare[1:-1].strip()
    if bare and bare[0] not in ".[$@":
        bare = f".{bare}"
    reader = _Reader(bare)
    path = reader.path()
    if reader.at < len(bare):
        raise reader.trouble("this is not part of a path")
    return path


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def trouble(self, what: str) -> BadPath:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:77]}…"
        return BadPath(f"{shown!r}, character {self.at + 1}: {what}")

    def _next(self, token: str) -> bool:
        """Skip a token if it comes next."""
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def _expect(self, token: str) -> None:
        if not self._next(token):
            raise self.trouble(f"{token!r} is expected here")

    def _blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def parts(self, depth: int) -> tuple[Part, ...]:
        """Text and expressions up to the end, or up to the `{end}` of a range."""
        if depth > _DEEPEST:
            raise self.trouble("ranges are nested too deeply")
        found: list[Part] = []
        while self.at < len(self.text):
            start = self.text.find("{", self.at)
            stop = len(self.text) if start < 0 else start
            if stop > self.at:
                found.append(LiteralText(self.text[self.at : stop]))
            self.at = stop
            if start < 0:
                break
            self.at += 1
            self._blank()
            if self._next("end"):
                self._close()
                if not depth:
                    raise self.trouble("{end} without {range}")
                return tuple(found)
            found += self._expression(depth)
        if depth:
            raise self.trouble("{range} without {end}")
        return tuple(found)

    def _expression(self, depth: int) -> list[Part]:
        if re.match(r"range\s", self.text[self.at :]):
            self.at += len("range ")
            self._blank()
            path = self.path()
            self._close()
            return [Range(path, self.parts(depth + 1))]
        found: list[Part] = []
        while not self._next("}"):
            quoted = _TEXT.match(self.text, self.at)
            if quoted is not None:
                self.at = quoted.end()
                found.append(LiteralText(_unquoted(quoted)))
            else:
                found.append(self.path())
            self._blank()
            if self.at >= len(self.text):
                raise self.trouble("a closing } is missing")
        return found

    def _close(self) -> None:
        self._blank()
        self._expect("}")

    def path(self) -> Path:
        """Parse steps until something else follows."""
        from_root = self._next("$")
        if not from_root:
            self._next("@")
        begun = self.at
        steps: list[Step] = []
        while True:
            if self._next(".."):
                steps.append(Every(deep=True))
                if not self.text.startswith("[", self.at):
                    steps.append(self._member())
            elif self.text.startswith(".[", self.at) or self.text.startswith("[", self.at):
                self._next(".")
                self._expect("[")
                steps.append(self._brackets())
            elif self._next("."):
                if self._ends():
                    break
                steps.append(self._member())
            else:
                break
        if self.at == begun and not from_root and not self.text.startswith("@", begun - 1):
            raise self.trouble("a path such as .metadata.name is expected here")
        return Path(tuple(steps), from_root)

    def _ends(self) -> bool:
        """Whether the path was a single dot, the element itself."""
        return self.at >= len(self.text) or self.text[self.at] in "} )="

    def _member(self) -> Step:
        if self._next("*"):
            return Every()
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise self.trouble("the name of a field is expected here")
        self.at = name.end()
        return FieldStep((re.sub(r"\\(.)", r"\1", name[0]),))

    def _brackets(self) -> Step:
        self._blank()
        if self._next("*"):
            step: Step = Every()
        elif self._next("?"):
            step = self._filter()
        elif _TEXT.match(self.text, self.at):
            step = FieldStep(tuple(self._names()))
        else:
            step = self._numbers()
        self._blank()
        self._expect("]")
        return step

    def _names(self) -> list[str]:
        names = []
        while True:
            quoted = _TEXT.match(self.text, self.at)
            if quoted is None:
                raise self.trouble("a quoted name is expected here")
            self.at = quoted.end()
            names.append(_unquoted(quoted))
            self._blank()
            if not self._next(","):
                return names
            self._blank()

    def _numbers(self) -> Step:
        inside = re.compile(r"[-\d:,\s]*").match(self.text, self.at)
        content = inside[0].strip() if inside is not None else ""
        try:
            if ":" in content:
                ends = [int(end) if end.strip() else None for end in content.split(":")]
                if len(ends) > 3 or ends[2:] == [0]:
                    raise ValueError
                step: Step = Slice(*ends)
            else:
                step = Elements(tuple(int(each) for each in content.split(",")))
        except ValueError:
            raise self.trouble("an index, a slice, *, a quoted name or ?(…) is expected") from None
        self.at += len(inside[0]) if inside is not None else 0
        return step

    def _filter(self) -> Filter:
        self._expect("(")
        self._blank()
        if not self.text.startswith(("@", "$"), self.at):
            raise self.trouble("a filter compares something of @, such as @.type")
        left = self.path()
        self._blank()
        operator = next((each for each in OPERATORS if self._next(each)), "")
        self._blank()
        right = self._operand() if operator else None
        self._blank()
        if not self.text.startswith(")", self.at):
            known = " ".join(OPERATORS)
            raise self.trouble(f"one comparison by {known}, then ) is expected here")
        self._expect(")")
        return Filter(left, operator, right)

    def _operand(self) -> Operand:
        quoted = _TEXT.match(self.text, self.at)
        if quoted is not None:
            self.at = quoted.end()
            return _unquoted(quoted)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return float(number[0]) if "." in number[0] else int(number[0])
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self._next(word):
                return value
        if self.text.startswith(("@", "$"), self.at):
            return self.path()
        raise self.trouble('a number, true, false or a quoted text such as "x" is expected here')


def _unquoted(quoted: re.Match[str]) -> str:
    inner = quoted[1] if quoted[1] is not None else quoted[2]
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inner)
