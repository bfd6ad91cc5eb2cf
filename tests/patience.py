"""How long a test waits for a real cluster, and what it raises when that was not long enough.

A wait that runs out says that a machine was slow or that something never happens; it cannot say
which. `make test` therefore runs a test that ended with `TookTooLong` a second time, and prints
that it did. Nothing else is run again: a claim that was seen to be false stays false.
"""

from __future__ import annotations

import time

LEAST_S = 120.0  # Long enough for a machine that is five times slower than usual.


class TookTooLong(AssertionError):
    """A wait ran out, or something took more time than the same thing did a moment ago."""


def deadline_after(seconds: float) -> float:
    """When to give up something that takes so many seconds at most on a calm machine."""
    return time.monotonic() + max(seconds, LEAST_S)


def keep_waiting(deadline: float, what: str) -> None:
    """Raise if the deadline has passed."""
    if time.monotonic() > deadline:
        raise TookTooLong(f"waited too long: {what}")
