"""Take events out of the store when nothing can happen to them any more.

These are events about pods that were deleted an hour ago: a real API server deletes events after an
hour too. The run itself does not change: no event about a deleted pod is written later, so no event
is missed whose count would have grown. The events are kept in little memory for the result, or
written line by line into the file for the journal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from headroom.sim.api.store import COMING, GOING, ObjectChange, Store, Verb
from headroom.sim.api.values import Json, Ref, ref_of, uid_of
from headroom.sim.loop import SimClock
from headroom.sim.scenarios.packed_log import PackedLog

Sink = Callable[[Mapping[str, Any]], None]
"""Receives one line: an entry of the journal, or `{"at", "event"}` with an event."""

KEPT = 3600.0


class PastEvents:
    """Removes events from the store when their pods were deleted long ago."""

    def __init__(self, store: Store, clock: SimClock) -> None:
        self._store = store
        self._clock = clock
        self._sink: Sink | None = None
        self._about: dict[str, list[Ref]] = {}
        self._gone: deque[tuple[float, str]] = deque()
        self._number = 0
        self._numbers: dict[Ref, int] = {}  # of the events in the store, in order of creation
        self._log = PackedLog()
        self._logged: list[int] = []  # the numbers of the events in the log
        for event in store.list("Event"):
            self._on_event(store.as_added(event))
        store.listen("Event", self._on_event, COMING)
        store.listen("Pod", self._on_pod, GOING)

    def divert(self, sink: Sink) -> None:
        """Pass past events to a function from now on, instead of keeping them."""
        self._sink = sink

    def all_events(self) -> Sequence[Json]:
        """Past and current events, in the order in which they were first recorded."""
        found: list[tuple[int, Json | int]] = []
        for event in self._store.list("Event"):
            found.append((self._numbers[ref_of(event)], event))
        found += ((number, place) for place, number in enumerate(self._logged))
        found.sort(key=lambda each: each[0])
        return _Events(self._log, [event for _, event in found])

    def _on_event(self, change: ObjectChange) -> None:
        if change.verb is not Verb.ADDED:
            return
        self._number += 1
        self._numbers[change.ref] = self._number
        about = change.obj.get("involvedObject") or {}
        if about.get("kind") == "Pod":
            self._about.setdefault(str(about.get("uid")), []).append(change.ref)

    def _on_pod(self, change: ObjectChange) -> None:
        if change.verb is not Verb.DELETED:
            return
        now = self._clock.elapsed()
        self._gone.append((now, uid_of(change.obj)))
        while self._gone[0][0] <= now - KEPT:
            for ref in self._about.pop(self._gone.popleft()[1], ()):
                self._take_out(ref, now)

    def _take_out(self, ref: Ref, now: float) -> None:
        event = self._store.forget(ref)
        if event is None:
            return
        number = self._numbers.pop(ref)
        if self._sink is not None:
            self._sink({"at": round(now, 3), "event": event})
            return
        self._log.append(event)
        self._logged.append(number)


class _Events(Sequence[Json]):
    """Events, of which some are in a log: these are given by their places in it."""

    def __init__(self, log: PackedLog, events: list[Json | int]) -> None:
        self._log = log
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, index: int) -> Json: ...
    @overload
    def __getitem__(self, index: slice) -> list[Json]: ...
    def __getitem__(self, index: int | slice) -> Json | list[Json]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        event = self._events[index]
        return self._log[event] if isinstance(event, int) else event
