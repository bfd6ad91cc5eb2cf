"""Limit how many log lines one object, and one namespace, may cause.

A line that names an object counts for that object and for its namespace, by event. Further lines
are dropped and counted, and a summary line says how many there were. Lines without an object are
never dropped, and neither are lines that a person must see.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import structlog
from structlog.typing import EventDict, WrappedLogger

from headroom.core.subjects import Topic
from headroom.runtime.buckets import Buckets

OBJECT_LINES = (10, 0.1)  # for one event: burst, and then rate per second
NAMESPACE_LINES = (100, 1.0)
MOST_TRACKED = 4096
NAMING_FACTS = ("about", "object", "owner", "parent", "subject", "namespace")
NEVER_DROPPED = frozenset({"bug", "leadership_lost"})


@dataclass(slots=True)
class LogLimits:
    """A structlog processor that drops lines above the limits."""

    clock: Callable[[], float] = time.monotonic
    _objects: Buckets = field(default_factory=lambda: Buckets(*OBJECT_LINES, MOST_TRACKED))
    _namespaces: Buckets = field(default_factory=lambda: Buckets(*NAMESPACE_LINES, MOST_TRACKED))
    _dropped: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, logger: WrappedLogger, method: str, facts: EventDict) -> EventDict:
        event = str(facts.get("event"))
        named = next((facts[name] for name in NAMING_FACTS if facts.get(name)), None)
        if named is None or event in NEVER_DROPPED or method == "debug":
            return facts
        about = _object_of(named)
        namespace = _namespace_of(about)
        now = self.clock()
        if self._objects.take((event, about), now) and (
            not namespace or self._namespaces.take((event, namespace), now)
        ):
            return facts
        self._dropped[event, namespace or about] += 1
        raise structlog.DropEvent

    def summaries(self) -> list[tuple[str, str, int]]:
        """What was dropped since the last call: event, namespace (or object) and how often."""
        found = sorted((event, where, count) for (event, where), count in self._dropped.items())
        self._dropped.clear()
        return found


def _object_of(named: object) -> str:
    """The object that a line names, as text; of several subjects the hold, or the last."""
    if isinstance(named, str) or not isinstance(named, Iterable):
        return str(named)
    subjects = [str(each) for each in named]
    return next((each for each in subjects if each.startswith("hold ")), (subjects or [""])[-1])


def _namespace_of(about: str) -> str:
    """From `namespace/name`, `Kind/namespace/name…`, or a subject with its kind in front."""
    topic, spaced, name = about.partition(": ")[0].partition(" ")
    if spaced:
        if topic == Topic.INDEX:
            return name
        if topic in (Topic.POD, Topic.FOLLOW):
            return name.partition("/")[0]
        return name.split("/", 2)[1] if name.count("/") >= 2 else ""
    parts = topic.split("/")
    return parts[1] if len(parts) >= 3 else parts[0] if len(parts) == 2 else ""
