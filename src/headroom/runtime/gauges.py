"""Metrics that are calculated from the observed state: holds, held room, waiting times.

`Gauges` receives the same events as the engine and never decides. Gauges are set on request
(`refresh`, before a scrape), because a cluster changes far more often than it is scraped. Waiting
times are measured by our own clock, because the API server's timestamps have whole seconds only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from headroom.core.actions import Action, Disclaim, Done, Outcome, Tell
from headroom.core.headrooms.headrooms import Headroom, HeadroomStatus
from headroom.core.holds import Hold
from headroom.core.names import (
    CLAIM_GATE,
    CLAIMED_ANNOTATION,
    ROLE_GUARDIAN,
    ROLE_LABEL,
    SCHEDULER_NAME,
)
from headroom.core.objects import Key, Pod
from headroom.core.promise.report import PROMISE_KEPT
from headroom.core.resources import CPU, EMPTY, Resources
from headroom.ports import Clock, Event, Lost, Seen
from headroom.runtime.http import Health
from headroom.runtime.logs import LogEvent, get_logger
from headroom.runtime.metrics import Metrics
from headroom.runtime.reporter import LiveReport

CORE = 1000
WORLD_CHANGES = {
    "Held": LogEvent.SLOT_HELD,
    "Replaced": LogEvent.SLOT_LOST,
    "Returned": LogEvent.RETURNED,
    "Expired": LogEvent.EXPIRED,
    "NotMatched": LogEvent.MISSED,
}


@dataclass(frozen=True, slots=True)
class WaitingOwner:
    """A waiting owner: since when we know it, and whether it had our gate."""

    since: datetime
    gated: bool


class Gauges:
    """Counts from observed events; it remembers only waiting owners and existing holds."""

    def __init__(self, metrics: Metrics, clock: Clock) -> None:
        self._metrics = metrics
        self._clock = clock
        self._waiting: dict[str, WaitingOwner] = {}
        self._holds: dict[str, Hold] = {}
        self._headrooms: dict[str, HeadroomStatus] = {}
        self._new_holds: dict[str, datetime] = {}
        self._synced = False
        self.listeners: list[Callable[[Event], None]] = []  # each is fast and never fails

    def see(self, event: Event) -> None:
        """Observe an event."""
        for listener in self.listeners:
            listener(event)
        match event:
            case Seen(Pod() as pod):
                self._see_pod(pod)
            case Seen(Hold() as hold):
                self._see_hold(hold)
            case Seen(Headroom() as headroom):
                self._headrooms[str(headroom.parent)] = headroom.status
            case Lost(Headroom(parent=parent)):
                self._headrooms.pop(str(parent), None)
            case Lost(Pod(uid=uid)):
                self._waiting.pop(uid, None)
            case Lost(Hold(parent=parent)):
                self._holds.pop(str(parent), None)
                self._new_holds.pop(str(parent), None)

    def synced(self) -> None:
        """The first list is complete: waiting times of newer pods can be measured."""
        self._synced = True

    def refresh(self, pods: Mapping[Key, Pod]) -> None:
        """Set the gauges to their current values."""
        phases = Counter(hold.status.phase or "Pending" for hold in self._holds.values())
        self._metrics.count_holds(phases)
        statuses = self._headrooms.values()
        held, pending = sum(each.held for each in statuses), sum(each.pending for each in statuses)
        self._metrics.count_slots(held, pending)
        told = (each for status in statuses for each in status.conditions)
        kept = Counter(each.status for each in told if each.type == PROMISE_KEPT)
        self._metrics.count_promises(kept)
        room = EMPTY
        for pod in pods.values():
            if pod.occupies_node and pod.labels.get(ROLE_LABEL) == ROLE_GUARDIAN:
                room = room + pod.requests
        self._set_held(room)

    def _set_held(self, held: Resources) -> None:
        self._metrics.held.clear()
        for name in sorted(held):
            self._metrics.held.labels(name).set(held[name] / CORE if name == CPU else held[name])

    def _see_pod(self, pod: Pod) -> None:
        gated = CLAIM_GATE in pod.gates
        known = self._waiting.get(pod.uid)
        if pod.node:
            self._waiting.pop(pod.uid, None)
            if known is not None and CLAIMED_ANNOTATION in pod.annotations:
                waited = (self._clock.now() - known.since).total_seconds()
                self._metrics.owner_wait.observe(waited)
        elif known is None:
            if self._synced and (gated or pod.scheduler == SCHEDULER_NAME):
                self._waiting[pod.uid] = WaitingOwner(self._clock.now(), gated)
        elif known.gated and not gated and CLAIMED_ANNOTATION not in pod.annotations:
            self._metrics.misses.inc()
            del self._waiting[pod.uid]

    def _see_hold(self, hold: Hold) -> None:
        parent = str(hold.parent)
        new = self._synced and parent not in self._holds
        self._holds[parent] = hold
        if hold.status.phase == "Available" and parent in self._new_holds:
            waited = (self._clock.now() - self._new_holds.pop(parent)).total_seconds()
            self._metrics.time_to_held.observe(waited)
        elif new and not hold.status.phase:
            self._new_holds[parent] = self._clock.now()


class CountingChronicle(LiveReport):
    """Logs and metrics, together with a census."""

    def __init__(
        self, metrics: Metrics, health: Health, announce: Callable[[], None], census: Gauges
    ) -> None:
        super().__init__(metrics, health, announce)
        self._stolen = metrics.stolen
        self._census = census

    def observed(self, event: Event) -> None:
        super().observed(event)
        self._census.see(event)

    def synced(self) -> None:
        super().synced()
        self._census.synced()

    def acted(self, action: Action, outcome: Outcome) -> None:
        super().acted(action, outcome)
        if not isinstance(outcome, Done):
            return
        if isinstance(action, Disclaim):
            self._stolen.inc()
            get_logger().error(LogEvent.STOLEN, owner=action.key)
        elif isinstance(action, Tell) and action.reason in WORLD_CHANGES:
            event, about = WORLD_CHANGES[action.reason], f"{action.kind}/{action.about}"
            level = "warning" if action.type == "Warning" else "info"
            getattr(get_logger(), level)(event, about=about, message=action.message)
