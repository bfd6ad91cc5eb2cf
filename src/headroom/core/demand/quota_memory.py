"""What ResourceQuotas said of a headroom's slots: an answer counts once it has lasted.

What a quota says is used and what we know of our own pods come by different ways. Until an answer
has lasted, nothing is made and nothing is given back for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.demand.resource_quotas import QuotaAllowance, Tight
from headroom.core.waits.stabilization import Lasting

SETTLED = timedelta(seconds=3)


@dataclass(frozen=True, slots=True)
class QuotaMemory:
    """`count` is how many slots the tightest quota allows, `believed` that quota when it counted.

    `allowance` is what the quotas that buffers share leave to this one. None: nothing was said yet.
    """

    count: Lasting[int] | None = None
    believed: Tight | None = None
    allowance: Lasting[QuotaAllowance] | None = None


NOTHING_SAID = QuotaMemory()


def tight_now(
    before: QuotaMemory, heard: Tight | None, standing: int, now: datetime
) -> tuple[Tight | None, datetime | None, QuotaMemory]:
    """The quota that allows the fewest slots, so many of which stand; when to ask again."""
    count, sure = count_of(heard), before.believed
    if before.count is None:
        sure = heard
    told = (before.count or Lasting(count, now)).told(count, now)
    sure_at = told.since + SETTLED
    if now >= sure_at or count == count_of(sure):
        return heard, None, replace(before, count=told, believed=heard)
    fewer = min((each for each in (sure, heard) if each is not None), key=count_of)
    kept = max(fewer.count, min(standing, count_of(sure)))
    return replace(fewer, count=kept), sure_at, replace(before, count=told, believed=sure)


def room_now(
    before: QuotaMemory, allowance: QuotaAllowance | None, standing: int, now: datetime
) -> tuple[QuotaAllowance | None, datetime | None, QuotaMemory]:
    """What quotas leave to a buffer of which so many chunks stand; when to ask again.

    None: any number.
    """
    if allowance is None:
        return None, None, replace(before, allowance=None)
    told = (before.allowance or Lasting(allowance, now)).told(allowance, now)
    after, sure_at = replace(before, allowance=told), told.since + SETTLED
    if now >= sure_at:
        return allowance, None, after
    return replace(allowance, count=max(allowance.count, standing)), sure_at, after


def count_of(tight: Tight | None) -> int:
    """How many it allows; without a limit, a number larger than any real one."""
    return tight.count if tight is not None else 2**31
