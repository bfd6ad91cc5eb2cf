"""Fit the parameters of simple policies to past arrivals, in one pass.

A pod needs as many slots as pods arrived in the lead time before it, itself included. A fixed size
that is enough for 99 % of them keeps a promise of 99 %. The same is done for each hour of the day,
and as a percentage of the pods that ran when the slots had to be ordered.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from headroom.recommend.policies import DAY, HOUR, Needs, needs_of

MOST_PERCENT = 1000.0
HOURS = 24
Arrival = tuple[float, int]


@dataclass(frozen=True, slots=True)
class Fit:
    """What the past says: needs in all and by the hour, and the percentages that pods needed."""

    needs: Needs
    hours: tuple[Needs, ...]
    percents: tuple[tuple[float, int], ...]
    seen: frozenset[int] = frozenset(range(HOURS))  # hours of the day that were looked at

    def fixed(self, ratio: float) -> int:
        return self.needs.enough(ratio)

    def by_hour(self, ratio: float) -> tuple[int, ...]:
        """A size for each hour of the day; hours in which nobody came have none.

        Of hours that were not looked at nothing is known: they have the size of all.
        """
        return tuple(
            needs.enough(ratio) if hour in self.seen else self.fixed(ratio)
            for hour, needs in enumerate(self.hours)
        )

    def percent(self, ratio: float) -> float:
        """The percentage that was enough, in whole numbers, as far as one can be."""
        total = sum(pods for _, pods in self.percents)
        wanted, seen, last = ceil(ratio * total), 0, 1.0
        for percent, pods in self.percents:
            seen += pods
            if percent <= MOST_PERCENT:
                last = percent
            if seen >= wanted:
                break
        return float(ceil(last))


def fit(arrivals: Iterable[Arrival], lead: float, duration: float) -> Fit:
    """Look at arrivals of the past once."""
    recent: deque[Arrival] = deque()
    ended: deque[Arrival] = deque()
    waiting: deque[Arrival] = deque()
    outstanding = running = 0
    changes: dict[int, int] = defaultdict(int)
    hourly: list[dict[int, int]] = [defaultdict(int) for _ in range(HOURS)]
    shares: dict[float, int] = defaultdict(int)
    begin: float | None = None
    now = 0.0
    for now, pods in arrivals:
        begin = now if begin is None else begin
        while recent and recent[0][0] <= now - lead:
            outstanding -= recent.popleft()[1]
        while waiting and waiting[0][0] <= now - lead:  # They ran when slots were ordered.
            running += waiting[0][1]
            ended.append(waiting.popleft())
        while ended and ended[0][0] <= now - lead - duration:
            running -= ended.popleft()[1]
        first, last = outstanding + 1, outstanding + pods
        for table in (changes, hourly[int(now % DAY // HOUR)]):
            table[first] += 1
            table[last + 1] -= 1
        if running:
            shares[round(100.0 * last / running, 1)] += pods
        outstanding = last
        recent.append((now, pods))
        waiting.append((now, pods))
    hours = tuple(needs_of(table) for table in hourly)
    seen = _hours(now if begin is None else begin, now)
    return Fit(needs_of(changes), hours, tuple(sorted(shares.items())), seen)


def _hours(begin: float, end: float) -> frozenset[int]:
    """The hours of the day between two moments."""
    first, last = int(begin // HOUR), int(end // HOUR)
    return frozenset(hour % HOURS for hour in range(first, min(last, first + HOURS) + 1))
