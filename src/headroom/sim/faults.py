"""Trouble on the way to the API server, to order: for the next writes, or decided write by write.

Kept small: a fault is one of a few answers that a real network and a real server give. Whether the
write took effect before the answer was lost is part of the fault, because that is what hurts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum

from headroom.wire.writes import Write


class Fault(Enum):
    """What happens to a write instead of an ordinary answer."""

    CONFLICT = "refused with 409"
    BUSY = "refused with 429"
    BROKEN = "refused with 500"
    LOST = "never arrived; the caller times out"
    UNANSWERED = "took effect, but the answer was lost"


class Faults:
    """Faults to come; `decide`, when set, is asked about every write first."""

    def __init__(self) -> None:
        self.decide: Callable[[Write], Fault | None] | None = None
        self._next: deque[Fault] = deque()

    def fail_next(self, fault: Fault, times: int = 1) -> None:
        """Let the next writes fail like this."""
        self._next.extend([fault] * times)

    def draw(self, write: Write) -> Fault | None:
        """Say what goes wrong with this write, if anything."""
        if self.decide is not None:
            fault = self.decide(write)
            if fault is not None:
                return fault
        return self._next.popleft() if self._next else None
