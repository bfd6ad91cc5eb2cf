"""The constants of the estimator, in one place.

They were chosen once on the first halves of three public traces and are the same for every
Headroom. `bench promise --neighbours` shows the effect of half and double of each.
"""

from __future__ import annotations

from dataclasses import dataclass

STEP = 10.0  # seconds; arrivals are counted in steps of this length
HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class EstimatorSettings:
    """What the estimator is made with; times in seconds.

    `averages` are the lengths of the moving averages. `hour_memory` and `day_memory` are after how
    many hours and days a minute of the hour and a part of the day count half. `weights_half` and
    `factors_half` are the same for the weights of the forecast and for the factors that pods
    needed. `floor` is the least variance. `shortage` is how much more a forecast that was too low
    counts than one that was too high. `repay` is how fast the target answers to misses.
    """

    averages: tuple[float, ...] = (90.0, 300.0, HOUR)
    hour_memory: float = 24.0
    day_memory: float = 5.0
    weights_half: float = 3 * DAY
    factors_half: float = 7 * DAY
    floor: float = 2.0
    shortage: float = 4.0
    repay: float = 1.0
    first_factor: float = 2.0


DEFAULTS = EstimatorSettings()
_USUAL_MEMORY = 14 * DAY


def settings_for(memory: float) -> EstimatorSettings:
    """The settings for a memory of so many seconds: what came then counts a quarter."""
    if memory == _USUAL_MEMORY:
        return DEFAULTS
    return EstimatorSettings(
        day_memory=max(1.0, 5.0 * memory / _USUAL_MEMORY),
        weights_half=max(HOUR, min(3 * DAY, memory / 4)),
        factors_half=memory / 2,
    )
