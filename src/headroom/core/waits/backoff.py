"""Exponential backoff: the pause doubles with each earlier failure, up to a maximum.

Each user keeps its own two numbers, with the reason for them, and counts its own failures.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

_MOST_DOUBLINGS = 20  # Beyond that a number would only grow too large to be a pause.

Pause = TypeVar("Pause", float, timedelta)


def backoff(first: Pause, failures: int, longest: Pause) -> Pause:
    """How long to wait after one more failure; `failures` are those that went before it."""
    return min(first * (1 << min(failures, _MOST_DOUBLINGS)), longest)
