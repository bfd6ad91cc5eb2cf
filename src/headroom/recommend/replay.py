"""Replay past arrivals against a policy: which pods found a slot, and which slots were unused.

Only arrivals after `judged` count; the policy learns from those before.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headroom.recommend.base_stock import BaseStock
from headroom.recommend.policies import DAY, HOUR, SizingPolicy

SILENCE = 600.0
"""A pod that comes after so long a time without any other comes out of silence."""
DAY_HOURS = int(DAY // HOUR)
FEW = 100  # pods in a day of which a part says little


@dataclass(slots=True)
class Outcome:
    """What a policy came to; `sizes` has the second and the size of each change."""

    begin: float
    end: float
    pods: int = 0
    hits: int = 0
    from_silence: int = 0  # misses
    held_time: float = 0.0
    size_time: float = 0.0
    most: int = 0
    sizes: tuple[array[float], array[int]] = field(default_factory=lambda: (array("d"), array("q")))
    hours: dict[int, list[int]] = field(default_factory=dict)  # hour → pods, hits

    @property
    def seconds(self) -> float:
        return max(self.end - self.begin, 1e-9)

    @property
    def ratio(self) -> float:
        """The part of the pods that found a slot; all of none."""
        return self.hits / self.pods if self.pods else 1.0

    @property
    def misses(self) -> int:
        return self.pods - self.hits

    @property
    def idle(self) -> float:
        """How many slots stood unused, on average."""
        return self.held_time / self.seconds

    @property
    def slots(self) -> float:
        """The size, on average."""
        return self.size_time / self.seconds

    def worst_day(self) -> float:
        """The lowest part of pods that found a slot within any 24 hours.

        Days with few pods say little and are passed over, unless there are no others.
        """
        if not self.hours:
            return 1.0
        first, last = min(self.hours), max(self.hours)
        found = [self._day(hour) for hour in range(first, max(first, last - DAY_HOURS + 1) + 1)]
        whole = [day for day in found if day[0] >= FEW] or [day for day in found if day[0]]
        return min(hits / pods for pods, hits in whole)

    def _day(self, first: int) -> tuple[int, int]:
        days = [self.hours.get(hour, (0, 0)) for hour in range(first, first + DAY_HOURS)]
        return sum(day[0] for day in days), sum(day[1] for day in days)

    def count(self, now: float, pods: int, hits: int, silent: bool) -> None:
        """Note that pods came."""
        self.pods += pods
        self.hits += hits
        if silent:
            self.from_silence += pods - hits
        hour = self.hours.setdefault(int(now // HOUR), [0, 0])
        hour[0] += pods
        hour[1] += hits


@dataclass(slots=True)
class Replay:
    """One policy against one past; it can be gone on with, so that training is done once."""

    policy: SizingPolicy
    shelf: BaseStock
    decided: float  # the next moment at which the policy is asked
    size: int = 0
    changed: float = 0.0
    last: float = float("-inf")

    def play(self, arrivals: Iterable[tuple[float, int]], begin: float, end: float) -> Outcome:
        """Play what came from `begin` until `end`."""
        outcome = Outcome(begin, end)
        held = self._held(begin)
        self.changed = begin
        self._note(outcome, begin)
        shelf, policy = self.shelf, self.policy
        for now, pods in arrivals:
            if self.decided <= now:
                self._decide(now, outcome)
            shelf.advance(now)
            hits = shelf.take(pods)
            policy.came(now, pods, pods - hits)
            outcome.count(now, pods, hits, now - self.last > SILENCE)
            self.last = now
        self._decide(end, outcome)
        outcome.held_time = self._held(end) - held
        outcome.size_time += self.size * (end - self.changed)
        return outcome

    def _held(self, now: float) -> float:
        self.shelf.advance(max(now, self.shelf.at))
        return self.shelf.held_time

    def _decide(self, until: float, outcome: Outcome) -> None:
        """Ask the policy at every moment that is due."""
        every = self.policy.every
        while self.decided <= until:
            now = self.decided
            size = self.policy.size(now)
            if size != self.size:
                self.shelf.advance(max(now, self.shelf.at))
                self.shelf.resize(size)
                outcome.size_time += self.size * max(0.0, now - self.changed)
                self.size, self.changed = size, max(now, self.changed)
                self._note(outcome, now)
            self.decided = float("inf") if every is None else now + every

    def _note(self, outcome: Outcome, now: float) -> None:
        outcome.most = max(outcome.most, self.size)
        outcome.sizes[0].append(now)
        outcome.sizes[1].append(self.size)


def replay(policy: SizingPolicy, lead: float, begin: float) -> Replay:
    """Begin: the first size stands at once."""
    first = policy.size(begin)
    shelf = BaseStock(lead, held=first, at=begin)
    every = float("inf") if policy.every is None else begin + policy.every
    return Replay(policy, shelf, every, first, begin)


def between(
    seconds: Sequence[float], counts: Sequence[int], begin: int, end: int
) -> Iterable[tuple[float, int]]:
    """Arrivals of a part of a trace, by their indexes."""
    return zip(seconds[begin:end], counts[begin:end], strict=True)
