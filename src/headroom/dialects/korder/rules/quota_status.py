"""The status of a quota: its limits, their usage, and three conditions.

`Ready` says whether the object is valid, `Enforced` whether it is enforced, and `Exceeded` whether
more is used than allowed, or an object waits for room under it. All three are always present, and
each returns to its normal value when its cause is gone. `engine.quotas` has the numbers.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from headroom.core.actions import Tell
from headroom.core.conditions import conditions_of
from headroom.core.objects import Condition
from headroom.core.quotas.quota import Account
from headroom.core.statuses import tell_object
from headroom.dialects.korder.rules.limits import QuotaBounds, QuotaStatus, spelled, surpassed

if TYPE_CHECKING:
    from headroom.dialects.korder.rules.quota import KorderQuota

_MOST_TOLD = 3


def status_of(
    quota: KorderQuota, limits: QuotaBounds, account: Account, now: datetime
) -> QuotaStatus:
    """Build the status that an account calls for, keeping the times of conditions that stay."""
    words = (
        ("Ready", *_ready(quota)),
        ("Enforced", *_enforced(quota, account)),
        ("Exceeded", *_exceeded(limits, account)),
    )
    return QuotaStatus(
        hard=limits.hard,
        used=account.used,
        window=limits.window,
        conditions=conditions_of(words, quota.status.conditions, quota.generation, now),
        observed_generation=quota.generation,
    )


def status_events(quota: KorderQuota, status: QuotaStatus, now: datetime) -> tuple[Tell, ...]:
    """The events for what a person should look at, told when it is first shown."""
    before = {condition.type: condition for condition in quota.status.conditions}
    told = []
    for condition in status.conditions:
        known = before.get(condition.type)
        known_as = (known.reason, known.message) if known else ("", "")
        if not _alarming(condition) or known_as == (condition.reason, condition.message):
            continue
        if condition.type == "Exceeded" and known is not None and known.status == "True":
            continue  # Who waits, and for how much, changes all the time.
        told.append(tell_object(quota.parent, condition.reason, condition.message, now, warn=True))
    return tuple(told)


def _alarming(condition: Condition) -> bool:
    if condition.type == "Exceeded":
        return condition.status == "True"
    if condition.type == "Ready":
        return condition.reason in ("InvalidSpec", "Warned")
    return condition.reason == "AnotherInForce"


def _ready(quota: KorderQuota) -> tuple[str, str, str]:
    if quota.problems:
        return "False", "InvalidSpec", "; ".join(str(each) for each in quota.problems)
    if quota.warnings:
        return "True", "Warned", "; ".join(str(each) for each in quota.warnings)
    return "True", "Ready", ""


def _enforced(quota: KorderQuota, account: Account) -> tuple[str, str, str]:
    if quota.problems:
        return "False", "InvalidSpec", "nothing is limited by it until it is fixed"
    if account.instead:
        why = f"only one quota may be for the whole cluster, and {account.instead} is older"
        return "False", "AnotherInForce", why
    return "True", "Enforced", ""


def _exceeded(limits: QuotaBounds, account: Account) -> tuple[str, str, str]:
    over = [
        f"{path}[{name}]: used {spelled(name, used)}, at most {spelled(name, most)}"
        for path, name, used, most in surpassed(limits, account.used, account.used_by)
    ]
    if over:
        return "True", "Exceeded", f"{'; '.join(over)}; nothing is taken away, nothing is added"
    if account.waiting:
        return "True", "Waiting", _shortened(account.waiting)
    return "False", "WithinLimits", ""


def _shortened(waiting: tuple[str, ...]) -> str:
    more = len(waiting) - _MOST_TOLD
    told = "; ".join(waiting[:_MOST_TOLD])
    return f"{told}; and {more} more" if more > 0 else told
