"""Owners that continued without a hold and wait for room: its guardian must not be ahead of them.

A guardian that waits in kube-scheduler's queue is more important than its own owner. If no hold was
there in time, the owner has passed the gate and cannot get one any more. With both in the queue,
the guardian would take the room that becomes free, and keep it from the pod that it is for. So the
owner goes first, for a limited time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.holds import PREEMPTIBLE, Hold
from headroom.core.names import LOCKED_PRIORITY
from headroom.core.objects import Pod

LONGEST_AHEAD = timedelta(minutes=5)
"""How long one owner may keep its holds from being held anew: it may be waiting for ever."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """An owner that comes before the guardians of these holds and headrooms, until a time."""

    until: datetime
    wholes: tuple[str, ...]


def first_of(
    hold: Hold, released: Iterable[tuple[Pod, Ahead]], now: datetime
) -> tuple[Pod, Ahead] | None:
    """The owner that comes before a hold's guardian, of those released without it."""
    if hold.mode == PREEMPTIBLE:
        return None
    most = hold.template.pod.requests
    for pod, ahead in released:
        fits = pod.priority < LOCKED_PRIORITY and pod.requests.fits_in(most)
        if now < ahead.until and fits:
            return pod, ahead
    return None
