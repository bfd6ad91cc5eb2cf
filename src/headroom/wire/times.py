"""Times as Kubernetes writes them: RFC 3339 in UTC, whole seconds or microseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def format_time(at: datetime) -> str:
    """Print a metav1.Time, which has whole seconds; parts of a second are cut off."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


def format_micro_time(at: datetime) -> str:
    """Print a metav1.MicroTime."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time with its offset; ValueError says what is wrong with it."""
    problem = f"{text!r} is no time; write for example 2027-01-01T02:00:00Z"
    if _RFC3339.fullmatch(text) is None:
        raise ValueError(problem)
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(problem) from error
