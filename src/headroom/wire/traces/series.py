"""A whole trace in little memory: how many pods in each second, and what they were like.

Sixteen bytes a second in which somebody came. Shapes (class, cpu, memory) are counted; past a
number of different ones, the rest is counted as one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from headroom.wire.traces.parser import Arrival

MOST_SHAPES = 1000


@dataclass(slots=True)
class Series:
    """Arrivals by the second, in order; `seconds` never repeats."""

    source: str
    seconds: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] = field(default_factory=lambda: array("q"))
    shapes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    zone: str = ""
    running: float = 0.0  # pod seconds, of those that say how long they run
    lasting: int = 0  # pods that say how long they run

    @property
    def pods(self) -> int:
        return sum(self.counts)

    @property
    def span(self) -> float:
        return self.seconds[-1] - self.seconds[0] if self.seconds else 0.0

    def add(self, arrival: Arrival) -> None:
        """Count one line; the times of lines never fall."""
        if arrival.pods == 0:
            return
        if self.seconds and self.seconds[-1] == arrival.second:
            self.counts[-1] += arrival.pods
        else:
            self.seconds.append(arrival.second)
            self.counts.append(arrival.pods)
        shape = (arrival.kind, arrival.cpu, arrival.memory)
        known = shape in self.shapes or len(self.shapes) < MOST_SHAPES
        self.shapes[shape if known else ("", "", "")] += arrival.pods
        self.zone = self.zone or arrival.zone
        if arrival.duration is not None:
            self.running += arrival.duration * arrival.pods
            self.lasting += arrival.pods


def series_of(arrivals: Iterable[Arrival], source: str) -> Series:
    """Count a whole trace."""
    found = Series(source)
    for arrival in arrivals:
        found.add(arrival)
    return found
