"""How long each pod waited for its node, and how it ended: one record for each pod, and sums.

All pods count. A pod that still waits counts with its waiting time so far; a pod that was deleted
before it had a node counts with the time until then. Otherwise a cluster in which almost no pod
starts would have the best waiting times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Any

from headroom.sim.api.values import Json

PREEMPTION = "PreemptionByScheduler"


class End(StrEnum):
    """How a pod was ended from outside."""

    EVICTED = "evicted"
    PREEMPTED = "preempted"
    FAILED = "failed"


@dataclass(slots=True)
class Stay:
    """One pod: when it was created, until when it waited (None: it still waits), how it ended."""

    workload: str
    created: float
    owner: bool = False
    until: float | None = None
    started: bool = False
    end: End | None = None

    def waited(self, now: float) -> float:
        return (now if self.until is None else self.until) - self.created


def end_of(pod: Json) -> End | None:
    """How a pod ended or is about to end; None while it runs normally.

    A disruption counts once: in Kubernetes, most evicted pods also fail.
    """
    status = pod.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionTarget":
            if condition.get("status") == "True":
                preempted = condition.get("reason") == PREEMPTION
                return End.PREEMPTED if preempted else End.EVICTED
            break
    return End.FAILED if status.get("phase") == "Failed" else None


def summed(records: Iterable[Stay], now: float) -> dict[str, Any]:
    """The numbers of one group of pods."""
    chosen = list(records)
    waits = sorted(record.waited(now) for record in chosen)
    ends = [record.end for record in chosen]
    return {
        "created": len(chosen),
        "started": sum(record.started for record in chosen),
        "waiting": sum(record.until is None for record in chosen),
        **{end.value: ends.count(end) for end in End},
        "p50_wait_s": quantile(waits, 0.50),
        "p95_wait_s": quantile(waits, 0.95),
        "p99_wait_s": quantile(waits, 0.99),
    }


def by_workload(records: Iterable[Stay]) -> dict[str, list[Stay]]:
    """The pods of each workload, by the workload's name."""
    found: dict[str, list[Stay]] = {}
    for record in records:
        found.setdefault(record.workload, []).append(record)
    return dict(sorted(found.items()))


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share does not exceed; None without values."""
    if not ordered:
        return None
    return round(ordered[max(0, ceil(share * len(ordered)) - 1)], 3)
