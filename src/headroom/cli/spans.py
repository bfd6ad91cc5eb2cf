"""Format durations for people: `5h1m`, `1m30s`, `2d`."""

from __future__ import annotations

from datetime import datetime, timedelta

UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def length(span: timedelta) -> str:
    """A duration in its largest two units: 2d3h, 14h, 5m, 20s."""
    left = int(span.total_seconds())
    parts = []
    for unit, size in UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2]) or "0s"


def age(since: datetime | None, now: datetime) -> str:
    """How long ago something was; empty if unknown."""
    return length(max(now - since, timedelta())) if since is not None else ""


def remaining(end: datetime | None, now: datetime) -> str:
    """How much time remains."""
    if end is None:
        return "never"
    return "now" if end <= now else length(end - now)
