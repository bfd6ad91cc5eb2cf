"""Learn from past arrivals how many slots a promise needs.

The model is base stock: slots for the demand of one lead time, the time from requesting a slot to
holding it. The expected demand is a weighted sum of forecasts: moving averages, the arrivals at the
same minute of the hour and at the same time of the day, the long mean, and the largest of the
slower ones. The weights are learnt (`forecast_weights`); a forecast that was too low counts more
than one that was too high. To this, `factor x spread` is added; the factor is the one that was
enough for the promised share of the pods (`factors`). Feedback closes the loop: real misses,
compared with those that the promise allows, change the target share. So a wrong forecast costs
slots, not the promise.

The size of a step is held one lead time later and serves the pods of the step after that. So the
pods of a step are compared with the size that was wanted one lead time and one step earlier.

This module has no clock: time is an argument, in seconds. Only its holder changes a `Learner`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil, exp, sqrt
from typing import NamedTuple

from headroom.core.promise.factors import Factors
from headroom.core.promise.forecast_weights import Weighing
from headroom.core.promise.seasons import Season
from headroom.core.promise.settings import DAY, DEFAULTS, STEP, EstimatorSettings

DAY_PARTS, HOUR_PARTS = 288, 60
YOUNG_PODS = 200.0  # so many pods must have come before the learnt factor is trusted alone
_COMPARE_EVERY = 3  # steps
_CHOOSE_EVERY = 30  # steps
_SOLVE_EVERY = 90  # steps
_FIRST_SOLVE = 1080  # steps
_MARGIN = 0.85  # feedback aims at a little less than the misses that are allowed
_TIGHTEST, _LOOSEST = -1.6, 1.2  # bounds of the logarithm of what feedback makes of the misses


class Forecast(NamedTuple):
    """The forecast for the lead time that began at `at`, when `total` pods had arrived."""

    at: float
    lead: float
    total: float
    rates: list[float]
    mean: float
    spread: float


@dataclass(slots=True)
class Learner:
    """Everything that was learnt about one demand; `began` is None until the first step."""

    ratio: float
    settings: EstimatorSettings = DEFAULTS
    began: float | None = None
    at: float = 0.0
    steps: int = 0
    averages: list[float] = field(default_factory=list)
    long_mean: float = 0.0
    hour: Season = field(default_factory=lambda: Season(60.0, HOUR_PARTS, 24.0))
    day: Season = field(default_factory=lambda: Season(DAY / DAY_PARTS, DAY_PARTS, 5.0))
    weighing: Weighing = field(default_factory=lambda: Weighing([]))
    factors: Factors = field(default_factory=Factors)
    factor: float = 0.0
    leaning: float = 0.0  # the logarithm of what feedback makes of the allowed misses
    forecasts: deque[Forecast] = field(default_factory=deque)
    total: float = 0.0
    waiting: float = 0.0  # pods since the last step
    missed: float = 0.0

    def __post_init__(self) -> None:
        settings = self.settings
        if not self.averages:
            self.averages = [0.0] * len(settings.averages)
            self.hour.half, self.day.half = settings.hour_memory, settings.day_memory
            self.factor = settings.first_factor
            others = len(settings.averages) + 1  # the seasons, the long mean and the largest
            self.weighing = Weighing([0.0, 0.6, 0.4, *[0.0] * others])

    def observe(self, now: float, arrivals: float, misses: float, lead: float) -> None:
        """Count the pods that arrived since the last call, and those that missed the promise.

        All arrivals since then must be known; after an interruption, call `resume` first.
        """
        if self.began is None:
            self.began = self.at = now // STEP * STEP
        while self.at + STEP <= now:
            self._step(self.at + STEP, lead)
        self.waiting += arrivals
        self.missed += misses

    def resume(self, now: float) -> None:
        """Arrivals until now are unknown: forecasts for that time are not compared."""
        self.forecasts.clear()
        self.hour.skip()
        self.day.skip()
        self.waiting = self.missed = 0.0
        if self.began is not None:  # A clock may have been set back since.
            self.at = now // STEP * STEP
            self.began = min(self.began, self.at)

    def expected(self, now: float, lead: float) -> Forecast:
        """Mean and spread of the demand of the lead time from now."""
        rates = self._rates(now, lead)
        weights = self.weighing.weights
        mean = lead * sum(weight * rate for weight, rate in zip(weights, rates, strict=True))
        return Forecast(now, lead, self.total, rates, mean, sqrt(mean + self.settings.floor))

    def target(self) -> float:
        """The target share of pods; higher than the promise after misses, to compensate them."""
        return 1.0 - (1.0 - self.ratio) * exp(self.leaning)

    @property
    def young(self) -> bool:
        """Whether too few pods have arrived to trust the learnt factor alone."""
        return self.factors.seen() < YOUNG_PODS

    def _rates(self, now: float, lead: float) -> list[float]:
        """Each forecast of the rate in the lead time from now, in pods a second."""
        rates = list(self.averages)
        age = max(0.0, now - self.began) if self.began is not None else 0.0
        for index, length in enumerate(self.settings.averages):
            if age < 4.0 * length:  # An average that is young has not filled up yet.
                rates[index] /= max(1.0 - exp(-age / length), 0.02)
        slowest = rates[-1]
        usual = self.day.ahead(now + STEP, lead, slowest)
        largest = max(*rates[1:], usual)
        rates.append(self.hour.ahead(now + STEP, lead, slowest))
        rates.extend((usual, self.long_mean, largest))
        return rates

    def _step(self, now: float, lead: float) -> None:
        arrivals, missed = self.waiting, self.missed
        self.waiting = self.missed = 0.0
        before, self.at = self.at, now
        self.steps += 1
        self.total += arrivals
        rate = arrivals / STEP
        for index, length in enumerate(self.settings.averages):
            self.averages[index] += (rate - self.averages[index]) * (1.0 - exp(-STEP / length))
        self.long_mean += (rate - self.long_mean) * max(1.0 / self.steps, STEP / (2.0 * DAY))
        self.hour.count(before, now, arrivals)
        self.day.count(before, now, arrivals)
        while self.forecasts and self.forecasts[0].at + self.forecasts[0].lead + STEP <= now:
            past = self.forecasts.popleft()
            self._compare(past, arrivals, self.total - self.forecasts[0].total)
        self._answer(arrivals, missed)
        if self.steps % _SOLVE_EVERY == 0 and self.steps >= _FIRST_SOLVE:
            self.weighing.solve()
        if missed or self.steps % _CHOOSE_EVERY == 0:
            self._choose()
        self.forecasts.append(self.expected(now, max(lead, STEP)))

    def _compare(self, past: Forecast, arrivals: float, came: float) -> None:
        """A lead time is over: `came` pods arrived in it, `arrivals` of them in the last step."""
        settings, spread = self.settings, past.spread
        if arrivals:
            first = came - arrivals - past.mean
            last = came - 1.0 - past.mean
            self.factors.pods_came(first / spread, last / spread, arrivals)
        above = (came - past.mean) / spread
        self.factors.step_passed(above, spread, 2.0 ** (STEP / settings.factors_half))
        if self.steps % _COMPARE_EVERY == 0:
            growth = 2.0 ** (_COMPARE_EVERY * STEP / settings.weights_half)
            sureness = (settings.shortage if came > past.mean else 1.0) / (past.mean + 1.0)
            self.weighing.learn(past.rates, came / past.lead, sureness, growth)

    def _answer(self, arrivals: float, missed: float) -> None:
        """Change the target share by the misses that happened."""
        part = _MARGIN * (1.0 - self.ratio)
        a_day = part * (self.long_mean * DAY + 500.0)
        leaning = self.leaning - self.settings.repay * (missed - part * arrivals) / a_day
        self.leaning = min(max(leaning, _TIGHTEST), _LOOSEST)

    def _choose(self) -> None:
        """Use the factor that was enough for the target share of the pods."""
        if self.factors.pods > 0.0:
            self.factor = self.factors.enough(self.target())
            unsure = 1.0 - self.factors.seen() / YOUNG_PODS
            self.factor = max(self.factor, self.settings.first_factor * unsure)


def wanted(learner: Learner, now: float, lead: float, factor: float | None = None) -> int:
    """How many slots the demand of a lead time from now needs, before limits and releases."""
    if not learner.total:
        return 0
    if learner.forecasts and learner.forecasts[-1].lead == lead:
        past = learner.forecasts[-1]  # Of the last step: nothing is learnt within one.
    else:
        past = learner.expected(now, max(lead, STEP))
    by = learner.factor if factor is None else factor
    return ceil(past.mean + by * past.spread - 1e-9)
