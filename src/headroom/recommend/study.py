"""Calculate how much headroom a promise needs: fit policies to the first part of the past, and
judge them on the rest.

The parameters of each policy come from arrivals before `train_until`; its reported results come
from arrivals after it. So no result relies on hindsight.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from math import floor

from headroom.core.promise.settings import DAY, STEP
from headroom.core.promise.stock import stock
from headroom.recommend.policies import ByHour, FixedSizing, Promised, ShareSizing, SizingPolicy
from headroom.recommend.policy_fit import Fit, fit
from headroom.recommend.replay import Outcome, Replay, between, replay

PROMISES = (0.9, 0.95, 0.99, 0.999)
CURVE_TIME = 5 * DAY  # so much of the judged part is enough to compare promises by
Told = Callable[[str], None]


class Sizing(StrEnum):
    """The ways to choose a size that are compared."""

    STATIC = "static"
    PERCENT = "percent"
    SCHEDULED = "scheduled"
    ADAPTIVE = "adaptive"


@dataclass(frozen=True, slots=True)
class Past:
    """When pods came: seconds that never repeat, and how many in each."""

    seconds: Sequence[float]
    counts: Sequence[int]

    @property
    def begin(self) -> float:
        return floor(self.seconds[0] / STEP) * STEP

    @property
    def end(self) -> float:
        return self.seconds[-1] + 1.0

    def index(self, second: float) -> int:
        """How many entries are before this second."""
        return bisect_left(self.seconds, second)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: a promise to so many pods, with a lead time, judged after `train_until`.

    `duration` is how long pods run, for the policy that follows usage.
    """

    promise: float
    lead: float
    train_until: float
    duration: float
    start_within: float = 2.0


@dataclass(frozen=True, slots=True)
class Row:
    """One policy and what it came to; `setting` is what was fitted for it."""

    kind: Sizing
    outcome: Outcome
    setting: tuple[float, ...] = ()


@dataclass(slots=True)
class Study:
    """All answers. `curve` has the rows of each promise, over a part of what was judged."""

    question: Question
    fit: Fit
    trained: Outcome
    rows: dict[Sizing, Row] = field(default_factory=dict)
    curve: dict[float, dict[Sizing, Row]] = field(default_factory=dict)


def study(past: Past, question: Question, tell: Told = lambda words: None) -> Study:
    """Fit every policy to the first part and play the second against it."""
    cut = past.index(question.train_until)
    tell("looking at what came")
    found = fit(between(past.seconds, past.counts, 0, cut), question.lead, question.duration)
    tell("learning from what came")
    learnt = replay(Promised(stock(question.promise), question.lead), question.lead, past.begin)
    trained = learnt.play(
        between(past.seconds, past.counts, 0, cut), past.begin, question.train_until
    )
    answer = Study(question, found, trained)
    span = (question.train_until, past.end)
    for kind in Sizing:
        tell(f"playing the rest of it: {kind}")
        answer.rows[kind] = _row(past, answer, kind, question.promise, span, deepcopy(learnt))
    short = (span[0], min(span[1], span[0] + CURVE_TIME))
    for promise in sorted({*PROMISES, question.promise}):
        tell(f"playing the rest of it: a promise of {promise:.6g}")
        answer.curve[promise] = {
            kind: _row(past, answer, kind, promise, short, deepcopy(learnt)) for kind in Sizing
        }
    return answer


def _row(
    past: Past,
    answer: Study,
    kind: Sizing,
    promise: float,
    span: tuple[float, float],
    learnt: Replay,
) -> Row:
    """What one policy comes to for one promise."""
    begin, end = past.index(span[0]), past.index(span[1])
    arrivals = between(past.seconds, past.counts, begin, end)
    if kind is Sizing.ADAPTIVE:
        if isinstance(learnt.policy, Promised):
            learnt.policy.stock.learner.ratio = promise
        return Row(kind, learnt.play(arrivals, *span))
    policy, setting = _policy(answer, kind, promise)
    if isinstance(policy, ShareSizing):  # It knows what runs when its time begins.
        for index in range(past.index(span[0] - policy.duration), begin):
            policy.came(past.seconds[index], past.counts[index], 0)
    return Row(kind, replay(policy, answer.question.lead, span[0]).play(arrivals, *span), setting)


def _policy(answer: Study, kind: Sizing, promise: float) -> tuple[SizingPolicy, tuple[float, ...]]:
    question, found = answer.question, answer.fit
    if kind is Sizing.PERCENT:
        percent = found.percent(promise)
        return ShareSizing(percent, question.duration), (percent,)
    if kind is Sizing.SCHEDULED:
        hours = found.by_hour(promise)
        return ByHour(hours, question.lead), tuple(map(float, hours))
    slots = found.fixed(promise)
    return FixedSizing(slots), (float(slots),)
