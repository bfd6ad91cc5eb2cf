"""The syntax of cron expressions, start times and time zones, as patterns for an API server.

Everything that korder accepts is a cron expression here, and also names of days and months, steps
on ranges, and lists of both. A pattern cannot check whether an expression ever fires, or whether a
time zone exists.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from headroom.wire.times import parse_time

_MONTHS = "JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
_DAYS = "SUN|MON|TUE|WED|THU|FRI|SAT"
_NAMES = "yearly|annually|monthly|weekly|daily|midnight|hourly"


def _field(value: str, beyond: str = "") -> str:
    """A list of values, ranges and stars, each with or without a step."""
    step = "(/[1-9][0-9]*)?"
    item = rf"(([*]|({value})(-({value}))?){step}{beyond})"
    return rf"{item}(,{item})*"


_FIELDS = (
    _field("[0-5]?[0-9]"),
    _field("[01]?[0-9]|2[0-3]"),
    _field("0?[1-9]|[12][0-9]|3[01]", "|[?]|L|LW"),
    _field(f"0?[1-9]|1[0-2]|(?i:{_MONTHS})"),
    _field(f"[0-7]|(?i:{_DAYS})", r"|[?]|[0-7](#[1-5]|L)"),
)
CRON = f"^$|^@(?i:{_NAMES})$|^ *{' +'.join(_FIELDS)} *$"
_DAY, _HOUR = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}"
START = f"^$|^{_DAY}T{_HOUR}:[0-9]{{2}}([.][0-9]+)?(Z|[+-]{_HOUR})?$"
ZONE = "^[A-Za-z0-9_+/-]*$"

_OFFSET = ("Z", "z")


def parse_start(text: str, zone: str) -> datetime:
    """Parse a start time with its own offset or in the zone; a ValueError says what is wrong."""
    if text.endswith(_OFFSET) or "+" in text or text.count("-") > 2:
        return parse_time(text)
    return parse_time(f"{text}Z").replace(tzinfo=parse_zone(zone)).astimezone(UTC)


def parse_zone(name: str) -> ZoneInfo:
    """Find a time zone; ValueError for an unknown one. An empty name is UTC."""
    # This is the local zone of the machine, which differs between machines.
    if name != "localtime":
        try:
            return ZoneInfo(name or "UTC")
        # A folder of the database, or a path outside of it, raises OSError or ValueError.
        except (KeyError, OSError, ValueError):
            pass
    raise ValueError(f"{name!r} is not a time zone; write for example UTC or Europe/Zurich")
