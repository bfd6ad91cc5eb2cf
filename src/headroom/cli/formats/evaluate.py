"""Find values by JSONPath and fill templates with them, as kubectl does.

A missing value is no error and prints nothing. Several values of one path are separated by a space;
objects and lists are printed as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from headroom.cli.formats import jsonpath


def found_by(path: jsonpath.Path, value: Any, root: Any) -> list[Any]:
    """Every value that a path leads to, in order."""
    values = [root if path.from_root else value]
    for step in path.steps:
        values = [result for each in values for result in _step(step, each, root)]
    return values


def filled_in(parts: Sequence[jsonpath.Part], value: Any, root: Any) -> str:
    """A template in which each expression is replaced by its values."""
    return "".join(_written(parts, value, root))


def shown(value: Any) -> str:
    """A value as text: strings unchanged, everything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _written(parts: Iterable[jsonpath.Part], value: Any, root: Any) -> Iterator[str]:
    for part in parts:
        match part:
            case jsonpath.LiteralText(text):
                yield text
            case jsonpath.Path():
                yield " ".join(shown(each) for each in found_by(part, value, root))
            case jsonpath.Range(path, body):
                for each in found_by(path, value, root):
                    yield from _written(body, each, root)


def _step(step: jsonpath.Step, value: Any, root: Any) -> Iterator[Any]:
    match step:
        case jsonpath.FieldStep(names):
            if isinstance(value, Mapping):
                yield from (value[name] for name in names if name in value)
        case jsonpath.Every(deep=True):
            yield from _below(value)
        case jsonpath.Every():
            yield from _children(value)
        case jsonpath.Elements(indexes):
            if isinstance(value, list):
                size = len(value)
                yield from (value[index] for index in indexes if -size <= index < size)
        case jsonpath.Slice(start, stop, step=stride):
            if isinstance(value, list):
                yield from value[start:stop:stride]
        case jsonpath.Filter():
            yield from (each for each in _children(value) if _holds(step, each, root))


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _below(value: Any) -> Iterator[Any]:
    """The value and everything under it."""
    yield value
    for child in _children(value):
        yield from _below(child)


def _holds(test: jsonpath.Filter, value: Any, root: Any) -> bool:
    left = found_by(test.left, value, root)
    if not test.operator:
        return bool(left)
    right = _operand(test.right, value, root)
    return bool(left) and bool(right) and _compared(test.operator, left[0], right[0])


def _operand(operand: jsonpath.Operand, value: Any, root: Any) -> list[Any]:
    return found_by(operand, value, root) if isinstance(operand, jsonpath.Path) else [operand]


def _compared(operator: str, left: Any, right: Any) -> bool:
    if operator in ("==", "!="):
        return (left == right and _sort(left) == _sort(right)) is (operator == "==")
    if _sort(left) != _sort(right) or _sort(left) not in ("number", "text"):
        return False
    if operator in ("<", "<="):
        return bool(left < right or (operator == "<=" and left == right))
    return bool(left > right or (operator == ">=" and left == right))


def _sort(value: Any) -> str:
    """A sort key for comparable values; True is not a number here."""
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__
