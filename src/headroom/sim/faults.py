"""Injected faults of requests to the API server: for the next writes, or decided for each write.

A fault is one of a few answers of a real network or server. It also says whether the write took
effect before the answer was lost, because the operator must handle both cases.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum

from headroom.wire.writes import Write


class Fault(Enum):
    """What happens to a write instead of a normal answer."""

    CONFLICT = "refused with 409"
    BUSY = "refused with 429"
    BROKEN = "refused with 500"
    LOST = "never arrived; the caller times out"
    UNANSWERED = "took effect, but the answer was lost"


class Faults:
    """Faults for the next writes; `decide`, if set, is called for every write first."""

    def __init__(self) -> None:
        self.decide: Callable[[Write], Fault | None] | None = None
        self._next: deque[Fault] = deque()

    def fail_next(self, fault: Fault) -> None:
        """Let the next write fail in this way, after those that are to fail already."""
        self._next.append(fault)

    def draw(self, write: Write) -> Fault | None:
        """The fault of this write, if any."""
        if self.decide is not None:
            fault = self.decide(write)
            if fault is not None:
                return fault
        return self._next.popleft() if self._next else None
