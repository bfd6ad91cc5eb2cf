"""Limit log lines: at intervals for each subject, and a maximum in total.

Code that logs lines about objects asks here first, so that neither one object nor thousands of them
can fill a log. Memory is limited too: the least recently used subject is dropped first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_SUBJECTS = 10_000


@dataclass(slots=True)
class Throttle:
    """`again` seconds between two lines of one subject; `most` lines in `window` seconds."""

    again: float = 600.0
    most: int = 30
    window: float = 60.0
    _last: dict[str, float] = field(default_factory=dict)
    _begun: float = float("-inf")
    _said: int = 0
    _dropped: int = 0

    def allows(self, subject: str, now: float) -> bool:
        """Whether a line about a subject may be written now (`now` in monotonic seconds)."""
        if now >= self._begun + self.window:
            self._begun, self._said = now, 0
        last = self._last.get(subject)
        if (last is not None and now < last + self.again) or self._said >= self.most:
            self._dropped += 1
            return False
        self._said += 1
        self._last.pop(subject, None)
        self._last[subject] = now
        while len(self._last) > MOST_SUBJECTS:
            del self._last[next(iter(self._last))]
        return True

    def take_dropped(self) -> int:
        """How many lines were dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped
