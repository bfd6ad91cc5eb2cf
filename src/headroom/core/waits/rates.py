"""A limited rate: so many at once, then one in so much time."""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core.fast_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, then one in so much time; at `used_until` all of them are available again.

    This one time is the whole state: the span from now to it is what was used in advance.
    """

    at_once: int
    every: timedelta
    used_until: datetime | None = None

    def next(self, now: datetime) -> datetime:
        """When the next one is allowed: now, or later."""
        if self.used_until is None:
            return now
        return max(now, self.used_until - (self.at_once - 1) * self.every)

    def taken(self, now: datetime) -> Rate:
        """The same after one more."""
        return replace(self, used_until=max(now, self.used_until or now) + self.every)

    def idle(self, now: datetime) -> bool:
        """Whether it is in the same state as an unused one."""
        return self.used_until is None or self.used_until <= now
