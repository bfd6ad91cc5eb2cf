"""The history of a cluster: a bounded list of samples that becomes coarser as it grows.

A sample has the numbers of wanted, held, claimed and waiting slots at a time, how many owners had
found no slot until then, and the promises: the owners of the last hour, and the late ones. If there
are too many samples, every second one is dropped, so that the timeline keeps its whole length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headroom.core.claims import claim_of
from headroom.core.names import ROLE_LABEL
from headroom.core.objects import Pod
from headroom.dashboard.view import ClusterView

MOST = 600


class Sample(NamedTuple):
    """The numbers at one time."""

    wanted: int
    held: int
    claimed: int
    waiting: int
    misses: int
    owners: int = 0
    late: int = 0


LINES, FIELDS = Sample._fields[:5], Sample._fields


class Timeline:
    """Samples by the second since 1970."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._samples: dict[int, list[int]] = {}

    def add(self, at: datetime, sample: Sample) -> None:
        """Add a sample; it replaces one of the same second."""
        second = int(at.timestamp())
        self._samples.pop(second, None)
        self._samples[second] = list(sample)
        if len(self._samples) > self._most:
            kept = list(self._samples.items())
            # The newest always stays, because it is the current state.
            self._samples = dict(kept[:-1:2]) | dict(kept[-1:])

    def section(self) -> dict[str, list[int]]:
        """The samples for the page."""
        return {str(second): row for second, row in self._samples.items()}

    @property
    def begins(self) -> int | None:
        return next(iter(self._samples), None)


def sample_of(view: ClusterView, claimed: int, waiting: int) -> Sample:
    """The numbers of a view, from the statuses of objects."""
    statuses = [headroom.status for headroom in view.headrooms.values() if headroom.served]
    holds = [hold for hold in view.holds.values() if not hold.slot and hold.member is None]
    standing = [hold for hold in holds if not hold.terminal]
    hours = [each.promise.last_hour for each in statuses if each.promise is not None]
    return Sample(
        wanted=sum(each.desired for each in statuses) + len(standing),
        held=sum(each.held for each in statuses)
        + sum(1 for hold in standing if hold.status.phase == "Available"),
        claimed=claimed,
        waiting=waiting,
        misses=sum(each.misses for each in statuses),
        owners=sum(hour.pods for hour in hours),
        late=sum(hour.misses for hour in hours),
    )


def counted(pods: Iterable[Pod]) -> tuple[int, int]:
    """How many pods use room that was held for them, and how many ordinary pods wait."""
    claimed = waiting = 0
    for pod in pods:
        if pod.occupies_node and claim_of(pod) is not None and ROLE_LABEL not in pod.labels:
            claimed += 1
        elif not pod.node and not pod.finished and ROLE_LABEL not in pod.labels:
            waiting += 1
    return claimed, waiting


def from_journal(
    journal: Iterable[Mapping[str, Any]], start: datetime, end: datetime | None = None
) -> Timeline:
    """The timeline of a simulation's result, from its journal."""
    reading = _Reading()
    timeline = Timeline()
    second: int | None = None
    began = start.timestamp()
    for entry in journal:
        at = entry.get("at")
        if not isinstance(at, int | float):
            continue
        moment = int(began + at)
        if second is not None and moment != second:
            timeline.add(datetime.fromtimestamp(second, start.tzinfo), reading.sample())
        second = moment
        reading.take(entry)
    if second is not None:
        timeline.add(datetime.fromtimestamp(second, start.tzinfo), reading.sample())
    if end is not None and (second is None or end.timestamp() > second):
        timeline.add(end, reading.sample())
    return timeline


class _Reading:
    """The state after the journal entries so far."""

    def __init__(self) -> None:
        self._guardians: dict[str, bool] = {}
        self._pods: dict[str, bool] = {}
        self._aside: set[str] = set()
        self._claims: set[str] = set()
        self._wished: dict[str, int] = {}
        self._missed: dict[str, int] = {}
        self._hours: dict[str, tuple[int, int]] = {}

    def take(self, entry: Mapping[str, Any]) -> None:
        what, name = str(entry.get("what", "")), str(entry.get("object", ""))
        if what == "pod_created":
            role = entry.get("role")
            if role == "guardian":
                self._guardians[name] = False
            elif role:
                self._aside.add(name)
            else:
                self._pods[name] = False
        elif what == "pod_bound":
            for group in (self._guardians, self._pods):
                if name in group:
                    group[name] = True
        elif what == "pod_claimed":
            self._claims.add(name)
        elif what in ("pod_deleted", "pod_finished", "pod_rejected"):
            self._guardians.pop(name, None)
            self._pods.pop(name, None)
            self._claims.discard(name)
        else:
            self._wish(what, name, entry)

    def _wish(self, what: str, name: str, entry: Mapping[str, Any]) -> None:
        if what.endswith("_held") and isinstance(entry.get("desired"), int):
            self._wished[name] = entry["desired"]
        elif what.endswith("_missed"):
            self._missed[name] = _count(entry, "misses")
        elif what.endswith("_promise"):
            self._hours[name] = (_count(entry, "owners"), _count(entry, "late"))
        elif what in ("hold_created", "reservation_created", "ticket_created"):
            self._wished[name] = 1
        elif what.endswith("_deleted") or entry.get("phase") in ("Succeeded", "Failed"):
            for known in (self._wished, self._missed, self._hours):
                known.pop(name, None)

    def sample(self) -> Sample:
        return Sample(
            wanted=sum(self._wished.values()),
            held=sum(self._guardians.values()),
            claimed=sum(1 for name in self._claims if self._pods.get(name)),
            waiting=sum(1 for bound in self._pods.values() if not bound),
            misses=sum(self._missed.values()),
            owners=sum(owners for owners, _ in self._hours.values()),
            late=sum(late for _, late in self._hours.values()),
        )


def _count(entry: Mapping[str, Any], name: str) -> int:
    value = entry.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
