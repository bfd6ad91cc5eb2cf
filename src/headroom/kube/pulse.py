"""Whether a watch is alive: when it last did anything, and when the server last proved it to be.

A server sends a bookmark at least once a minute, and a watch that is silent for longer is opened
anew, so a living one is heard from about every minute. One that has not even tried for minutes is
stuck. `cluster` asks; health probes and the claim indexes depend on the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Pulse:
    """One watch's signs of life, by a clock that never jumps."""

    clock: Callable[[], float]
    tried_at: float = 0.0
    heard_at: float = 0.0

    def __post_init__(self) -> None:
        self.tried_at = self.heard_at = self.clock()

    def tried(self) -> None:
        """It does something, be it in vain."""
        self.tried_at = self.clock()

    def heard(self) -> None:
        """The server spoke, and what it said was taken in."""
        self.tried_at = self.heard_at = self.clock()

    @property
    def silent_for(self) -> float:
        return self.clock() - self.heard_at

    @property
    def stuck_for(self) -> float:
        return self.clock() - self.tried_at
