"""Why an object gets no room: a quota of its dialect, or a limit of its namespace, leaves none."""

from __future__ import annotations

from typing import NamedTuple

QUOTA_EXCEEDED = "QuotaExceeded"
LIMIT_REACHED = "LimitReached"


class QuotaRefusal(NamedTuple):
    """The quota that has no room for an object, and why, in a sentence."""

    quota: str
    why: str
