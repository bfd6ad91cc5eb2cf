"""Selectors over stored JSON: the structured form of manifests and the short form of commands.

Both become core's `LabelSelector`, so the meaning of a selector is defined once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headroom.core.objects import LabelSelector, Requirement
from headroom.core.selection import matches
from headroom.sim.api.values import Json, dig

_SET = re.compile(r"(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s=!]+)\s*(?P<op>==?|!=)\s*(?P<value>[^\s=!]*)")
_EXISTS = re.compile(r"(?P<not>!?)\s*(?P<key>[^\s=!()]+)")


def selector_from(given: Json | None) -> LabelSelector:
    """Read a LabelSelector of a manifest; an absent one selects everything."""
    equal = sorted((dig(given, "matchLabels") or {}).items())
    found = [Requirement(str(key), "In", (str(value),)) for key, value in equal]
    for each in dig(given, "matchExpressions") or ():
        values = tuple(str(value) for value in each.get("values") or ())
        found.append(Requirement(str(each.get("key")), str(each.get("operator")), values))
    return LabelSelector(tuple(found))


def selects(given: Json | None, obj: Json) -> bool:
    """Whether a selector of a manifest matches an object's labels."""
    return matches(selector_from(given), labels_of(obj))


def labels_of(obj: Json) -> Mapping[str, str]:
    labels: Any = dig(obj, "metadata", "labels")
    return labels or {}


def parse_selector(text: str) -> LabelSelector:
    """Parse `app=web,tier in (a, b),!old` as kubectl does; a ValueError names the wrong part."""
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", text)]
    return LabelSelector(tuple(_requirement(part) for part in parts if part))


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        values = tuple(value.strip() for value in found["values"].split(","))
        return Requirement(found["key"], "In" if found["op"] == "in" else "NotIn", values)
    if found := _EQUAL.fullmatch(part):
        operator = "NotIn" if found["op"] == "!=" else "In"
        return Requirement(found["key"], operator, (found["value"],))
    if found := _EXISTS.fullmatch(part):
        return Requirement(found["key"], "DoesNotExist" if found["not"] else "Exists")
    raise ValueError(f"{part!r} is no selector; write for example app=web or tier in (a,b)")
