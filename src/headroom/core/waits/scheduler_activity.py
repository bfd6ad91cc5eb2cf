"""Signs of life of kube-scheduler: it has placed a pod, or said of one that it cannot be placed.

An owner beyond the gate has its room by its nomination. If kube-scheduler does not place it in time
the claim is taken back, and the nomination with it. While kube-scheduler is away (it was killed,
and another one waits for its lease) that would give the room to whoever is first when it is back.
So the time counts only while it is at work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from headroom.core.names import DEFAULT_SCHEDULER_NAME
from headroom.core.objects import Pod

LONGEST_GAP = timedelta(seconds=10)
"""After this time without a sign, kube-scheduler may be away, or the cluster may be idle."""

LONGEST_SILENCE = timedelta(minutes=10)
"""The longest wait without any sign. Perhaps kube-scheduler ignores only this pod."""


@dataclass(frozen=True, slots=True)
class SchedulerActivity:
    """Since when kube-scheduler is seen at work, and when that was last."""

    since: datetime | None = None
    last: datetime | None = None

    def after(self, before: Pod | None, pod: Pod, now: datetime) -> SchedulerActivity:
        """The new state after a pod has changed from `before`."""
        if before is None or not _is_sign(before, pod):
            return self
        goes_on = self.last is not None and now - self.last <= LONGEST_GAP
        return SchedulerActivity(self.since if goes_on else now, now)

    def over_at(self, since: datetime, limit: timedelta, now: datetime) -> datetime:
        """When an owner that waits since then has had its time, as far as that is known now.

        If kube-scheduler is silent that is a while from now, to be asked again.
        """
        if self.last is None or self.since is None or now - self.last > LONGEST_GAP:
            return min(since + LONGEST_SILENCE, max(since + limit, now + LONGEST_GAP))
        return max(since, self.since) + limit


def _is_sign(before: Pod, pod: Pod) -> bool:
    if before.uid != pod.uid or pod.scheduler != DEFAULT_SCHEDULER_NAME:
        return False
    placed = bool(pod.node) and not before.node
    said = (pod.unschedulable_since, pod.unschedulable_message)
    known = (before.unschedulable_since, before.unschedulable_message)
    return placed or (pod.unschedulable_since is not None and said != known)
