"""Calculate the safety factor that past pods would have needed, and its cost.

The size is `mean + factor x spread`. For each past pod, the smallest factor is known that would
have kept a slot for it. The factor for a promise of 99 % is the one that was enough for 99 % of
them. The spread of demand over time says how many slots a factor leaves unused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log1p

_BEND = 6.0  # classes are equally wide up to about here, and grow from there on
_CLASSES_A_FOLD = 24.0
CLASSES = 224  # the last one is for a factor of about 65,000
_SCALE_BACK = 1e12


def class_of(factor: float) -> int:
    """The class of a factor; class 0 is no factor at all."""
    if factor <= 0.0:
        return 0
    return min(int(_CLASSES_A_FOLD * log1p(factor / _BEND)) + 1, CLASSES - 1)


def factor_of(number: int) -> float:
    """The largest factor of a class."""
    return _BEND * (exp(number / _CLASSES_A_FOLD) - 1.0)


FACTORS = tuple(map(factor_of, range(CLASSES)))


@dataclass(slots=True)
class Factors:
    """`needed` counts pods by the factor that they needed, `used` spreads by the factor used up.

    Both fade: new ones count more, and now and then everything is scaled back.
    """

    needed: list[float] = field(default_factory=lambda: [0.0] * CLASSES)
    used: list[float] = field(default_factory=lambda: [0.0] * CLASSES)
    under: float = 0.0  # what came less than the mean
    pods: float = 0.0
    steps: float = 0.0
    unit: float = 1.0

    def pods_came(self, least: float, most: float, count: float) -> None:
        """Count pods that needed factors from `least` to `most`."""
        low, high = class_of(least), class_of(most)
        share = count * self.unit
        self.pods += share
        if low == high:
            self.needed[low] += share
            return
        share /= high - low + 1
        for number in range(low, high + 1):
            self.needed[number] += share

    def step_passed(self, factor: float, spread: float, growth: float) -> None:
        """In one step, demand was this factor of the spread above its mean, or below it."""
        self.used[class_of(factor)] += spread * self.unit
        if factor < 0.0:
            self.under -= factor * spread * self.unit
        self.steps += self.unit
        self.unit *= growth
        if self.unit > _SCALE_BACK:
            self.scale_back()

    def scale_back(self) -> None:
        """Scale all counts so that one new pod counts 1 again."""
        unit = self.unit
        self.needed = [value / unit for value in self.needed]
        self.used = [value / unit for value in self.used]
        self.under /= unit
        self.pods, self.steps, self.unit = self.pods / unit, self.steps / unit, 1.0

    def seen(self) -> float:
        """How many pods this is based on; old ones count less."""
        return self.pods / self.unit

    def enough(self, ratio: float) -> float:
        """The factor that was enough for this part of the pods."""
        missing = (1.0 - ratio) * self.pods
        for number in range(CLASSES - 1, 0, -1):
            needed = self.needed[number]
            if missing < needed:
                share = 1.0 - missing / needed
                return FACTORS[number - 1] + share * (FACTORS[number] - FACTORS[number - 1])
            missing -= needed
        return 0.0

    def idle(self, factor: float) -> float:
        """How many slots a factor leaves unused on average."""
        if self.steps <= 0.0:
            return 0.0
        spreads = zip(FACTORS, self.used, strict=True)
        unused = sum(used * (factor - taken) for taken, used in spreads if taken < factor)
        return (unused + self.under) / self.steps
