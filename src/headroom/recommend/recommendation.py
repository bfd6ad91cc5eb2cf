"""Choose the policy to recommend, with its certainty and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headroom.core.promise.settings import DAY
from headroom.recommend.replay import FEW, Outcome
from headroom.recommend.study import Sizing, Study

SIMPLER = 0.9  # A simpler policy is taken unless another one leaves a tenth less unused.
A_WEEK = 6.5  # days, or nearly so
FEW_MISSES = 5.0
CHANGED = 2.0
ORDER = (Sizing.STATIC, Sizing.SCHEDULED, Sizing.ADAPTIVE)  # simplest first
_NINES = 10.0


class Sureness(StrEnum):
    """How far a recommendation can be relied on."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Choice:
    """A policy, how sure it is, and the reasons, the weightiest first."""

    kind: Sizing
    kept: bool
    sure: Sureness
    why: tuple[str, ...]


def choose(study: Study, only: Sizing | None = None) -> Choice:
    """The policy that keeps the promise with the least unused; if none does, the adaptive one."""
    promise = study.question.promise
    kept = [kind for kind in ORDER if study.rows[kind].outcome.ratio >= promise]
    chosen = only or _least(study, kept)
    doubts = list(_doubts(study, chosen))
    grades = [grade for grade, _ in doubts]
    sure = next((g for g in (Sureness.LOW, Sureness.MEDIUM) if g in grades), Sureness.HIGH)
    outcome = study.rows[chosen].outcome
    first = (
        f"in the part that it was not fitted to, {outcome.hits} of {outcome.pods} pods "
        f"({outcome.ratio:.2%}) found a slot"
    )
    return Choice(
        chosen, outcome.ratio >= promise, sure, (first, *(words for _, words in sorted(doubts)))
    )


def _least(study: Study, kept: list[Sizing]) -> Sizing:
    if not kept:
        return Sizing.ADAPTIVE
    best = kept[0]
    for kind in kept[1:]:
        if study.rows[kind].outcome.idle < SIMPLER * study.rows[best].outcome.idle:
            best = kind
    return best


def _doubts(study: Study, chosen: Sizing) -> list[tuple[Sureness, str]]:
    """What a reader should know before relying on it."""
    outcome, trained = study.rows[chosen].outcome, study.trained
    promise = study.question.promise
    found: list[tuple[Sureness, str]] = []
    if outcome.ratio < promise:
        found.append((Sureness.LOW, f"that is less than the promised {promise:.2%}"))
        if outcome.misses and 2 * outcome.from_silence >= outcome.misses:
            words = (
                f"{outcome.from_silence} of {outcome.misses} misses came after ten minutes of "
                "silence: no past foretells those; use a schedule, or gate the pods"
            )
            found.append((Sureness.LOW, words))
    days = trained.seconds / DAY
    if days < 1.0:
        found.append((Sureness.LOW, f"it has seen {days * 24:.1f} hours, not even one day"))
    elif days < A_WEEK:
        found.append((Sureness.MEDIUM, f"it has seen {days:.1f} days, not a whole week"))
    allowed = (1.0 - promise) * outcome.pods
    if allowed < FEW_MISSES:
        needed = FEW_MISSES / (1.0 - promise)
        words = f"{outcome.pods} pods say little about {promise:.6g}; {needed:.0f} would say more"
        found.append((Sureness.LOW if allowed < 1.0 else Sureness.MEDIUM, words))
    before, after = trained.pods / trained.seconds, outcome.pods / outcome.seconds
    if before and after and not 1 / CHANGED <= after / before <= CHANGED:
        words = f"the load changed by a factor of {after / before:.2g} from the first part"
        found.append((Sureness.MEDIUM, words))
    worst = outcome.worst_day()
    if outcome.pods >= FEW and 1.0 - worst > CHANGED * (1.0 - promise):
        words = f"on the worst day {worst:.2%} found a slot"
        found.append((Sureness.MEDIUM, words))
    return found


def next_nine(study: Study, kind: Sizing) -> tuple[float, Outcome, Outcome] | None:
    """A promise with a tenth of the misses, and what comes of this one and of that one.

    None: no such promise was looked at.
    """
    now = study.question.promise
    later = [each for each in study.curve if 1.0 - each <= (1.0 - now) / _NINES * (1 + 1e-6)]
    if not later:
        return None
    upcoming = min(later)
    return upcoming, study.curve[now][kind].outcome, study.curve[upcoming][kind].outcome
