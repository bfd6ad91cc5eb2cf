"""Times as Kubernetes writes them (RFC 3339 in UTC), and times that others wrote, kept in range."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from headroom.core.quantity import shown

_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


# Times that others write are kept within these, so that no sum of a time and a few durations (292
# years each, at most) leaves what a datetime can be.
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)


def bounded(at: datetime | None) -> datetime | None:
    """A time in UTC, or the nearest that can be counted with; None stays None."""
    return None if at is None else _bounded(at)


def bounded_sum(at: datetime | None) -> datetime | None:
    """The same of a sum that we wrote ourselves, which must read back equal; never added to."""
    return None if at is None else _bounded(at, _LAST)


def _bounded(at: datetime, latest: datetime = LATEST) -> datetime:
    try:
        there = at if at.tzinfo is UTC else at.astimezone(UTC)
    except OverflowError:
        return latest if at.year > EARLIEST.year else EARLIEST
    return min(max(there, EARLIEST), latest)


def format_time(at: datetime) -> str:
    """Print a metav1.Time, which has whole seconds; parts of a second are cut off."""
    there = at if at.tzinfo is UTC else at.astimezone(UTC)
    return f"{there.isoformat(timespec='seconds')[:19]}Z"


def format_micro_time(at: datetime) -> str:
    """Print a metav1.MicroTime."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time with its offset; ValueError says what is wrong with it."""
    problem = f"{shown(text)} is not a time; write for example 2027-01-01T02:00:00Z"
    if _RFC3339.fullmatch(text) is None:
        raise ValueError(problem)
    try:
        return _bounded(datetime.fromisoformat(text.upper()))
    except ValueError as error:
        raise ValueError(problem) from error
