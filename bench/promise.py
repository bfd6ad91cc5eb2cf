"""How well a learnt size keeps its promise, beside fixed, shared and scheduled sizes.

Base stock on arrivals of a trace (CSV `second,pods`, plain or gzip): a pod hits if a slot is held
when it comes, a slot comes back one lead time after it was taken, idle is the mean number of held
slots unused. The first half is for learning, the second is judged; `from nothing` is judged on all
of it. `oracle static` is the smallest fixed size that keeps the promise on what is judged, `less`
how much less idle than with it, `equal` than with the fixed size of equally many hits. Percent and
hindsight know what is judged, too; the hourly quantile knows the first half. Without files, three
traces are made up: a rhythm of the day, a peak in each hour, and bursts out of silence.

    python -m bench.promise [FILE…] [--lead 30,90,180] [--ratio 0.99] [--neighbours]
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from math import pi, sin
from pathlib import Path
from typing import Any

from headroom.core.promise.learning import Learner
from headroom.core.promise.settings import DEFAULTS, Settings
from headroom.core.promise.stock import Stock
from headroom.core.sizing.fitting import fit
from headroom.core.sizing.policies import ByHour, Fixed, Policy, Promised, Share, needs_of
from headroom.core.sizing.replaying import Outcome, replay

HOUR, DAY = 3600, 86400
RUNS_FOR_S = 600.0  # for a share of what runs: traces do not say how long
DAYS_MADE = 6
MOST_SLOTS = 4096

Arrivals = list[tuple[float, int]]


@dataclass
class Trace:
    """Arrivals by second, and what fixed sizes came to on parts of them."""

    name: str
    arrivals: Arrivals
    frontier: dict[tuple[float, float, int], Outcome] = field(default_factory=dict)

    @property
    def end(self) -> float:
        return self.arrivals[-1][0] + 1

    def part(self, begin: float, end: float) -> Arrivals:
        return self.arrivals[
            bisect_left(self.arrivals, (begin, 0)) : bisect_left(self.arrivals, (end, 0))
        ]

    def fixed(self, slots: int, lead: float, begin: float) -> Outcome:
        key = (lead, begin, slots)
        if key not in self.frontier:
            self.frontier[key] = judged(self, Fixed(slots), lead, begin)
        return self.frontier[key]

    def enough(self, ratio: float, lead: float, begin: float) -> int:
        """The smallest fixed size with so many hits."""
        low, high = 0, 1
        while high < MOST_SLOTS and self.fixed(high, lead, begin).ratio < ratio:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.fixed(middle, lead, begin).ratio >= ratio:
                high = middle
            else:
                low = middle
        return high

    def idle_at(self, ratio: float, lead: float, begin: float) -> float:
        """The idle of a fixed size with so many hits, between two sizes in proportion."""
        high = self.enough(ratio, lead, begin)
        above, below = self.fixed(high, lead, begin), self.fixed(high - 1, lead, begin)
        step = above.ratio - below.ratio
        part = (ratio - below.ratio) / step if step > 0 else 1.0
        return below.idle + min(max(part, 0.0), 1.0) * (above.idle - below.idle)


@dataclass
class Hindsight:
    """The smallest size for each hour, known beforehand."""

    slots: dict[int, int]
    lead: float
    every: float | None = 60.0

    def came(self, now: float, pods: int, misses: int) -> None:
        """Nothing is learnt."""

    def size(self, now: float) -> int:
        hours = (int(now // HOUR), int((now + self.lead) // HOUR))
        return max(self.slots.get(hour, 0) for hour in hours)


def judged(trace: Trace, policy: Policy, lead: float, begin: float) -> Outcome:
    """Let a policy learn until `begin`, and judge it from there on."""
    playing = replay(policy, lead, 0.0)
    if begin:
        playing.play(trace.part(0, begin), 0.0, begin)
    return playing.play(trace.part(begin, trace.end), begin, trace.end)


def ours(ratio: float, lead: float, settings: Settings = DEFAULTS) -> Promised:
    return Promised(Stock(Learner(ratio, settings)), lead)


def by_hindsight(trace: Trace, ratio: float, lead: float) -> Hindsight:
    tables: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    recent: list[tuple[float, int]] = []
    outstanding = first = 0
    for now, pods in trace.arrivals:
        recent.append((now, pods))
        while recent[first][0] <= now - lead:
            outstanding -= recent[first][1]
            first += 1
        table = tables[int(now // HOUR)]
        table[outstanding + 1] += 1
        table[outstanding + pods + 1] -= 1
        outstanding += pods
    slots = {hour: needs_of(table).enough(ratio) for hour, table in tables.items()}
    return Hindsight(slots, lead)


def rows(trace: Trace, lead: float, ratio: float) -> Iterator[tuple[str, Outcome, float]]:
    """Each way to choose a size, what it came to, and from when on it is judged."""
    half = trace.end // 2
    before, after = fit(trace.part(0, half), lead, RUNS_FOR_S), trace.part(half, trace.end)
    yield "oracle static", trace.fixed(trace.enough(ratio, lead, half), lead, half), half
    percent = fit(after, lead, RUNS_FOR_S).percent(ratio)
    yield "percent of usage", judged(trace, Share(percent, RUNS_FOR_S), lead, half), half
    hourly = ByHour(before.by_hour(ratio), lead)
    yield "hourly quantile", judged(trace, hourly, lead, half), half
    yield "ours", judged(trace, ours(ratio, lead), lead, half), half
    yield "hindsight per hour", judged(trace, by_hindsight(trace, ratio, lead), lead, half), half
    yield "ours, from nothing", judged(trace, ours(ratio, lead), lead, 0.0), 0.0


def line(trace: Trace, row: tuple[str, Outcome, float], lead: float, ratio: float) -> str:
    name, outcome, begin = row
    oracle = trace.fixed(trace.enough(ratio, lead, begin), lead, begin)
    equal = trace.idle_at(outcome.ratio, lead, begin)
    less = 1 - outcome.idle / oracle.idle if oracle.idle else 0.0
    ahead = 1 - outcome.idle / equal if equal else 0.0
    return (
        f"{trace.name:24.24} {lead:4.0f} {name:34} {100 * outcome.ratio:7.2f} {outcome.idle:8.1f} "
        f"{100 * less:5.0f} {100 * ahead:6.0f} {100 * outcome.worst_day():7.2f}"
    )


def neighbours() -> Iterator[tuple[str, Settings]]:
    """Half and double of each setting."""
    for each in fields(Settings):
        usual = getattr(DEFAULTS, each.name)
        for word, times in (("half", 0.5), ("double", 2.0)):
            changed = (
                tuple(times * part for part in usual) if isinstance(usual, tuple) else times * usual
            )
            yield f"{word} {each.name}", _with(each.name, changed)


def _with(name: str, value: Any) -> Settings:
    return replace(DEFAULTS, **{name: value})


def made_up() -> Iterator[Trace]:
    """Traces of a few days, the same each time."""
    chance = random.Random(17)
    kinds: dict[str, Callable[[float], float]] = {
        "a rhythm of the day": lambda now: 0.05 * (1 - sin(2 * pi * now / DAY)) + 0.002,
        "a peak in each hour": lambda now: 0.5 if now % HOUR < 120 else 0.01,
    }
    for name, rate in kinds.items():
        came = ((float(now), 1) for now in range(DAYS_MADE * DAY) if chance.random() < rate(now))
        yield Trace(name, list(came))
    moments = sorted(chance.randrange(DAYS_MADE * DAY) for _ in range(40 * DAYS_MADE))
    yield Trace("bursts out of silence", [(float(at), chance.randint(1, 20)) for at in moments])


def read(path: Path) -> Trace:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="ascii") as lines:
        next(lines)
        parts = (each.split(",") for each in lines)
        return Trace(path.name.partition(".")[0], [(float(at), int(pods)) for at, pods in parts])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.promise")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--lead", default="30,90,180")
    parser.add_argument("--ratio", type=float, default=0.99)
    parser.add_argument("--neighbours", action="store_true")
    asked = parser.parse_args(arguments)
    traces = [read(path) for path in asked.files] or list(made_up())
    sys.stdout.write(
        f"{'trace':24} {'lead':>4} {'size':34} {'hits %':>7} {'idle':>8} {'less%':>5} "
        f"{'equal%':>6} {'worst d':>7}\n"
    )
    for trace in traces:
        for lead in map(float, asked.lead.split(",")):
            found: Iterator[tuple[str, Outcome, float]] = rows(trace, lead, asked.ratio)
            if asked.neighbours:
                found = (
                    (name, judged(trace, ours(asked.ratio, lead, settings), lead, 0.0), 0.0)
                    for name, settings in (("as it is", DEFAULTS), *neighbours())
                )
            for row in found:
                sys.stdout.write(line(trace, row, lead, asked.ratio) + "\n")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
