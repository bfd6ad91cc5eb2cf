"""A headroom's schedule in words: since when, until when, what next.

Each window is evaluated on its own, with the operator's calendar. Its times are shown in its own
time zone, which its author uses.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headroom.cli.spans import length
from headroom.core.headrooms.headrooms import Headroom, Window
from headroom.core.headrooms.windows import WindowRefused, active, next_start
from headroom.core.sizes.kind import slots_told
from headroom.engine.cron import calendar, zone_named


def windows_told(headroom: Headroom, now: datetime) -> list[str]:
    """One sentence for each window; none without a schedule."""
    return [_window_told(headroom, window, now) for window in headroom.schedule]


def _window_told(headroom: Headroom, window: Window, now: datetime) -> str:
    name = f"{window.start} ({window.time_zone})"
    if isinstance(refused := calendar(window.start, window.time_zone), WindowRefused):
        return f"{name} never opens: {refused.message}"
    alone = replace(headroom, schedule=(window,))
    size = f", for {slots_told(window.replicas)}" if window.replicas is not None else ""
    following = next_start(alone, now, calendar)
    again = f"next start {moment_told(following, now, window.time_zone)}" if following else ""
    lead = f", held {length(window.lead_time)} earlier" if window.lead_time else ""
    open_now = active(alone, now, calendar)
    if open_now is None:
        return f"{name} is closed{size}; {again or 'it never starts again'}{lead}"
    since = moment_told(open_now.started_at, now, window.time_zone)
    told = f"{name} is open{size}: since {since}"
    ends = open_now.ends_at
    if following is None or ends is None or ends < following:  # Otherwise it starts again first.
        told += f", until {moment_told(ends, now, window.time_zone)}"
    return f"{told}; {again}{lead}" if again else told


def moment_told(moment: datetime | None, now: datetime, zone: str = "UTC") -> str:
    """A time in a time zone, and how far away it is; UTC if the zone does not exist."""
    if moment is None:
        return "always"
    there = moment.astimezone(zone_named(zone) or UTC)
    away = moment - now
    far = f"in {length(away)}" if away >= timedelta(0) else f"{length(-away)} ago"
    return f"{there:%a %Y-%m-%d %H:%M} ({far})"
