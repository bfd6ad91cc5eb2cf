"""Signs of life of kube-scheduler: it has placed a pod, or said of one that it cannot be placed.

An owner beyond the gate has its room by its nomination. If kube-scheduler does not place it in time
the claim is taken back, and the nomination with it. While kube-scheduler is away (it was killed,
and another one waits for its lease) that would give the room to whoever is first when it is back.
So the time counts only while it is at work.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core.names import DEFAULT_SCHEDULER_NAME
from headroom.core.objects import Pod

LONGEST_GAP = timedelta(seconds=10)
"""After this time without a sign, kube-scheduler may be away, or the cluster may be idle."""

LONGEST_SILENCE = timedelta(minutes=10)
"""The longest wait without any sign. Perhaps kube-scheduler ignores only this pod."""


class SchedulerSigns:
    """Since when kube-scheduler is seen at work, and when that was last."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._last: datetime | None = None

    def see(self, before: Pod | None, pod: Pod, now: datetime) -> None:
        """A pod was as `before` and is now as given."""
        if before is None or before.uid != pod.uid or pod.scheduler != DEFAULT_SCHEDULER_NAME:
            return
        placed = bool(pod.node) and not before.node
        said = (pod.unschedulable_since, pod.unschedulable_message)
        refused = pod.unschedulable_since is not None and said != (
            before.unschedulable_since,
            before.unschedulable_message,
        )
        if placed or refused:
            if self._last is None or now - self._last > LONGEST_GAP:
                self._since = now
            self._last = now

    def over_at(self, since: datetime, limit: timedelta, now: datetime) -> datetime:
        """When an owner that waits since then has had its time, as far as that is known now.

        If kube-scheduler is silent that is a while from now, to be asked again.
        """
        if self._last is None or self._since is None or now - self._last > LONGEST_GAP:
            return min(since + LONGEST_SILENCE, max(since + limit, now + LONGEST_GAP))
        return max(since, self._since) + limit
