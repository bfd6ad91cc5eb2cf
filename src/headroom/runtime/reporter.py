"""Reports of the driver about its work: to logs and metrics, or to nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from headroom.core.actions import (
    Action,
    CreateGuardian,
    CreateSlotObject,
    Denied,
    Done,
    Invalid,
    Outcome,
    Tell,
    Unavailable,
)
from headroom.core.plan import Plan, Sequence, Work
from headroom.engine.error_isolation.quarantine import Contained
from headroom.errors import described, place_of
from headroom.ports import Event, Seen
from headroom.runtime.http import Health
from headroom.runtime.logs import LogEvent, get_logger
from headroom.runtime.metrics import Metrics
from headroom.throttle import Throttle

DOORS = {Work.DOOR1: "1", Work.DOOR2: "2"}


Failed = tuple[tuple[Action, Outcome], ...]
"""The writes at which a sequence stopped, with the answers; empty if it was completed."""

MOST_TOLD = 3


class Reporter(Protocol):
    """Receives reports of everything the driver does; must be fast and must not fail."""

    def observed(self, event: Event) -> None: ...
    def synced(self) -> None: ...
    def leading(self, leads: bool) -> None: ...
    def ready(self) -> None: ...
    def planned(self, plan: Plan, seconds: float) -> None: ...
    def acted(self, action: Action, outcome: Outcome) -> None: ...
    def finished(self, sequence: Sequence, failed: Failed, seconds: float) -> None: ...
    def contained(self, contained: Contained) -> None: ...
    def bug(self, error: BaseException | None) -> None: ...


class NullReporter:
    """Ignores all reports."""

    def observed(self, event: Event) -> None:
        return

    def synced(self) -> None:
        return

    def leading(self, leads: bool) -> None:
        return

    def ready(self) -> None:
        return

    def planned(self, plan: Plan, seconds: float) -> None:
        return

    def acted(self, action: Action, outcome: Outcome) -> None:
        return

    def finished(self, sequence: Sequence, failed: Failed, seconds: float) -> None:
        return

    def contained(self, contained: Contained) -> None:
        return  # See `Operator.contained`; simulations count each as a violation.

    def bug(self, error: BaseException | None) -> None:
        if error is not None:
            raise error


class LiveReport:
    """Logs and metrics of a live operator; `announce` is called once it is ready."""

    def __init__(self, metrics: Metrics, health: Health, announce: Callable[[], None]) -> None:
        self._metrics = metrics
        self._health = health
        self._announce = announce
        self._log = get_logger().bind()  # Once: a logger that is not bound is built at each line.
        self._writes_debug = self._log.is_enabled_for(logging.DEBUG)
        self._throttle = Throttle()

    def observed(self, event: Event) -> None:
        what = type(event.thing) if isinstance(event, Seen) else type(event)
        self._metrics.watch_events.counts[what.__name__,] += 1

    def synced(self) -> None:
        self._health.synced = True
        self._metrics.synced.set(1)
        self._log.info(LogEvent.SYNCED)

    def leading(self, leads: bool) -> None:
        self._health.leading = leads
        self._metrics.leader.set(1 if leads else 0)
        if leads:
            self._log.info(LogEvent.LEADING)
        else:
            self._log.error(LogEvent.LEADERSHIP_LOST)

    def ready(self) -> None:
        self._log.info(LogEvent.READY)
        self._announce()

    def planned(self, plan: Plan, seconds: float) -> None:
        self._metrics.plan_seconds.observe(seconds)
        self._log.debug(LogEvent.PLAN, sequences=len(plan.sequences), wake_at=plan.wake_at)

    def acted(self, action: Action, outcome: Outcome) -> None:
        kind, result = type(action).__name__, type(outcome).__name__
        self._metrics.actions.counts[kind, result] += 1
        if isinstance(outcome, Done):
            if self._writes_debug:  # Most writes succeed, and most operators log no such line.
                self._log.debug(LogEvent.ACTION, action=kind, about=_about(action))
        elif isinstance(outcome, Denied | Invalid):
            event = LogEvent.DENIED if isinstance(outcome, Denied) else LogEvent.INVALID
            self._log.error(event, action=kind, about=_about(action), why=outcome.message)
        elif isinstance(outcome, Unavailable):
            event, why = LogEvent.UNAVAILABLE, outcome.message
            self._log.warning(event, action=kind, about=_about(action), why=why)
        else:
            self._log.debug(LogEvent.ACTION, action=kind, about=_about(action), outcome=result)

    def finished(self, sequence: Sequence, failed: Failed, seconds: float) -> None:
        door = DOORS.get(sequence.work)
        if door is None:
            return
        about = tuple(map(str, sequence.subjects))
        if not failed:
            self._metrics.handover.labels(door).observe(seconds)
            self._metrics.hits.inc()
            self._log.info(LogEvent.CLAIMED, door=door, seconds=round(seconds, 4), about=about)
        else:
            why = [_told(action, outcome) for action, outcome in failed[:MOST_TOLD]]
            self._log.warning(LogEvent.HANDOVER_FAILED, door=door, about=about, why=why)

    def contained(self, contained: Contained) -> None:
        self._metrics.contained.labels(contained.where).inc()
        if self._throttle.allows(str(contained.subject), time.monotonic()):
            self._log.error(
                LogEvent.CONTAINED,
                where=contained.where,
                about=str(contained.subject),
                why=described(contained.error),
                at=place_of(contained.error),
                left_out=self._throttle.take_dropped(),
            )

    def bug(self, error: BaseException | None) -> None:
        self._health.failed = str(error)
        self._log.error(LogEvent.BUG, exc_info=error)


def _told(action: Action, outcome: Outcome) -> str:
    answer = type(outcome).__name__
    if not isinstance(outcome, Done) and outcome.message:
        answer = f"{answer}: {outcome.message}"
    return f"{type(action).__name__} {_about(action)}: {answer}"


def _about(action: Action) -> str:
    if isinstance(action, Tell):
        return f"{action.kind}/{action.about}: {action.reason}"
    if isinstance(action, CreateGuardian | CreateSlotObject):
        return str(action.hold.parent)  # Their names alone do not show their parent.
    for name in ("key", "parent", "name", "namespace"):
        if hasattr(action, name):
            return str(getattr(action, name))
    return ""
