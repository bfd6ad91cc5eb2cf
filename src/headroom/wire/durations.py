"""Go durations (`1h30m`, `300ms`, `0`), read and printed as Go's `time` package does.

Hold and scenario fields use this notation, because Kubernetes does. A timedelta counts in
microseconds, so anything finer is rounded down.
"""

from __future__ import annotations

import re
from datetime import timedelta

from headroom.core.quantity import shown

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, micro sign
    "μs": 1_000,  # U+03BC, Greek letter mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3600 * 1_000_000_000,
}
_PART = re.compile(
    r"([0-9]+)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)|\.([0-9]+)(ns|us|µs|μs|ms|s|m|h)"
)
_MOST = 2**63 - 1
_LONGEST = 200


def parse_duration(text: str) -> timedelta:
    """Read a Go duration; ValueError says what is wrong with it."""
    if len(text) > _LONGEST:
        raise ValueError(f"{shown(text)} is not a duration: it is too long")
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return timedelta()
    total, at = 0, 0
    while at < len(body):
        part = _PART.match(body, at)
        if part is None:
            break
        total += _nanoseconds(part)
        at = part.end()
    if at < len(body) or not body:
        raise ValueError(f"{text!r} is not a duration; write for example 90s, 1h30m or 0")
    if total > _MOST:
        raise ValueError(f"{text!r} is longer than 292 years, the most a duration can be")
    duration = timedelta(microseconds=total // 1_000)
    return -duration if text.startswith("-") else duration


def _nanoseconds(part: re.Match[str]) -> int:
    whole, fraction, unit, lone_fraction, lone_unit = part.groups()
    scale = _NANOSECONDS[unit or lone_unit]
    digits = fraction or lone_fraction or ""
    return int(whole or 0) * scale + (int(digits) * scale // 10 ** len(digits) if digits else 0)


def format_duration(duration: timedelta) -> str:
    """Print a duration as Go would: `1h30m0s`, `1.5s`, `250ms`, `0s`."""
    microseconds = duration // timedelta(microseconds=1)
    sign = "-" if microseconds < 0 else ""
    microseconds = abs(microseconds)
    if microseconds < 1_000:
        return f"{sign}{microseconds}µs" if microseconds else "0s"
    if microseconds < 1_000_000:
        return f"{sign}{_decimal(microseconds, 1_000)}ms"
    minutes, rest = divmod(microseconds, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, 1_000_000)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{rest:0{digits}d}".rstrip("0")
