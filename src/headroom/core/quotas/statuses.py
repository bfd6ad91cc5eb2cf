"""The status of a quota: its limits, their usage, and three conditions.

`Ready` says whether the object is valid, `Enforced` whether it is enforced, and `Exceeded` whether
more is used than allowed, or an object waits for room under it. All three are always present, and
each returns to its normal value when its cause is gone. `engine.quotas` has the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from headroom.core.actions import Tell
from headroom.core.conditions import conditions_of
from headroom.core.objects import Condition
from headroom.core.quotas.limits import Quota, QuotaBounds, QuotaStatus, spelled, surpassed
from headroom.core.resources import EMPTY, Resources

_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class Account:
    """How a quota stands: what is used of it, in all and by namespace, and who waits.

    `waiting` are sentences, one for each that was refused. `instead` is the quota that is in force
    in its place, where there may be only one.
    """

    limits: QuotaBounds
    used: Resources = EMPTY
    used_by: Mapping[str, Resources] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()
    instead: str = ""


def status_of(quota: Quota, account: Account, now: datetime) -> QuotaStatus:
    """Build the status that an account calls for, keeping the times of conditions that stay."""
    words = (
        ("Ready", *_ready(quota)),
        ("Enforced", *_enforced(quota, account)),
        ("Exceeded", *_exceeded(account)),
    )
    return QuotaStatus(
        hard=account.limits.hard,
        used=account.used,
        window=account.limits.window,
        conditions=conditions_of(words, quota.status.conditions, quota.generation, now),
        observed_generation=quota.generation,
    )


def tellings(quota: Quota, status: QuotaStatus, now: datetime) -> tuple[Tell, ...]:
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
        told.append(_tell(quota, condition, now))
    return tuple(told)


def _alarming(condition: Condition) -> bool:
    if condition.type == "Exceeded":
        return condition.status == "True"
    if condition.type == "Ready":
        return condition.reason in ("InvalidSpec", "Warned")
    return condition.reason == "AnotherInForce"


def _tell(quota: Quota, condition: Condition, now: datetime) -> Tell:
    parent = quota.parent
    return Tell(
        parent.api_version,
        parent.kind,
        quota.key,
        parent.uid,
        "Warning",
        condition.reason,
        condition.message,
        now,
    )


def _ready(quota: Quota) -> tuple[str, str, str]:
    if quota.problems:
        return "False", "InvalidSpec", "; ".join(str(each) for each in quota.problems)
    if quota.warnings:
        return "True", "Warned", "; ".join(str(each) for each in quota.warnings)
    return "True", "Ready", ""


def _enforced(quota: Quota, account: Account) -> tuple[str, str, str]:
    if quota.problems:
        return "False", "InvalidSpec", "nothing is limited by it until it is fixed"
    if account.instead:
        why = f"only one quota may be for the whole cluster, and {account.instead} is older"
        return "False", "AnotherInForce", why
    return "True", "Enforced", ""


def _exceeded(account: Account) -> tuple[str, str, str]:
    over = [
        f"{path}[{name}]: used {spelled(name, used)}, at most {spelled(name, most)}"
        for path, name, used, most in surpassed(account.limits, account.used, account.used_by)
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
