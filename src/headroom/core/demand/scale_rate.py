"""Limit how fast a number of placeholders changes, and stop asking for nodes that do not come.

Growing and shrinking work as in a HorizontalPodAutoscaler: a wanted number counts only after it has
lasted (`after`), and the number changes by at most a part of itself in each period (`every`). A
wanted number lasts until the next one arrives.
The state is a value, `Trail`, that the caller stores. Without one, after a restart, growing is
unlimited and shrinking waits again, which is the safe side.

    growing ──nothing placed for `stalled_after`──▶ held back: one probe waits
       ▲                                                │ backoff over: all are requested again
       └──────────── something was placed ──────────────┘ (each further stall waits longer)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

_AT_ONCE = timedelta()
_MOST_WISHES = 64
STALLED_AFTER = timedelta(minutes=10)  # So long placeholders may wait for a node.
# How long to hold back once they did, at first and at most.
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=5), timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class ScaleRate:
    """At most `percent` of what there was, or `least`, in each period; a wish lasts `after`."""

    percent: int
    every: timedelta
    after: timedelta = _AT_ONCE
    least: int = 0


@dataclass(frozen=True, slots=True)
class ScalePolicy:
    """Up: doubled every 30 s, at once, and ten are always allowed. Down: halved, after 5 min."""

    up: ScaleRate = ScaleRate(100, timedelta(seconds=30), least=10)
    down: ScaleRate = ScaleRate(50, timedelta(seconds=60), after=timedelta(seconds=300))


@dataclass(frozen=True, slots=True)
class Wished:
    """What was wished for until a moment: one number, or a span where several were put together."""

    until: datetime
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Trail:
    """The current number, the recently wanted numbers and the recent changes, oldest first."""

    count: int = 0
    wishes: tuple[Wished, ...] = ()
    moves: tuple[tuple[datetime, int], ...] = ()


def paced(trail: Trail, wish: int, pace: ScalePolicy, now: datetime) -> Trail:
    """Change the number towards the wanted one, as far as the rate allows now."""
    before = trail.wishes or (Wished(now, trail.count, trail.count),)
    wishes = _noted(before, wish, now - max(pace.up.after, pace.down.after), now)
    longest = max(pace.up.every, pace.down.every)
    moves = tuple(move for move in trail.moves if move[0] > now - longest)
    lowest = min([wish, *(each.low for each in wishes if each.until > now - pace.up.after)])
    highest = max([wish, *(each.high for each in wishes if each.until > now - pace.down.after)])
    count = trail.count
    if lowest > count:
        count = min(lowest, _most(count, moves, pace.up, now))
    elif highest < count:
        count = max(highest, _least(count, moves, pace.down, now))
    if count != trail.count:
        moves = (*moves, (now, count - trail.count))
    return Trail(count, wishes, moves)


def next_move(trail: Trail, pace: ScalePolicy, now: datetime) -> datetime | None:
    """When the pace may allow more, if the wish stays; None: the number is where it should be."""
    if not trail.wishes or trail.wishes[-1].high == trail.count:
        return None
    rate = pace.up if trail.wishes[-1].high > trail.count else pace.down
    ends = [at + rate.every for at, _ in trail.moves]
    ends += [each.until + rate.after for each in trail.wishes[:-1]]
    return min((end for end in ends if end > now), default=None)


@dataclass(frozen=True, slots=True)
class Stall:
    """How often in a row no node came, and until when only one probe waits."""

    tries: int = 0
    until: datetime | None = None

    def held_back(self, now: datetime) -> bool:
        return self.until is not None and now < self.until


def judged(stall: Stall, waiting_since: datetime | None, placed: bool, now: datetime) -> Stall:
    """Judge whether nodes still come: `placed` says that a placeholder got one since last time.

    `waiting_since` is since when the one that waits longest has waited, None if none does.
    """
    if placed:
        return Stall()
    if stall.held_back(now) or waiting_since is None:
        return stall
    since = waiting_since if stall.until is None else max(waiting_since, stall.until)
    if now < since + STALLED_AFTER:
        return stall
    pause = FIRST_PAUSE
    for _ in range(stall.tries):
        pause = min(LONGEST_PAUSE, pause * 3 // 2)
    return Stall(stall.tries + 1, now + pause)


def next_judgement(stall: Stall, waiting_since: datetime | None, now: datetime) -> datetime | None:
    """When to judge again, if nothing else happens before."""
    if stall.until is not None and stall.held_back(now):
        return stall.until
    if waiting_since is None:
        return None
    since = waiting_since if stall.until is None else max(waiting_since, stall.until)
    return since + STALLED_AFTER


def _noted(
    wishes: tuple[Wished, ...], wish: int, oldest: datetime, now: datetime
) -> tuple[Wished, ...]:
    """Add a wanted number: the one before it applied until now."""
    kept = [each for each in wishes[:-1] if each.until > oldest]
    kept.append(replace(wishes[-1], until=now))
    if (kept[-1].low, kept[-1].high) != (wish, wish):
        kept.append(Wished(now, wish, wish))
    if len(kept) > _MOST_WISHES:
        first, second = kept[:2]
        low, high = min(first.low, second.low), max(first.high, second.high)
        kept[:2] = [Wished(second.until, low, high)]
    return tuple(kept)


def _most(
    count: int, moves: tuple[tuple[datetime, int], ...], rate: ScaleRate, now: datetime
) -> int:
    """The most that may stand by now, from what stood when the running period began."""
    began = count - sum(moved for at, moved in moves if at > now - rate.every)
    return max(began + rate.least, began + -(-began * rate.percent // 100))


def _least(
    count: int, moves: tuple[tuple[datetime, int], ...], rate: ScaleRate, now: datetime
) -> int:
    began = count - sum(moved for at, moved in moves if at > now - rate.every)
    return min(began - rate.least, began * (100 - rate.percent) // 100)
