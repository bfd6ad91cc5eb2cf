"""Write the journal of a long run into a file during the run, instead of keeping it in memory.

Journal entries are written line by line, and so are events about pods that were deleted an hour
ago: a real API server deletes events after an hour too. The run itself does not change: no event
about a deleted pod is written later, so no event is missed whose count would have grown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from headroom.sim.api.store import COMING, GOING, ObjectChange, Store, Verb
from headroom.sim.api.values import Ref, dig, uid_of
from headroom.sim.loop import SimClock

Sink = Callable[[Mapping[str, Any]], None]
"""Receives one line: an entry of the journal, or `{"at", "event"}` with an event."""

KEPT = 3600.0


class PastEvents:
    """Removes events from the store when their pods were deleted long ago."""

    def __init__(self, store: Store, clock: SimClock, sink: Sink) -> None:
        self._store = store
        self._clock = clock
        self._sink = sink
        self._about: dict[str, list[Ref]] = {}
        self._gone: deque[tuple[float, str]] = deque()
        for event in store.list("Event"):
            self._on_event(store.as_added(event))
        store.listen("Event", self._on_event, COMING)
        store.listen("Pod", self._on_pod, GOING)

    def _on_event(self, change: ObjectChange) -> None:
        about = dig(change.obj, "involvedObject") or {}
        if change.verb is Verb.ADDED and about.get("kind") == "Pod":
            self._about.setdefault(str(about.get("uid")), []).append(change.ref)

    def _on_pod(self, change: ObjectChange) -> None:
        if change.verb is not Verb.DELETED:
            return
        now = self._clock.elapsed()
        self._gone.append((now, uid_of(change.obj)))
        while self._gone[0][0] <= now - KEPT:
            for ref in self._about.pop(self._gone.popleft()[1], ()):
                event = self._store.forget(ref)
                if event is not None:
                    self._sink({"at": round(now, 3), "event": event})
