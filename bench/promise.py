"""How well a learnt size keeps its promise, compared with fixed, proportional and scheduled sizes.

The model is base stock on arrivals of a trace (CSV `second,pods`, plain or gzip): a pod hits if a
slot is held when it arrives, a slot comes back one lead time after it was taken, and idle is the
mean number of unused slots. The first half is for learning, the second is judged; `from nothing` is
judged on the whole trace. `oracle static` is the smallest fixed size that keeps the promise on the
judged part, `less` is the idle saved compared with it, `equal` compared with the fixed size with
equally many hits. Percent and hindsight know the judged part too; the hourly quantile knows the
first half. `mean and misses` is the simple rule that ours has to beat: the largest of two moving
averages and of the usual rate at this time of the day, plus a factor times its root; each miss
raises the factor, each pod lowers it.

Without files, the traces are synthetic: a daily pattern, a peak in each hour, pods all at once each
quarter of an hour, bursts of any length, and bursts after times without load. `--parts` judges each
of N parts except the first separately. `--neighbours` shows half and double of each setting, and
for each trace the result of the setting that is best on all others.

    python -m bench.promise [FILE…] [--lead 30,90,180] [--ratio 0.99] [--parts N] [--neighbours]
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import random
import sys
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import ceil, exp, log, pi, sin, sqrt
from pathlib import Path
from typing import Any

from bench import rows
from headroom.core.promise.estimator import Learner
from headroom.core.promise.settings import DEFAULTS, EstimatorSettings
from headroom.core.promise.stock import Stock
from headroom.recommend.policies import (
    ByHour,
    FixedSizing,
    Promised,
    ShareSizing,
    SizingPolicy,
    needs_of,
)
from headroom.recommend.policy_fit import fit
from headroom.recommend.replay import Outcome, replay

HOUR, DAY = 3600, 86400
PART, PARTS = 600, 144  # of a day
RUNS_FOR_S = 600.0  # for a share of what runs: traces do not say how long
DAYS_MADE = 6
MOST_SLOTS = 4096
AS_IT_IS = "as it is"

Arrivals = list[tuple[float, int]]
Span = tuple[float, float]
Row = tuple[str, Outcome]


@dataclass
class Trace:
    """Arrivals by second, and the results of fixed sizes on parts of them."""

    name: str
    arrivals: Arrivals
    frontier: dict[tuple[float, Span, int], Outcome] = field(default_factory=dict)

    @property
    def end(self) -> float:
        return self.arrivals[-1][0] + 1

    def part(self, begin: float, end: float) -> Arrivals:
        return self.arrivals[
            bisect_left(self.arrivals, (begin, 0)) : bisect_left(self.arrivals, (end, 0))
        ]

    def fixed(self, slots: int, lead: float, span: Span) -> Outcome:
        key = (lead, span, slots)
        if key not in self.frontier:
            self.frontier[key] = judged(self, FixedSizing(slots), lead, span)
        return self.frontier[key]

    def enough(self, ratio: float, lead: float, span: Span) -> int:
        """The smallest fixed size with this many hits."""
        low, high = 0, 1
        while high < MOST_SLOTS and self.fixed(high, lead, span).ratio < ratio:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.fixed(middle, lead, span).ratio >= ratio:
                high = middle
            else:
                low = middle
        return high

    def idle_at(self, ratio: float, lead: float, span: Span) -> float:
        """The idle of a fixed size with this many hits, interpolated between two sizes."""
        high = self.enough(ratio, lead, span)
        above, below = self.fixed(high, lead, span), self.fixed(high - 1, lead, span)
        step = above.ratio - below.ratio
        part = (ratio - below.ratio) / step if step > 0 else 1.0
        return below.idle + min(max(part, 0.0), 1.0) * (above.idle - below.idle)


@dataclass
class Hindsight:
    """The smallest size for each hour, known in advance."""

    slots: dict[int, int]
    lead: float
    every: float | None = 60.0

    def came(self, now: float, pods: int, misses: int) -> None:
        """It learns nothing."""

    def size(self, now: float) -> int:
        hours = (int(now // HOUR), int((now + self.lead) // HOUR))
        return max(self.slots.get(hour, 0) for hour in hours)


@dataclass
class MeanAndMisses:
    """Mean plus a factor times its root; the factor depends only on misses."""

    ratio: float
    lead: float
    rate: float = 0.02  # what one miss adds to the factor
    factor: float = 2.0
    every: float | None = 10.0
    recent: list[deque[tuple[float, int]]] = field(default_factory=lambda: [deque(), deque()])
    sums: list[int] = field(default_factory=lambda: [0, 0])
    days: deque[list[int]] = field(default_factory=lambda: deque([[0] * PARTS], maxlen=8))
    day: int = 0

    def came(self, now: float, pods: int, misses: int) -> None:
        self._turn(now)
        self.days[-1][int(now % DAY // PART)] += pods
        for index, recent in enumerate(self.recent):
            recent.append((now, pods))
            self.sums[index] += pods
        self.factor = max(0.0, self.factor + self.rate * (misses - (1 - self.ratio) * pods))

    def size(self, now: float) -> int:
        self._turn(now)
        rates = []
        for index, width in enumerate((300, HOUR)):
            recent = self.recent[index]
            while recent and recent[0][0] <= now - width:
                self.sums[index] -= recent.popleft()[1]
            rates.append(self.sums[index] / width)
        part = int((now + self.lead / 2) % DAY // PART)
        past = [day[part] for day in self.days][:-1]
        if past:
            rates.append(sum(past) / len(past) / PART)
        mean = self.lead * max(rates)
        return ceil(mean + self.factor * sqrt(mean) - 1e-9)

    def _turn(self, now: float) -> None:
        while self.day < int(now // DAY):
            self.day += 1
            self.days.append([0] * PARTS)


def judged(trace: Trace, policy: SizingPolicy, lead: float, span: Span) -> Outcome:
    """Let a policy learn until a span begins, and judge it on the span."""
    playing = replay(policy, lead, 0.0)
    if span[0]:
        playing.play(trace.part(0, span[0]), 0.0, span[0])
    return playing.play(trace.part(*span), *span)


def ours(ratio: float, lead: float, settings: EstimatorSettings = DEFAULTS) -> Promised:
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


def ways(trace: Trace, lead: float, ratio: float) -> Iterator[Row]:
    """Each way to choose a size, and what it came to."""
    half = trace.end // 2
    span = (half, trace.end)
    before, after = fit(trace.part(0, half), lead, RUNS_FOR_S), trace.part(*span)
    yield "oracle static", trace.fixed(trace.enough(ratio, lead, span), lead, span)
    percent = fit(after, lead, RUNS_FOR_S).percent(ratio)
    policies: dict[str, SizingPolicy] = {
        "percent of usage": ShareSizing(percent, RUNS_FOR_S),
        "hourly quantile": ByHour(before.by_hour(ratio), lead),
        "mean and misses": MeanAndMisses(ratio, lead),
        "ours": ours(ratio, lead),
        "hindsight per hour": by_hindsight(trace, ratio, lead),
    }
    for name, policy in policies.items():
        yield name, judged(trace, policy, lead, span)
    yield "ours, from nothing", judged(trace, ours(ratio, lead), lead, (0.0, trace.end))


def parts(trace: Trace, lead: float, ratio: float, count: int) -> Iterator[Row]:
    """The result of each part of a trace except the first; learning continues all the time."""
    bounds = [trace.end * number // count for number in range(count + 1)]
    for name, policy in (
        ("mean and misses", MeanAndMisses(ratio, lead)),
        ("ours", ours(ratio, lead)),
    ):
        playing = replay(policy, lead, 0.0)
        for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
            outcome = playing.play(trace.part(begin, end), begin, end)
            if number:
                yield f"{name}, part {number + 1} of {count}", outcome


def line(trace: Trace, row: Row, lead: float, ratio: float) -> str:
    name, outcome = row
    span = (outcome.begin, outcome.end)
    oracle = trace.fixed(trace.enough(ratio, lead, span), lead, span)
    equal = trace.idle_at(outcome.ratio, lead, span)
    less = 1 - outcome.idle / oracle.idle if oracle.idle else 0.0
    ahead = 1 - outcome.idle / equal if equal else 0.0
    return (
        f"{trace.name:24.24} {lead:4.0f} {name:34} {100 * outcome.ratio:7.2f} {outcome.idle:8.1f} "
        f"{100 * less:5.0f} {100 * ahead:6.0f} {100 * outcome.worst_day():7.2f}"
    )


def score(trace: Trace, row: Row, lead: float) -> float:
    """The logarithm of idle relative to a fixed size with equally many hits."""
    _, outcome = row
    equal = trace.idle_at(outcome.ratio, lead, (outcome.begin, outcome.end))
    return log(max(outcome.idle, 1e-3) / max(equal, 1e-3))


def neighbours() -> Iterator[tuple[str, EstimatorSettings]]:
    """Half and double of each setting."""
    for each in fields(EstimatorSettings):
        usual = getattr(DEFAULTS, each.name)
        for word, times in (("half", 0.5), ("double", 2.0)):
            changed = (
                tuple(times * part for part in usual) if isinstance(usual, tuple) else times * usual
            )
            yield f"{word} {each.name}", _with(each.name, changed)


def _with(name: str, value: Any) -> EstimatorSettings:
    return replace(DEFAULTS, **{name: value})


def left_out(scores: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """For each trace: the setting that the other traces choose, and its result on this one.

    `scores` are by trace and setting: the logarithm of idle relative to a fixed size with equally
    many hits.
    """
    for name in scores if len(scores) > 1 else ():
        others = [of for trace, of in scores.items() if trace != name]
        best = min(scores[name], key=lambda each: (sum(of[each] for of in others), each))
        own = min(scores[name], key=lambda each: (scores[name][each], each))
        told = (
            f"{100 * (1 - exp(scores[name][each])):.0f} % less ({each})"
            for each in (best, AS_IT_IS, own)
        )
        yield f"{name:24.24} chosen by the others: {next(told)}; {next(told)}; best: {next(told)}"


def made_up() -> Iterator[Trace]:
    """Synthetic traces of a few days, the same each time."""
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
    yield Trace("all at once", [(float(at + 3), 12) for at in range(0, DAYS_MADE * DAY, HOUR // 4)])
    yield Trace("bursts of any length", _bursts(chance))


def _bursts(chance: random.Random) -> Arrivals:
    """Some pods an hour, and now and then many, four seconds apart."""
    came: dict[int, int] = defaultdict(int)
    at = 0.0
    while at < DAYS_MADE * DAY:
        at += chance.expovariate(1 / 5400)
        now = at
        for _ in range(min(int(chance.paretovariate(1.3)), 200)):
            now += chance.expovariate(1 / 4)
            came[int(now)] += 1
    for _ in range(DAYS_MADE * DAY // 50):
        came[chance.randrange(DAYS_MADE * DAY)] += 1
    return sorted((float(now), pods) for now, pods in came.items())


def page_rows(trace: Trace, found: Sequence[Row], lead: float) -> Iterator[rows.Row]:
    """Ours on the second half: hits, and idle beside fixed sizes that know that half."""
    of = dict(found)
    mine, oracle = of["ours"], of["oracle static"]
    equal = trace.idle_at(mine.ratio, lead, (mine.begin, mine.end))
    scale = f"{trace.name}, second half, lead time {lead:.0f} s"
    hits = (100 * mine.ratio, "%", "oracle static", 100 * oracle.ratio)
    yield rows.Row(f"hits, {trace.name}", *hits, rows.Aim(99.0, rows.NO_LESS), scale)
    # So much less is asked of these two; of the others, to be ahead of equally many hits.
    aim = rows.Aim(0.6, of=rows.RATIO) if trace.name.startswith(("google", "nasa")) else None
    idle = (mine.idle, "slots")
    yield rows.Row(f"idle, {trace.name}", *idle, "oracle static", oracle.idle, aim, scale)
    aim = rows.Aim(1.0, of=rows.RATIO)
    yield rows.Row(f"idle, equal hits, {trace.name}", *idle, "fixed size", equal, aim, scale)


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
    parser.add_argument("--parts", type=int, default=0)
    parser.add_argument("--neighbours", action="store_true")
    rows.add_option(parser)
    asked = parser.parse_args(arguments)
    if asked.rows and (asked.parts or asked.neighbours):
        parser.error("--rows goes with neither --parts nor --neighbours")
    handed_in: list[rows.Row] = []
    traces = [read(path) for path in asked.files] or list(made_up())
    sys.stdout.write(
        f"{'trace':24} {'lead':>4} {'size':34} {'hits %':>7} {'idle':>8} {'less%':>5} "
        f"{'equal%':>6} {'worst d':>7}\n"
    )
    scores: dict[str, dict[str, float]] = {trace.name: defaultdict(float) for trace in traces}
    leads = list(map(float, asked.lead.split(",")))
    for trace in traces:
        for lead in leads:
            found = ways(trace, lead, asked.ratio)
            if asked.parts:
                found = parts(trace, lead, asked.ratio, asked.parts)
            elif asked.neighbours:
                whole = (0.0, trace.end)
                found = (
                    (name, judged(trace, ours(asked.ratio, lead, settings), lead, whole))
                    for name, settings in ((AS_IT_IS, DEFAULTS), *neighbours())
                )
            told = []
            for row in found:
                told.append(row)
                sys.stdout.write(line(trace, row, lead, asked.ratio) + "\n")
                sys.stdout.flush()
                scores[trace.name][row[0]] += score(trace, row, lead) / len(leads)
            if asked.rows:
                handed_in += page_rows(trace, told, lead)
    rows.write(asked.rows, handed_in)
    if asked.neighbours:
        sys.stdout.writelines(f"{told}\n" for told in left_out(scores))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
