"""The report of a promise: whether it is kept, how often it was missed, and what it needs.

Every headroom has a report, whatever its size. If it promises nothing itself, the target is 99 % of
the owners within five seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headroom.core.conditions import Words
from headroom.core.promise.achieved import MissedShare
from headroom.core.promise.estimator import wanted
from headroom.core.promise.settings import STEP
from headroom.core.promise.stock import MOST, MOST_SLOTS, SizedStock, Stock

PROMISE_KEPT = "PromiseKept"
MEMORY = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class PromiseTerms:
    """What is promised: this part of the owners starts within this time.

    `memory` is how long an arrival counts. The defaults count where a size promises nothing itself.
    """

    ratio: float = 0.99
    within: timedelta = timedelta(seconds=5)
    memory: timedelta = MEMORY


USUAL_TERMS = PromiseTerms()
FEWEST_TO_JUDGE = 100  # owners in a day; with fewer, one miss says nothing about 99 %
KEPT, LEARNING, BURSTS, LIMIT, NO_ROOM, SHORT, LOST = (
    "Kept",
    "Learning",
    "BurstsFromSilence",
    "LimitReached",
    "NoRoom",
    "TooFewSlots",
    "RecordLost",
)
_BURST_FACTOR = 10.0  # demand that takes so many spreads is not forecast by anybody


NOBODY = MissedShare()


@dataclass(frozen=True, slots=True)
class Price:
    """A promise with one nine more, the slots that it would need now, and slots unused by it."""

    ratio: float
    slots: int
    idle: float


@dataclass(frozen=True, slots=True)
class PromiseStatus:
    """As `status.promise` shows it; `size` is None where the size is not learnt."""

    ratio: float
    start_within: timedelta
    last_hour: MissedShare = NOBODY
    last_day: MissedShare = NOBODY
    last_week: MissedShare = NOBODY
    lead_time: timedelta = timedelta()
    size: int | None = None
    decided_by: str = ""
    why: str = ""
    next_nine: Price | None = None
    record: str = ""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What may keep a promise from being kept, besides demand."""

    limited: bool = False  # a limit cuts the size
    no_room: bool = False  # slots find no node
    lost: str = ""  # why the record of before could not be read


def next_nine(ratio: float) -> float:
    """The promise that allows a tenth of the misses."""
    return round(1.0 - (1.0 - ratio) / 10.0, 8)


def price(stock: Stock, ratio: float, now: float, lead: float) -> Price | None:
    """What another promise would need, from what past owners needed; None while that is unknown."""
    learner = stock.learner
    if learner.young:
        return None
    factor = learner.factors.enough(ratio)
    slots = min(wanted(learner, now, max(lead, STEP), factor), MOST_SLOTS)
    return Price(ratio, slots, round(learner.factors.idle(factor), 1))


def verdict(
    promise: PromiseStatus, sized: SizedStock | None, stock: Stock | None, about: Circumstances
) -> Words:
    """Judge a promise by the last day, in the words of its condition."""
    day, within = promise.last_day, f"within {promise.start_within.total_seconds():g} s"
    told = (
        f"{day.pods - day.misses} of {day.pods} owners of the last day started {within} "
        f"({100 * day.ratio:.2f} %; {100 * promise.ratio:g} % promised)"
    )
    if about.lost:
        told = f"{told}; the record could not be read and learning starts over: {about.lost}"
    kept, few = day.ratio >= promise.ratio, day.pods < FEWEST_TO_JUDGE
    if few and (kept or day.misses <= max(3, day.pods // 10)):
        return PROMISE_KEPT, "Unknown", LOST if about.lost else LEARNING, told
    if kept:
        return PROMISE_KEPT, "True", LOST if about.lost else KEPT, told
    reason, why = _shortfall(sized, stock, about)
    return PROMISE_KEPT, "False", reason, f"{told}; {why}"


def _shortfall(
    sized: SizedStock | None, stock: Stock | None, about: Circumstances
) -> tuple[str, str]:
    if about.limited or (sized is not None and sized.term == MOST):
        return LIMIT, "a limit allows fewer slots than the promise needs"
    if about.no_room:
        return NO_ROOM, "slots find no node with room; see the condition Ready"
    if stock is None or sized is None:
        return SHORT, "the size is fixed; size.adaptive would learn one that keeps this promise"
    if stock.learner.factor >= _BURST_FACTOR:
        return BURSTS, (
            "owners come in bursts that nothing announces; known demand helps: create them gated "
            "or suspended, or open a window of spec.schedule before they come"
        )
    return SHORT, "more came than was forecast; the size grows until the promise is kept"
