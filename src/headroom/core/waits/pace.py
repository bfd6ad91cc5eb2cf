"""How fast guardians are created: a number at a time, and after a refusal one try at a time.

If the API server refuses a guardian (quota, LimitRange, Pod Security, a policy, a webhook, an
invalid field), it will also refuse the next slot of the same Headroom, and the next Hold of that
shape in that namespace. So a refusal pauses them all, and one of them retries after a while, later
each time. Each success allows one more at a time, as in TCP. A namespace has its own pace, for a
tenant whose Holds all have different shapes.

    free ──refused──▶ paused ──time over, or a quota has more room──▶ one try ──created──▶ two …
                        ▲                                               │
                        └──────────────────── refused ──────────────────┘
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headroom.core.demand.resource_quotas import ResourceQuota
from headroom.core.waits.backoff import backoff

MOST_AT_A_TIME = 500
LONGEST_PAUSE = timedelta(minutes=2)
NAMESPACE_PAUSE = timedelta(milliseconds=500)  # between tries of a namespace that is refused a lot
QUOTA_PAUSE = timedelta(seconds=1)  # a quota may change many times a second


@dataclass(frozen=True, slots=True)
class Pace:
    """Of one parent, or one namespace: `window` guardians may be under way at a time."""

    namespace: str
    window: int
    refusals: int = 0
    not_before: datetime | None = None
    why: str = ""
    shape: str = ""  # what was refused

    def free(self, under_way: int, now: datetime) -> int:
        """How many may begin now."""
        if self.not_before is not None and now < self.not_before:
            return 0
        return max(0, self.window - under_way)


def made(pace: Pace) -> Pace:
    """The API server accepted a guardian."""
    window = min(pace.window + 1, MOST_AT_A_TIME)
    return replace(pace, window=window, refusals=0, not_before=None, why="")


def slowed(pace: Pace) -> Pace:
    """A write had no clear answer: allow fewer at a time."""
    return replace(pace, window=max(1, pace.window // 2))


def refused(pace: Pace, why: str, shape: str, first: timedelta, now: datetime) -> Pace:
    """The API server refused a guardian of this parent: one tries again after a pause."""
    if pace.not_before is None or now >= pace.not_before:  # Else others failed at the same time.
        pause = backoff(first, pace.refusals, LONGEST_PAUSE)
        pace = replace(pace, not_before=now + pause, refusals=pace.refusals + 1)
    return replace(pace, window=1, why=why, shape=shape)


def refused_in_namespace(pace: Pace, now: datetime) -> Pace:
    """The API server refused a guardian of this namespace."""
    pace = slowed(pace)
    return replace(pace, not_before=now + NAMESPACE_PAUSE) if pace.window == 1 else pace


def for_shape(pace: Pace, shape: str) -> Pace:
    """The pace for a guardian of this shape: refusals of another template no longer count."""
    if pace.refusals and pace.shape != shape:
        return replace(pace, refusals=0, not_before=None)
    return pace


def quota_grew(pace: Pace, before: ResourceQuota, quota: ResourceQuota, now: datetime) -> Pace:
    """A quota leaves more room than before: try again soon, or now if its limits were raised."""
    if pace.not_before is None:
        return pace
    if dict(before.hard) != dict(quota.hard):
        return replace(pace, not_before=min(pace.not_before, now), refusals=0)
    return replace(pace, not_before=min(pace.not_before, now + QUOTA_PAUSE))


def quota_lifted(pace: Pace) -> Pace:
    """A quota is gone: try again at once."""
    return replace(pace, not_before=None, refusals=0)


def leaves_more(before: ResourceQuota, now: ResourceQuota) -> bool:
    """Whether a quota leaves more of anything than it did."""
    names = before.hard.keys() | now.hard.keys()
    return any(_left(now, name) > _left(before, name) for name in names)


def _left(quota: ResourceQuota, name: str) -> float:
    if name not in quota.hard:
        return float("inf")
    return quota.hard[name] - quota.used.get(name, 0)
