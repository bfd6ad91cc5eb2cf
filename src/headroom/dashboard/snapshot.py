"""Build a whole snapshot: rows, timeline, windows and source. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headroom.core.headrooms.headrooms import Headroom
from headroom.dashboard.document import Document
from headroom.dashboard.page_state import Book
from headroom.dashboard.schedules import AHEAD, windows
from headroom.dashboard.timeline import Timeline
from headroom.dashboard.view import ClusterView
from headroom.wire.times import format_time

LIVE, SIMULATION, FILE = "live", "simulation", "file"
WINDOWS_KEPT_S = 60


@dataclass(slots=True)
class Windows:
    """The windows to show; calculated again once a minute, or when a schedule has changed."""

    _key: tuple[object, ...] = ()
    _found: list[dict[str, Any]] = field(default_factory=list)

    def of(
        self, headrooms: Iterable[Headroom], now: datetime, begins: int | None
    ) -> list[dict[str, Any]]:
        scheduled = [each for each in headrooms if each.schedule and each.served]
        minute = int(now.timestamp()) // WINDOWS_KEPT_S
        key = (minute, begins, *((each.parent.whole, each.schedule) for each in scheduled))
        if key != self._key:
            since = datetime.fromtimestamp(begins, UTC) if begins is not None else now
            self._key = key
            self._found = windows(scheduled, min(since, now), now + AHEAD)
        return self._found


def picture(
    view: ClusterView, book: Book, timeline: Timeline, windows_: Windows, source: tuple[str, str]
) -> Document:
    """All data of the page, without format and revision."""
    kind, name = source
    return {
        "source": {"kind": kind, "name": name},
        "at": format_time(view.now),
        **book.sections(),
        "timeline": timeline.section(),
        "windows": windows_.of(view.headrooms.values(), view.now, timeline.begins),
    }
