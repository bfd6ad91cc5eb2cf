"""Who may write now: handovers at once, statuses where they leave room, events at a slow pace.

Somebody waits for a handover; nobody waits for an event. All share one API server, so the others
give way: while handovers are under way, statuses and events are written at a slow pace only. In
each lane namespaces take turns (`fairqueue`): the writes of one never wait for all of another's.

    owners    handovers and what goes with them: first in the lane that they share with guardians
    refills   guardians and objects made anew, given up, renewed
    index     claim indexes, in a lane of their own: while they are fresh, pods are gated
    status    statuses;  tell   events
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from headroom.core.actions import Tell
from headroom.core.plan import Sequence, Work
from headroom.core.subjects import Topic
from headroom.runtime.fairqueue import FairQueue

FAST_PLACES = 48  # as many as the client sends at a time
FAST_EACH = 32  # of one namespace: the others always find a place
FAST_KEPT_FREE = 8  # for owners alone
REFILLS = (Work.HOLD, Work.RENEW, Work.OBJECT, Work.RELEASE, Work.SWEEP, Work.QUOTA)


@dataclass(slots=True)
class Bucket:
    """So many a second at most, after so many at once."""

    per_second: float
    at_once: float
    tokens: float = 0.0
    counted_at: float | None = None

    def pause(self, now: float) -> float:
        """Take a token; say how long to wait for it."""
        self._fill(now)
        self.tokens -= 1
        return max(0.0, -self.tokens / self.per_second)

    def take(self, now: float) -> bool:
        """Take a token if there is one."""
        self._fill(now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def full(self, now: float) -> bool:
        """Whether it is as if it had never been used."""
        self._fill(now)
        return self.tokens >= self.at_once

    def _fill(self, now: float) -> None:
        if self.counted_at is None:
            self.tokens = self.at_once
        else:
            grown = self.tokens + (now - self.counted_at) * self.per_second
            self.tokens = min(self.at_once, grown)
        self.counted_at = now


@dataclass(slots=True)
class SlowPace:
    """A pace that namespaces share in turns: none waits for more than one of another's."""

    bucket: Bucket
    turns: FairQueue = field(default_factory=lambda: FairQueue(1, 1))


class Lanes:
    """The lanes, by the kind of work."""

    def __init__(self) -> None:
        self._fast = FairQueue(FAST_PLACES, FAST_EACH, FAST_KEPT_FREE)
        self._index = FairQueue(8, 2)
        self._status = FairQueue(4, 3)
        self._talk = FairQueue(2, 2)
        self._calm = asyncio.Event()
        self._calm.set()
        self._running = 0
        self._statuses_meanwhile = SlowPace(Bucket(per_second=20, at_once=4))
        self._talk_meanwhile = SlowPace(Bucket(per_second=4, at_once=2))
        self._talk_ever = Bucket(per_second=20, at_once=60)

    def lane(self, sequence: Sequence) -> AbstractAsyncContextManager[None]:
        """The lane for this piece of work; entering it waits for a turn."""
        work, flow = sequence.work, flow_of(sequence)
        if work is Work.TELL:
            return self._talking(flow)
        if work is Work.STATUS:
            return self._writing_status(flow)
        if work is Work.INDEX:
            return self._index.place(flow)
        return self._handing_over(flow, work not in REFILLS)

    @contextlib.asynccontextmanager
    async def _handing_over(self, flow: str, urgent: bool) -> AsyncIterator[None]:
        self._running += 1
        self._calm.clear()
        try:
            async with self._fast.place(flow, urgent):
                yield
        finally:
            self._running -= 1
            if not self._running:
                self._calm.set()

    @contextlib.asynccontextmanager
    async def _writing_status(self, flow: str) -> AsyncIterator[None]:
        async with self._status.place(flow):
            await self._give_way(self._statuses_meanwhile, flow)
            yield

    @contextlib.asynccontextmanager
    async def _talking(self, flow: str) -> AsyncIterator[None]:
        async with self._talk.place(flow):
            await asyncio.sleep(self._talk_ever.pause(asyncio.get_running_loop().time()))
            await self._give_way(self._talk_meanwhile, flow)
            yield

    async def _give_way(self, meanwhile: SlowPace, flow: str) -> None:
        """Wait for calm; while there is none, go on at a slow pace."""
        if self._calm.is_set():
            return
        async with meanwhile.turns.place(flow):
            pause = meanwhile.bucket.pause(asyncio.get_running_loop().time())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._calm.wait()


def flow_of(sequence: Sequence) -> str:
    """The namespace that a piece of work is done for; empty for what belongs to none.

    A handover is its hold's: the latch that it begins with lives in our own namespace.
    """
    pods = [subject for subject in sequence.subjects if subject.topic is Topic.POD]
    others = (subject for subject in sequence.subjects if subject.topic is not Topic.POD)
    for subject in (*others, *reversed(pods)):
        if subject.namespace:
            return subject.namespace
    first = sequence.steps[0][0] if sequence.steps and sequence.steps[0] else None
    return first.about.namespace if isinstance(first, Tell) else ""
