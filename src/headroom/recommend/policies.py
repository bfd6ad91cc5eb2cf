"""Policies for a size: fixed, a share of the running pods, by the hour of the day, or by a promise.

Each policy receives the arrivals, and returns a size every `every` seconds. It knows nothing about
future arrivals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol

from headroom.core.promise.settings import STEP
from headroom.core.promise.stock import NO_BOUNDS, Stock, StockBounds

HOUR, DAY = 3600.0, 86400.0
MINUTE = 60.0


class SizingPolicy(Protocol):
    """Something that chooses sizes; `every` None: the first one stays."""

    every: float | None

    def came(self, now: float, pods: int, misses: int) -> None:
        """So many pods came, and so many of them found no slot."""

    def size(self, now: float) -> int:
        """How many slots there should be from now on."""


@dataclass(slots=True)
class FixedSizing:
    """Always the same number."""

    slots: int
    every: float | None = None

    def came(self, now: float, pods: int, misses: int) -> None:
        """Nothing is learnt."""

    def size(self, now: float) -> int:
        return self.slots


@dataclass(slots=True)
class ShareSizing:
    """A percentage of the pods that run; each runs for `duration` seconds."""

    percent: float
    duration: float
    every: float | None = MINUTE
    running: int = 0
    ends: deque[tuple[float, int]] = field(default_factory=deque)

    def came(self, now: float, pods: int, misses: int) -> None:
        self.running += pods
        self.ends.append((now + self.duration, pods))

    def size(self, now: float) -> int:
        while self.ends and self.ends[0][0] <= now:
            self.running -= self.ends.popleft()[1]
        return ceil(self.percent * self.running / 100.0 - 1e-9)


@dataclass(slots=True)
class ByHour:
    """A number for each hour of the day; an hour's slots are ordered a lead time before it."""

    slots: Sequence[int]
    lead: float
    every: float | None = MINUTE

    def came(self, now: float, pods: int, misses: int) -> None:
        """Nothing is learnt."""

    def size(self, now: float) -> int:
        return max(self._at(now), self._at(now + self.lead))

    def _at(self, moment: float) -> int:
        return self.slots[int(moment % DAY // HOUR)]


@dataclass(slots=True)
class Promised:
    """The size that the operator would choose for a promise, with what it has learnt so far."""

    stock: Stock
    lead: float
    bounds: StockBounds = NO_BOUNDS
    every: float | None = STEP

    def came(self, now: float, pods: int, misses: int) -> None:
        self.stock.observe(now, float(pods), float(misses), self.lead)

    def size(self, now: float) -> int:
        self.stock.observe(now, 0.0, 0.0, self.lead)
        return self.stock.size(now, self.lead, self.bounds).slots


@dataclass(frozen=True, slots=True)
class Needs:
    """How many pods needed a size of at least so much: ascending sizes, and pods up to each."""

    sizes: tuple[int, ...]
    pods: tuple[int, ...]

    def enough(self, ratio: float) -> int:
        """The smallest size that sufficed for such a part of the pods."""
        if not self.sizes:
            return 0
        wanted = ceil(ratio * self.pods[-1] - 1e-9)
        return self.sizes[min(bisect_right(self.pods, wanted - 1), len(self.sizes) - 1)]


def needs_of(changes: Mapping[int, int]) -> Needs:
    """From differences (`+1` at the first size, `-1` after the last) to pods for each size."""
    sizes: list[int] = []
    pods: list[int] = []
    height = total = 0
    ordered = sorted(changes)
    for index, size in enumerate(ordered):
        height += changes[size]
        if index + 1 == len(ordered) or not height:
            continue
        for each in range(size, ordered[index + 1]):
            total += height
            sizes.append(each)
            pods.append(total)
    return Needs(tuple(sizes), tuple(pods))
