"""The health of a watch: when it last did something, and when it last received something.

A server sends a bookmark at least once a minute, and a watch that is silent for longer is reopened,
so a healthy watch receives something about every minute. A watch that has not even retried for
minutes is stuck. `cluster` reads this; health probes and the claim indexes depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class WatchHealth:
    """The times of one watch, by a monotonic clock."""

    clock: Callable[[], float]
    tried_at: float = 0.0
    heard_at: float = 0.0

    def __post_init__(self) -> None:
        self.tried_at = self.heard_at = self.clock()

    def tried(self) -> None:
        """The watch does something, even if it fails."""
        self.tried_at = self.clock()

    def heard(self) -> None:
        """The server sent something, and it was processed."""
        self.tried_at = self.heard_at = self.clock()

    @property
    def silent_for(self) -> float:
        return self.clock() - self.heard_at

    @property
    def stuck_for(self) -> float:
        return self.clock() - self.tried_at
