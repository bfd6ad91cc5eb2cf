"""Guardians that do not last: each is created again, after a growing pause.

Something in the cluster deletes them as soon as they are bound (a kubelet, a taint, an admission
controller). To create them again at once would be an endless loop.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from headroom.core.objects import Pod
from headroom.core.waits.backoff import backoff

SHORT_LIFE = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(minutes=2)


class Losses:
    """By hold: when its guardian was made, how many went early in a row, until when to wait."""

    def __init__(self, first_pause: timedelta) -> None:
        self._first = first_pause
        self._made: dict[str, datetime] = {}
        self._count: dict[str, int] = {}
        self._until: dict[str, datetime] = {}

    def made(self, name: str, now: datetime) -> None:
        self._made[name] = now

    def removed(self, name: str) -> None:
        """We took it away ourselves."""
        self._made.pop(name, None)

    def lost(self, name: str, now: datetime) -> bool:
        """There is no guardian; say whether that happens again and again.

        A first loss is made good at once: somebody may have deleted the pod by hand.
        """
        made = self._made.pop(name, None)
        if made is None:
            return False
        if now - made >= SHORT_LIFE:
            self._count.pop(name, None)
            return False
        count = self._count.get(name, 0)
        self._count[name] = count + 1
        if not count:
            return False
        self._until[name] = now + backoff(self._first, count - 1, LONGEST_PAUSE)
        return True

    def not_before(self, name: str, now: datetime) -> datetime | None:
        """When the next one may be made, while that is to come."""
        until = self._until.get(name)
        if until is not None and until <= now:
            del self._until[name]
            return None
        return until

    def forget(self, name: str) -> None:
        for index in (self._made, self._count, self._until):
            index.pop(name, None)


def why_lost(guardians: tuple[Pod, ...]) -> str:
    """Say why a hold has lost its guardian."""
    ended = next((pod for pod in guardians if pod.finished), None)
    if ended is None:
        return "its guardian was taken away soon after it was made; tried again, ever less often"
    reason = ended.reason or ended.phase
    return f"its guardian on {ended.node} ended at once ({reason}); tried again, ever less often"
