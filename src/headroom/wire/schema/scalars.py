"""Whether one value is what its field wants: numbers, words, quantities, times, durations.

Each check returns None, or what is wrong and what to write instead, ready to stand after the
field's path. `validation` walks the objects and calls these.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from headroom.core.quantity import QuantityError, parse_quantity
from headroom.wire.durations import parse_duration
from headroom.wire.times import parse_time

_SIZES = {
    str: ("characters", "minLength", "maxLength"),
    list: ("items", "minItems", "maxItems"),
    dict: ("entries", "minProperties", "maxProperties"),
}
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def named(value: object) -> str:
    """Say what kind of value this is, as a reader of YAML would."""
    match value:
        case None:
            return "nothing (null)"
        case bool():
            return f"{str(value).lower()} (yes, no, on and off mean true and false; quote a word)"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the string {value!r}" if len(value) <= 40 else "a text"
        case list():
            return "a list"
    return "an object"


def check_scalar(name: str, value: object) -> str | None:
    """Say what is wrong with a value for a scalar type of the notation."""
    check = _CHECKS.get(name)
    return check(value) if check else None


def check_facts(facts: Mapping[str, Any], value: object) -> str | None:
    """Say which limit of a field a value of the right type breaks."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        least, most = facts.get("minimum"), facts.get("maximum")
        if least is not None and value < least:
            return f"{value} is below {least}, the least it may be"
        if most is not None and value > most:
            return f"{value} is above {most}, the most it may be"
    if isinstance(value, str):
        pattern = facts.get("pattern")
        if pattern is not None and not re.search(pattern, value):
            return f"{value!r} is invalid: it must match {pattern}"
    if isinstance(value, str | list | dict):
        noun, minimum, maximum = _SIZES[type(value)]
        least, most = facts.get(minimum, 0), facts.get(maximum)
        if len(value) < least:
            return f"at least {least} {noun} needed, {len(value)} given"
        if most is not None and len(value) > most:
            return f"at most {most} {noun} allowed, {len(value)} given"
    return None


def _string(value: object) -> str | None:
    if isinstance(value, str):
        return None
    hint = "; put it in quotes" if isinstance(value, bool | int | float) else ""
    return f"a string is expected, not {named(value)}{hint}"


def _bool(value: object) -> str | None:
    return None if isinstance(value, bool) else f"true or false is expected, not {named(value)}"


def _integer(name: str) -> Callable[[object], str | None]:
    least, most = _RANGES[name]

    def check(value: object) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int):
            hint = "; take the quotes off" if _is_digits(value) else ""
            return f"an integer is expected, not {named(value)}{hint}"
        return None if least <= value <= most else f"{value} is out of range for {name}"

    return check


def _is_digits(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value) is not None


def _number(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"a number is expected, not {named(value)}"
    return None


def _int_or_string(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return f"an integer or a string is expected, not {named(value)}"
    return None


def _quantity(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return f"a quantity (500m, 2, 1.5Gi) is expected, not {named(value)}"
    text = value if isinstance(value, str) else repr(value)
    try:
        quantity = parse_quantity(text)
    except QuantityError as error:
        return str(error)
    return f"{text} is negative; it must be 0 or more" if quantity.unscaled < 0 else None


def _time(value: object) -> str | None:
    problem = f"a time such as 2027-01-04T07:55:00Z is expected, not {named(value)}"
    if not isinstance(value, str):
        return problem
    try:
        parse_time(value)
    except ValueError:
        return problem
    return None


def _duration(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value} has no unit; write for example {value}s"
    if not isinstance(value, str):
        return f"a duration such as 90s or 1h30m is expected, not {named(value)}"
    try:
        duration = parse_duration(value)
    except ValueError as error:
        return str(error)
    return f"{value} is negative; it must be 0 or more" if duration.total_seconds() < 0 else None


def _bytes(value: object) -> str | None:
    if isinstance(value, str):
        try:
            base64.b64decode(value, validate=True)
        except ValueError:
            return "base64 is expected"
        return None
    return f"base64 text is expected, not {named(value)}"


def _object(value: object) -> str | None:
    return None if isinstance(value, dict) else f"an object is expected, not {named(value)}"


_CHECKS: dict[str, Callable[[object], str | None]] = {
    "string": _string,
    "bool": _bool,
    "int32": _integer("int32"),
    "int64": _integer("int64"),
    "number": _number,
    "intorstring": _int_or_string,
    "quantity": _quantity,
    "time": _time,
    "duration": _duration,
    "bytes": _bytes,
    "object": _object,
}
