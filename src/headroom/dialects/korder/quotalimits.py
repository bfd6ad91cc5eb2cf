"""The numbers in a Quota: its limits by name, how long a ticket may last, a window's multiplier.

Names are `orders`, `tickets`, `max-duration` and `reserved.` before any resource; amounts are
Kubernetes' quantities, read exactly. A longest duration is a number of seconds, as korder has it,
or a Go duration, as korder documents it: `30m` is half an hour and not thirty thousandths.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any

from msgspec import Raw

from headroom.core.amounts import Written, amount
from headroom.core.quantity import parse_quantity
from headroom.core.quotas.limits import MAX_DURATION, ORDERS, RESERVED, TICKETS, Ceiling, unit_of
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Findings
from headroom.wire.objects.reader import Reader

DEFAULT_LIMITS = Ceiling(
    {
        ORDERS: 100,
        TICKETS: 1000,
        f"{RESERVED}cpu": 1_000_000,
        f"{RESERVED}memory": 2000 * 2**30,
    },
    timedelta(days=7),
)
NAMES = f"{ORDERS}, {TICKETS}, {MAX_DURATION} and {RESERVED}<resource>"
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_LONGEST = 9_223_372_036  # seconds; the most that a duration of Go's can be

_read_limits = Reader(dict[str, Any])


def ceiling_of(raw: Raw, path: str, wrong: Findings, odd: Findings) -> Ceiling | None:
    """Read limits; None when there are none. An unknown name limits nothing, and is told."""
    written = wrong.read(_read_limits, raw, path)
    if not written:
        return None
    amounts: dict[str, int] = {}
    longest = None
    for name, value in written.items():
        at = f"{path}[{name}]"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            wrong.add(at, "is not a quantity; write for example 500m, 2 or 1Gi")
        elif name == MAX_DURATION:
            longest = wrong.parse(longest_of, str(value), at)
        elif not known_name(name):
            odd.add(at, "is not counted, so it limits nothing; known are " + NAMES)
        else:
            number = wrong.parse(partial(limit_of, name), str(value), at)
            if number is not None:
                amounts[name] = number
    return Ceiling(amounts, longest)


def known_name(name: str) -> bool:
    """Say whether a quota counts something under this name."""
    return name in (ORDERS, TICKETS, MAX_DURATION) or (
        name.startswith(RESERVED) and name != RESERVED
    )


def limit_of(name: str, text: Written) -> int:
    """Read the limit of one name; ValueError says what is wrong with it."""
    return amount(unit_of(name), str(text))


def longest_of(text: str) -> timedelta:
    """Read a longest duration: Go's notation, or a quantity of seconds; whole seconds count."""
    try:
        longest = parse_duration(text)
    except ValueError as error:
        longest = _seconds(text, error)
    if longest < timedelta():
        raise ValueError(f"{text} must not be negative")
    # The status tells whole seconds, and must read back equal.
    return timedelta(seconds=longest // timedelta(seconds=1))


def multiplier_of(text: str) -> Fraction:
    """Read a multiplier, a decimal number above zero."""
    if _NUMBER.fullmatch(text) is None or not (factor := Fraction(text)):
        raise ValueError(f"{text!r} is not a number above 0; the window never opens")
    return factor


def _seconds(text: str, error: ValueError) -> timedelta:
    try:
        seconds = parse_quantity(text).value()
    except ValueError:
        raise ValueError(f"{text!r} is neither a duration such as 24h nor seconds") from error
    return timedelta(seconds=max(-1, min(seconds, _LONGEST)))
