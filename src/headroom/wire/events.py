"""core/v1 Events about objects; a repeated event increases a count and creates no new object.

`event_create` renders one Tell; an `EventRecorder`, one per adapter, remembers the latest ones
(bounded) and turns a repeat into a patch of the event that is there already.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from headroom.core.actions import Tell
from headroom.core.derived_names import short_hash
from headroom.wire.kinds import EVENTS, Json
from headroom.wire.times import format_micro_time, format_time
from headroom.wire.writes import MERGE_PATCH, Write

COMPONENT = "headroom"
_LONGEST_MESSAGE = 1024
_LONGEST_NAME = 253 - 9
_IDENTITY = 16  # bytes of a hash: no two Tells of a lifetime are taken for one


def event_namespace(tell: Tell) -> str:
    """Where an event lives: with its object, or in `default` for what is cluster-scoped."""
    return tell.about.namespace or "default"


def event_name(tell: Tell) -> str:
    """Name an event: the same for the same Tell, another for the same thing told another time."""
    return _named(tell, _suffix(tell))


def _suffix(tell: Tell) -> str:
    parts = (tell.kind, tell.uid, tell.type, tell.reason, tell.message)
    return short_hash(*parts, str(tell.about), format_micro_time(tell.at))


def _named(tell: Tell, suffix: str) -> str:
    return f"{tell.about.name[:_LONGEST_NAME].rstrip('-.')}.{suffix}"


def event_create(tell: Tell) -> Write:
    """Render a Tell as a new event."""
    at = format_time(tell.at)
    involved = {
        "apiVersion": tell.api_version,
        "kind": tell.kind,
        "namespace": tell.about.namespace,
        "name": tell.about.name,
        "uid": tell.uid,
    }
    body = EVENTS.new(
        {"name": event_name(tell), "namespace": event_namespace(tell)},
        involvedObject={field: text for field, text in involved.items() if text},
        type=tell.type,
        reason=tell.reason,
        message=_shortened(tell.message),
        count=1,
        firstTimestamp=at,
        lastTimestamp=at,
        source={"component": COMPONENT},
        reportingComponent=COMPONENT,
        reportingInstance=COMPONENT,
    )
    return Write("create", EVENTS, event_namespace(tell), "", body)


def _shortened(message: str) -> str:
    """Cut a message that the API server would refuse for its length."""
    text = message.encode()
    if len(text) <= _LONGEST_MESSAGE:
        return message
    return text[: _LONGEST_MESSAGE - 3].decode(errors="ignore") + "…"


@dataclass(slots=True)
class _Told:
    suffix: str  # of the event's name
    count: int


class EventRecorder:
    """Remembers what was told lately; the least recently told is forgotten first.

    Messages are long and most are told once: what is remembered of each is a hash and a suffix.
    """

    def __init__(self, limit: int = 4096) -> None:
        self._limit = limit
        self._told: OrderedDict[bytes, _Told] = OrderedDict()

    def write(self, tell: Tell) -> Write:
        """Render a Tell: a new event, or one more on the count of the event that is there."""
        identity = _identity(tell)
        told = self._told.get(identity)
        if told is None:
            return self._first(tell, identity)
        told.count += 1
        self._told.move_to_end(identity)
        body: Json = {"count": told.count, "lastTimestamp": format_time(tell.at)}
        name = _named(tell, told.suffix)
        return Write("patch", EVENTS, event_namespace(tell), name, body, content_type=MERGE_PATCH)

    def forget(self, tell: Tell) -> None:
        """Take note that the event is gone (events expire): the next one is made anew."""
        self._told.pop(_identity(tell), None)

    def _first(self, tell: Tell, identity: bytes) -> Write:
        self._told[identity] = _Told(_suffix(tell), 1)
        if len(self._told) > self._limit:
            self._told.popitem(last=False)
        return event_create(tell)

    def __len__(self) -> int:
        return len(self._told)


def _identity(tell: Tell) -> bytes:
    parts = (tell.api_version, tell.kind, str(tell.about), tell.uid, tell.type, tell.reason)
    return hashlib.sha256("\0".join((*parts, tell.message)).encode()).digest()[:_IDENTITY]
