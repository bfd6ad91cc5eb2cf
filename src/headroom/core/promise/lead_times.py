"""Measure the recent time from requesting a slot to holding it.

A pod that waited for room without a slot counts too: it waited for the same machines. The lead time
is the value that nine of ten did not exceed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

FIRST_LEAD = 60.0  # seconds, before anything was measured
MOST_KEPT = 40
LONGEST = 3600.0


@dataclass(slots=True)
class LeadTimes:
    """The last few, in seconds."""

    lately: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))

    def note(self, seconds: float) -> None:
        """Add a measured time."""
        self.lately.append(round(min(max(seconds, 0.0), LONGEST), 1))

    def lead(self) -> float:
        """The lead time for calculations."""
        if not self.lately:
            return FIRST_LEAD
        inorder = sorted(self.lately)
        return inorder[(len(inorder) * 9) // 10]
