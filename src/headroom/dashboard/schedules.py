"""The schedule windows within a time span, past and future. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from headroom.core.headrooms.headrooms import Headroom, Window
from headroom.core.headrooms.windows import WindowRefused
from headroom.engine.cron import calendar
from headroom.wire.times import format_time

AHEAD = timedelta(hours=24)
MOST_OF_ONE = 100
MOST = 1000


def windows(
    headrooms: Iterable[Headroom], since: datetime, until: datetime
) -> list[dict[str, Any]]:
    """Every window that is open at some time of a span, by headroom and time."""
    found: list[dict[str, Any]] = []
    for headroom in sorted(headrooms, key=lambda each: each.parent.whole):
        for window in headroom.schedule:
            found += [
                {
                    "object": headroom.parent.whole,
                    "namespace": headroom.parent.namespace,
                    "opens": format_time(start - window.lead_time),
                    "start": format_time(start),
                    "ends": format_time(start + window.duration),
                    "replicas": window.replicas,
                }
                for start in _starts(window, since, until)
            ]
            if len(found) >= MOST:
                return found[:MOST]
    return found


def _starts(window: Window, since: datetime, until: datetime) -> list[datetime]:
    occurrences = calendar(window.start, window.time_zone)
    if isinstance(occurrences, WindowRefused):
        return []
    starts: list[datetime] = []
    moment = occurrences.next(since - window.duration)
    while moment is not None and moment - window.lead_time < until and len(starts) < MOST_OF_ONE:
        if moment + window.duration > since:
            starts.append(moment)
        moment = occurrences.next(moment)
    return starts
