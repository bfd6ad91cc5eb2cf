"""Sizes that other modules have calculated, as input for the wanted slots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headroom.core.demand.quotaroom import QuotaAllowance
from headroom.core.headrooms.headrooms import Workload
from headroom.core.headrooms.size_limits import Note
from headroom.core.promise.announced import LearntMemory

POD_TEMPLATE = "PodTemplate"


@dataclass(frozen=True, slots=True)
class Sized:
    """Slots by name, where somebody else has worked out which (see `core.demand.foresight`).

    `asked` is how many there would be if nothing held the number.
    """

    names: tuple[str, ...] = ()
    asked: int = 0
    notes: tuple[Note, ...] = ()
    look_again: datetime | None = None


@dataclass(frozen=True, slots=True)
class Learnt:
    """How many slots a promise needs, where that is learnt (see `core.promise`)."""

    count: int
    notes: tuple[Note, ...] = ()
    look_again: datetime | None = None
    memory: LearntMemory | None = None  # None: it was not learnt here


@dataclass(frozen=True, slots=True)
class Room:
    """What quotas leave to a buffer, and when to ask again."""

    allowance: QuotaAllowance
    look_again: datetime | None = None


def replicas_of(workload: Workload | None) -> int | None:
    """How many pods a workload wants; a PodTemplate is a shape, and wants none."""
    if workload is None or workload.ref.kind == POD_TEMPLATE:
        return None
    return workload.replicas
