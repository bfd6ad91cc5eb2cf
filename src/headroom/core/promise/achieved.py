"""Count how many pods arrived and how many missed a promise in the last hour, day and week.

The spans are divided into 12, 24 and 7 parts, so that the stored data stays small. A part counts
until the whole span since its end is over.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HOUR, DAY, WEEK = "hour", "day", "week"
_PARTS = {HOUR: (300.0, 12), DAY: (3600.0, 24), WEEK: (86400.0, 7)}

Part = tuple[int, int, int]  # its number since the beginning of time, pods, misses


@dataclass(frozen=True, slots=True)
class MissedShare:
    """Pods that came in a span, and those of them that missed."""

    pods: int = 0
    misses: int = 0

    @property
    def ratio(self) -> float:
        """The part of the pods that did not miss; 1 without pods."""
        return 1.0 - self.misses / self.pods if self.pods else 1.0


@dataclass(slots=True)
class Achieved:
    """The parts of each span, the oldest first."""

    parts: dict[str, list[Part]] = field(default_factory=lambda: {span: [] for span in _PARTS})

    def count(self, now: float, pods: int, misses: int) -> None:
        """Count pods that arrived, and pods that missed."""
        for span, (width, most) in _PARTS.items():
            number, parts = int(now // width), self.parts[span]
            if parts and parts[-1][0] >= number:  # Also where a clock was set back.
                last, before, missed = parts[-1]
                parts[-1] = (last, before + pods, missed + misses)
            else:
                parts.append((number, pods, misses))
                del parts[: -most - 1]

    def share(self, span: str, now: float) -> MissedShare:
        """The pods and misses of a span that ends now."""
        width, most = _PARTS[span]
        first = int(now // width) - most
        kept = [part for part in self.parts[span] if part[0] > first]
        return MissedShare(sum(part[1] for part in kept), sum(part[2] for part in kept))
