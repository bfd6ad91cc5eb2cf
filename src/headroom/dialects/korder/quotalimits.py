"""The numbers in a Quota: limits by name, the maximum duration of a ticket, the window multiplier.

Names are `orders`, `tickets`, `max-duration` and `reserved.` before any resource; amounts are
Kubernetes quantities, parsed exactly. A maximum duration is a number of seconds, as in korder's
code, or a Go duration, as in korder's documentation: `30m` is half an hour, not thirty thousandths.
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any

from headroom.core.amounts import Written, amount
from headroom.core.quantity import parse_quantity
from headroom.dialects.korder.rules import limits
from headroom.wire.durations import parse_duration
from headroom.wire.objects.findings import Fields, Findings
from headroom.wire.objects.reader import Reader

DEFAULT_LIMITS = limits.Ceiling(
    {
        limits.ORDERS: 100,
        limits.TICKETS: 1000,
        f"{limits.RESERVED}cpu": 1_000_000,
        f"{limits.RESERVED}memory": 2000 * 2**30,
    },
    timedelta(days=7),
)
NAMES = f"{limits.ORDERS}, {limits.TICKETS}, {limits.MAX_DURATION} and {limits.RESERVED}<resource>"
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_LONGEST = 9_223_372_036  # seconds; the largest Go duration

_read_limits = Reader(dict[str, Any])


def ceiling_of(given: Fields, field: str, odd: Findings) -> limits.Ceiling | None:
    """Parse limits; None without limits. An unknown name limits nothing, and is reported."""
    written, wrong = given.read(_read_limits, field), given.findings
    if not written:
        return None
    amounts: dict[str, int] = {}
    longest = None
    for name, value in written.items():
        at = f"{given.at(field)}[{name}]"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            wrong.add(at, "is not a quantity; write for example 500m, 2 or 1Gi")
        elif name == limits.MAX_DURATION:
            longest = wrong.parse(longest_of, str(value), at)
        elif not known_name(name):
            odd.add(at, "is not counted, so it limits nothing; known are " + NAMES)
        else:
            number = wrong.parse(partial(limit_of, name), str(value), at)
            if number is not None:
                amounts[name] = number
    return limits.Ceiling(amounts, longest)


def known_name(name: str) -> bool:
    """Whether a quota counts something under this name."""
    return name in (limits.ORDERS, limits.TICKETS, limits.MAX_DURATION) or (
        name.startswith(limits.RESERVED) and name != limits.RESERVED
    )


def limit_of(name: str, text: Written) -> int:
    """Parse the limit of one name; a ValueError says what is wrong with it."""
    return amount(limits.unit_of(name), str(text))


def longest_of(text: str) -> timedelta:
    """Parse a maximum duration: a Go duration, or a quantity of seconds; cut to whole seconds."""
    try:
        longest = parse_duration(text)
    except ValueError as error:
        longest = _seconds(text, error)
    if longest < timedelta():
        raise ValueError(f"{text} must not be negative")
    # The status has whole seconds, and must decode to the same value.
    return timedelta(seconds=longest // timedelta(seconds=1))


def multiplier_of(text: str) -> Fraction:
    """Parse a multiplier, a decimal number above zero."""
    if _NUMBER.fullmatch(text) is None or not (factor := Fraction(text)):
        raise ValueError(f"{text!r} is not a number above 0; the window never opens")
    return factor


def _seconds(text: str, error: ValueError) -> timedelta:
    try:
        seconds = parse_quantity(text).value()
    except ValueError:
        raise ValueError(f"{text!r} is neither a duration such as 24h nor seconds") from error
    return timedelta(seconds=max(-1, min(seconds, _LONGEST)))
