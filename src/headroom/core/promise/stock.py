"""The size that a promise needs now: what was learnt, what is known to come, and the bounds.

Growth counts at once. A size is given back only when nothing called for it during one lead time and
one step (or `release_after`, where that is longer): it was called for the pods of just that time,
and within it the slots could not be bought back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from headroom.core.promise.estimator import Learner, wanted
from headroom.core.promise.settings import STEP

LEARNT, KNOWN, FLOOR, LEAST, MOST, STARTING = (
    "Learnt",
    "KnownDemand",
    "Schedule",
    "Min",
    "Max",
    "Starting",
)
_WORDS = {
    KNOWN: "pods that workloads want and do not have yet",
    FLOOR: "an open window of spec.schedule",
    LEAST: "spec.size.adaptive.min",
    STARTING: "nothing came yet; one slot, to measure the lead time",
}
MOST_SLOTS = 100_000  # of any Headroom; what is beyond is no number to count with
MOST_CALLS = 256  # sizes that are waited with before they are given back
_FIRST_SLOTS = 1  # before anything came: one, so that the lead time is measured


Trail = deque[tuple[float, int]]
"""Falling sizes, each with the time when it was last called for."""


@dataclass(frozen=True, slots=True)
class StockBounds:
    """What bounds the learnt size; `known` are pods that will come for certain.

    `floor` is what an open window of the schedule asks for. `release_after` is in seconds.
    """

    least: int = 0
    most: int | None = None
    known: int = 0
    floor: int = 0
    release_after: float = 0.0


NO_BOUNDS = StockBounds()


@dataclass(frozen=True, slots=True)
class SizedStock:
    """How many slots, and which term decided.

    `asked` is how many there would be without an upper bound, `by` what called for them.
    `wants` is the learnt size of this moment, which may be smaller than one not given back yet.
    """

    slots: int
    term: str
    asked: int
    by: str
    wants: int


@dataclass(slots=True)
class Stock:
    """What was learnt of one demand, and which sizes were lately called for."""

    learner: Learner
    trail: Trail = field(default_factory=deque)

    def observe(self, now: float, arrivals: float, misses: float, lead: float) -> None:
        """So many pods came since the last call, and so many of them missed the promise."""
        self.learner.observe(now, arrivals, misses, max(lead, STEP))

    def size(self, now: float, lead: float, bounds: StockBounds = NO_BOUNDS) -> SizedStock:
        """How many slots should exist or be requested now; the size counts as called for."""
        sized, self.trail = self.sized(now, lead, bounds)
        return sized

    def sized(self, now: float, lead: float, bounds: StockBounds) -> tuple[SizedStock, Trail]:
        """The same, and the sizes that are called for then; this changes nothing."""
        lead = max(lead, STEP)
        wants = min(wanted(self.learner, now, lead), MOST_SLOTS)
        trail = called_for(self.trail, now, wants, max(lead + STEP, bounds.release_after))
        terms = (
            (trail[0][1], LEARNT),
            (min(bounds.known, MOST_SLOTS), KNOWN),
            (bounds.floor, FLOOR),
            (bounds.least, LEAST),
            (0 if self.learner.total else _FIRST_SLOTS, STARTING),
        )
        asked, term = max(terms, key=lambda each: each[0])
        if bounds.most is not None and asked > bounds.most:
            return SizedStock(bounds.most, MOST, asked, term, wants), trail
        return SizedStock(asked, term, asked, term, wants), trail

    def words(self, sized: SizedStock, lead: float) -> str:
        """Why a size is what it is."""
        told = self._words(sized, max(lead, STEP))
        if sized.term == MOST:
            return f"max allows {sized.slots} of {sized.asked} ({told})"
        return told

    def _words(self, sized: SizedStock, lead: float) -> str:
        if sized.by in _WORDS:
            return _WORDS[sized.by]
        past = self.learner.expected(self.learner.at, lead)
        told = (
            f"{past.mean:.1f} pods expected in a lead time of {lead:.0f} s, and "
            f"{self.learner.factor:.1f} times the spread of {past.spread:.1f}"
        )
        if sized.asked > sized.wants:
            told += f"; {sized.wants} would be enough now, the others are given back later"
        return told


def called_for(before: Trail, now: float, slots: int, keep: float) -> Trail:
    """A size is called for now; without those that were for long enough, `keep` seconds."""
    trail = deque((min(at, now), size) for at, size in before)  # A clock may have been set back.
    while trail and trail[-1][1] <= slots:
        trail.pop()
    trail.append((now, slots))
    while trail[0][0] <= now - keep:
        trail.popleft()
    return trail if len(trail) <= MOST_CALLS else _thinned(trail, 2.0 * keep / MOST_CALLS)


def _thinned(trail: Trail, apart: float) -> Trail:
    """Of sizes called for within so many seconds, keep the largest until the last one ends."""
    kept: dict[float, tuple[float, int]] = {}
    for at, size in trail:
        part = at // apart
        kept[part] = (at, kept[part][1] if part in kept else size)
    return deque(kept.values())


def stock(ratio: float) -> Stock:
    """An empty stock, for a promise to this part of the pods."""
    return Stock(Learner(ratio))
