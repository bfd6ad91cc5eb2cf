"""Report an exception of a decision on its object: an event, and a condition if it has any.

The status stays as it was, except for `Degraded`: existing room stays held. The next decision that
succeeds writes the status again. An exception about a slot is reported on its headroom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from headroom.core.actions import Tell
from headroom.core.conditions import conditions_of
from headroom.core.objects import Condition, Key, Parent
from headroom.core.plan import Sequence, event_sequence
from headroom.core.subjects import Topic
from headroom.engine.error_isolation.quarantine import Contained
from headroom.engine.ledger import Ledger
from headroom.engine.status_writer import StatusWriter
from headroom.errors import described

REASON = "InternalError"
ADVICE = "this is a bug in headroom, please report it; others are not affected"


class ErrorReporter:
    """Reports contained exceptions on the objects that they concern."""

    def __init__(self, ledger: Ledger, statuses: StatusWriter) -> None:
        self._ledger = ledger
        self._statuses = statuses

    def of(self, contained: Contained, now: datetime) -> Iterator[Sequence]:
        """The writes that report an exception; none for a subject that is not an object."""
        message = f"left alone for a while after {described(contained.error)}; {ADVICE}"
        subject = contained.subject
        if isinstance(subject, str):
            return
        if subject.topic is Topic.POD:
            pod = self._ledger.pods.get(subject.key)
            if pod is not None:
                yield _tell("v1", "Pod", pod.key, pod.uid, message, now)
        elif subject.topic in (Topic.HOLD, Topic.STATUS):
            yield from self._hold(subject.identity, message, now)
        elif subject.topic in (Topic.HEADROOM, Topic.ANNOUNCE):
            yield from self._headroom(subject.identity, message, now)

    def _hold(self, name: str, message: str, now: datetime) -> Iterator[Sequence]:
        hold = self._ledger.holds.get(name)
        if hold is None:
            return
        if hold.slot:
            yield from self._headroom(hold.parent.whole, f"slot {hold.slot}: {message}", now)
            return
        yield _tell_parent(hold.parent, message, now)
        conditions = _degraded(hold.status.conditions, message, now, hold.generation)
        status = replace(hold.status, conditions=conditions)
        yield from self._statuses.publish(hold, status, {}, now)

    def _headroom(self, name: str, message: str, now: datetime) -> Iterator[Sequence]:
        headroom = self._ledger.slots.headrooms.get(name)
        if headroom is None:
            return
        yield _tell_parent(headroom.parent, message, now)
        conditions = _degraded(headroom.status.conditions, message, now, headroom.generation)
        status = replace(headroom.status, conditions=conditions)
        yield from self._statuses.publish_headroom(headroom, status, now)


def _degraded(
    before: tuple[Condition, ...], message: str, now: datetime, generation: int
) -> tuple[Condition, ...]:
    told = conditions_of((("Degraded", "True", REASON, message),), (), generation, now)
    return (*(each for each in before if each.type != "Degraded"), *told)


def _tell_parent(parent: Parent, message: str, now: datetime) -> Sequence:
    about = Key(parent.namespace, parent.name)
    return _tell(parent.api_version, parent.kind, about, parent.uid, message, now)


def _tell(
    api_version: str, kind: str, about: Key, uid: str, message: str, now: datetime
) -> Sequence:
    tell = Tell(api_version, kind, about, uid, "Warning", REASON, message, now)
    return event_sequence(tell)
