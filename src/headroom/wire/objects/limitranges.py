"""Which LimitRange refuses a pod: the API server tells the bound, but not whose it is.

A LimitRange refuses in two ways. It says so ("maximum cpu usage per Container is …"), or it gives a
container a limit that nobody wrote, below what it asks for, and the pod is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

BOUNDS = (
    (re.compile(r"(maximum) (\S+) usage per (Container|Pod) is ([^\s,]+)"), ("max",)),
    (re.compile(r"(minimum) (\S+) usage per (Container|Pod) is ([^\s,]+)"), ("min",)),
    (
        re.compile(r"()(\S+) max limit to request ratio per (Container|Pod) is ([^\s,]+)"),
        ("maxLimitRequestRatio",),
    ),
    (re.compile(r"must be less than or equal to ()(\S+) limit()( of \S+)"), ("default", "max")),
)
LONGEST = 4000
"""Of a longer message the rest is not looked at."""


def is_about_limits(message: str) -> bool:
    """Whether a refusal may be a LimitRange's."""
    return any(pattern.search(message[:LONGEST]) for pattern, _ in BOUNDS)


def with_limit_range(message: str, namespace: str, ranges: Iterable[Mapping[str, Any]]) -> str:
    """A refusal, with the names of the LimitRanges that set the bounds it speaks of."""
    names = sorted({str(name) for each in ranges for name in _blamed(message, each)})
    if not names:
        return message
    kind = "LimitRange" if len(names) == 1 else "LimitRanges"
    return f"{message} ({kind} {', '.join(names)} of namespace {namespace})"


def _blamed(message: str, limit_range: Mapping[str, Any]) -> Iterator[str]:
    """The name of a LimitRange, if one of its bounds is in the message."""
    metadata, spec = limit_range.get("metadata"), limit_range.get("spec")
    items = spec.get("limits") if isinstance(spec, dict) else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(metadata, dict) and _sets(item, message):
            yield str(metadata.get("name", ""))


def _sets(item: Mapping[str, Any], message: str) -> bool:
    """Whether a bound that a message tells is that of this item."""
    for pattern, fields in BOUNDS:
        for _, resource, kind, told in pattern.findall(message[:LONGEST]):
            amount = told.removeprefix(" of ").rstrip(".,;)]")
            given = [item.get(field) for field in fields]
            amounts = [each.get(resource) for each in given if isinstance(each, dict)]
            if item.get("type") == (kind or "Container") and amount in map(str, amounts):
                return True
    return False
