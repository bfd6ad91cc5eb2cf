"""A long run told to a file as it goes on, instead of kept in memory until its end.

The journal goes there line by line, and so do events about pods that have been gone for an hour: a
real API server forgets events after as long. The run itself is the same: a pod that is gone is not
spoken of again, so no event is missed that would have been counted up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from headroom.sim.api.store import Change, Store, Verb
from headroom.sim.api.values import Ref, dig, uid_of
from headroom.sim.loop import SimClock

Sink = Callable[[Mapping[str, Any]], None]
"""Takes one line: an entry of the journal, or `{"at", "event"}` with an event as it was."""

KEPT = 3600.0


class PastEvents:
    """Takes events about pods out of the store when their pods have been gone for long."""

    def __init__(self, store: Store, clock: SimClock, sink: Sink) -> None:
        self._store = store
        self._clock = clock
        self._sink = sink
        self._about: dict[str, list[Ref]] = {}
        self._gone: deque[tuple[float, str]] = deque()
        for event in store.list("Event"):
            self._on_event(store.news(event))
        store.listen("Event", self._on_event)
        store.listen("Pod", self._on_pod)

    def _on_event(self, change: Change) -> None:
        about = dig(change.obj, "involvedObject") or {}
        if change.verb is Verb.ADDED and about.get("kind") == "Pod":
            self._about.setdefault(str(about.get("uid")), []).append(change.ref)

    def _on_pod(self, change: Change) -> None:
        if change.verb is not Verb.DELETED:
            return
        now = self._clock.elapsed()
        self._gone.append((now, uid_of(change.obj)))
        while self._gone[0][0] <= now - KEPT:
            for ref in self._about.pop(self._gone.popleft()[1], ()):
                event = self._store.forget(ref)
                if event is not None:
                    self._sink({"at": round(now, 3), "event": event})
