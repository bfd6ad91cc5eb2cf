"""Decide whether a headroom is on, and when that changes next.

A window opens at each start of its cron expression, minus the lead time, and closes its duration
after the start. If windows overlap, the larger size wins. This module does not parse cron
expressions: the caller passes a `Calendar` (`engine.cron` is one), so that only arithmetic remains.

      lead time      duration
    |-----------|------------------|
  opens       start              ends
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from headroom.core.headrooms.headrooms import Headroom, Window
from headroom.core.holds import Problem
from headroom.core.sizes.kind import Size

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Occurrences(Protocol):
    """The starts that a cron expression stands for, in one time zone."""

    def latest(self, moment: datetime) -> datetime | None:
        """The last start at or before a moment."""
        ...

    def next(self, moment: datetime) -> datetime | None:
        """The first start after a moment."""
        ...


@dataclass(frozen=True, slots=True)
class WindowRefused:
    """Why there are no starts: which field of the window is wrong, and how."""

    field: str
    message: str


Calendar = Callable[[str, str], Occurrences | WindowRefused]
"""Reads a cron expression and a time zone."""


@dataclass(frozen=True, slots=True)
class ActiveWindow:
    """What is on now. Without a schedule it is always on: both times are None.

    `started_at` is when it opened, lead time included; slots are renewed then if they always are.
    A size that is learnt is always on; its open windows raise it.
    """

    size: Size
    started_at: datetime | None = None
    ends_at: datetime | None = None


def active(headroom: Headroom, now: datetime, calendar: Calendar) -> ActiveWindow | None:
    """Say what size is on now, or None between windows.

    Of windows with the same size the one that opened last counts, so that each start is one.
    """
    if not headroom.schedule:
        return ActiveWindow(headroom.size)
    found = [
        active
        for window, occurrences in _windows(headroom, calendar)
        if (active := _active(window, occurrences, headroom.size, now)) is not None
    ]
    largest = max(found, key=_largest, default=None)
    if largest is None and headroom.size.learns:
        return ActiveWindow(headroom.size)
    return largest


def has_begun(before: ActiveWindow | None, window: ActiveWindow | None) -> bool:
    """Say whether a window has started since another one, or none, was open."""
    if window is None or window.started_at is None:
        return False
    return before is None or before.started_at is None or before.started_at < window.started_at


def has_begun_since_told(headroom: Headroom, window: ActiveWindow | None) -> bool:
    """Whether a window has started since the status of the headroom was written."""
    told = headroom.status
    if window is None or window.started_at is None:
        return False
    if told.last_start is not None:
        return told.last_start < window.started_at
    lead = max(each.lead_time for each in headroom.schedule)
    return told.next_start is not None and told.next_start <= window.started_at + lead


def next_change(headroom: Headroom, now: datetime, calendar: Calendar) -> datetime | None:
    """Say when to look again: the next moment at which any window opens or ends."""
    moments = [
        moment
        for window, occurrences in _windows(headroom, calendar)
        for moment in _changes(window, occurrences, now)
        if moment > now
    ]
    return min(moments, default=None)


def next_start(headroom: Headroom, now: datetime, calendar: Calendar) -> datetime | None:
    """Say when the next window starts, as its cron expression has it (without lead time)."""
    starts = (occurrences.next(now) for _, occurrences in _windows(headroom, calendar))
    return min((start for start in starts if start is not None), default=None)


def judged(headroom: Headroom, calendar: Calendar) -> Headroom:
    """The headroom with one more problem for each window that can never open."""
    found = tuple(
        Problem(window.source or f"spec.schedule[{index}].{refused.field}", refused.message)
        for index, window in enumerate(headroom.schedule)
        if isinstance(refused := calendar(window.start, window.time_zone), WindowRefused)
    )
    return replace(headroom, problems=headroom.problems + found) if found else headroom


def _windows(headroom: Headroom, calendar: Calendar) -> Iterator[tuple[Window, Occurrences]]:
    """The windows that can open, each with its starts."""
    for window in headroom.schedule:
        occurrences = calendar(window.start, window.time_zone)
        if not isinstance(occurrences, WindowRefused):
            yield window, occurrences


def _active(
    window: Window, occurrences: Occurrences, usual: Size, now: datetime
) -> ActiveWindow | None:
    start = occurrences.latest(now + window.lead_time)
    # Of one window's starts the latest also ends last; if that is over, all are.
    if start is None or start + window.duration <= now:
        return None
    size = usual if window.replicas is None else usual.in_window(window.replicas)
    return ActiveWindow(size, start - window.lead_time, start + window.duration)


def _largest(active: ActiveWindow) -> tuple[int, datetime, datetime]:
    """Sort by count; where sizes are not counts they are all the headroom's own."""
    return active.size.number(0), active.started_at or _LONG_AGO, active.ends_at or _LONG_AGO


def _changes(window: Window, occurrences: Occurrences, now: datetime) -> Iterator[datetime]:
    opened = now + window.lead_time
    latest, following = occurrences.latest(opened), occurrences.next(opened)
    if latest is not None:
        yield latest + window.duration
    if following is not None:
        yield following - window.lead_time
