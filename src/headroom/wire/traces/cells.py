"""The cells of a trace as values; ValueError says what is wrong with one, and what to write."""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from headroom.core.quantity import parse_quantity, shown
from headroom.wire.durations import parse_duration
from headroom.wire.times import parse_time

MOST_PODS = 1_000_000  # in one line
CLOCK = 1e9  # Seconds beyond this count from 1970; before, from the start of the trace.
MILLISECONDS = 1e11
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_UTC = ("Z", "z", "+00:00", "-00:00")
_LONGEST_NAME = 63
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class Moment(NamedTuple):
    """A time: seconds, and the zone that it was written in (empty: as a number)."""

    second: float
    zone: str = ""


def moment_from(text: str) -> Moment:
    """Read seconds, or an RFC 3339 time with its offset."""
    if text.isascii() and text.isdigit() and len(text) <= 10:
        return Moment(float(text))
    if _NUMBER.fullmatch(text):
        return Moment(_seconds(text))
    if len(text) >= 19 and text[4:5] == "-" and not _has_offset(text):
        raise ValueError(f"{shown(text)} has no time zone; write it as in 2027-01-04T08:00:00Z")
    try:
        at = parse_time(text)
    except ValueError:
        words = "write seconds such as 90, or a time such as 2027-01-04T08:00:00Z"
        raise ValueError(f"{shown(text)} is not a time; {words}") from None
    zone = "Z" if text.endswith(_UTC) else text[-6:]
    return Moment(at.timestamp(), zone)


def _seconds(text: str) -> float:
    second = float(text)
    if not isfinite(second) or second < 0:
        raise ValueError(f"{shown(text)} is before the start; count seconds from 0")
    if second >= MILLISECONDS:
        raise ValueError(f"{shown(text)} looks like milliseconds; divide by 1000")
    return second


def _has_offset(text: str) -> bool:
    return text.endswith(("Z", "z")) or text[-6:-5] in ("+", "-")


def pods_from(text: str) -> int:
    """Read how many pods came."""
    if text.isascii() and text.isdigit() and len(text) <= 9:
        count = int(text)
    elif _NUMBER.fullmatch(text):
        number = float(text)
        if not isfinite(number) or number != int(number) or number < 0:
            raise ValueError(f"{shown(text)} is not a number of pods; write an integer from 0")
        count = int(number)
    else:
        raise ValueError(f"{shown(text)} is not a number of pods; write an integer such as 3")
    if count > MOST_PODS:
        words = f"more than {MOST_PODS} pods in one line; is it in other units?"
        raise ValueError(f"{shown(text)}: {words}")
    return count


def class_from(text: str) -> str:
    """Read the name of a class of pods; it becomes part of labels and of workloads' names."""
    if len(text) > _LONGEST_NAME or _NAME.fullmatch(text) is None:
        words = "write letters, digits, - _ and . (at most 63, a letter or digit at both ends)"
        raise ValueError(f"{shown(text)} is not a class; {words}")
    return text


def quantity_from(text: str) -> str:
    """Read an amount of a resource; it is kept as it is written."""
    if parse_quantity(text).unscaled < 0:
        raise ValueError(f"{shown(text)} is negative")
    return text


def duration_from(text: str) -> float:
    """Read how long a pod runs: seconds, or a duration such as 1h30m."""
    seconds = float(text) if _NUMBER.fullmatch(text) else parse_duration(text).total_seconds()
    if not isfinite(seconds) or seconds < 0:
        raise ValueError(f"{shown(text)} is not a running time; write for example 90s")
    return seconds
