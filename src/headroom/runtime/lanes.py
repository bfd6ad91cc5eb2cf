"""Priorities of writes: handovers first, statuses if there is capacity, events at a low rate.

An owner waits for a handover; nothing waits for an event. All writes share one API server, so while
handovers are in progress, statuses and events are written at a low rate. In each lane namespaces
take turns (`fairqueue`): the writes of one namespace never wait for all writes of another.

    owners    handovers and their writes: first in the lane that they share with guardians
    refills   guardians and objects that are created, deleted or renewed
    index     claim indexes, in their own lane: while they are fresh, pods are gated
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
FAST_EACH = 32  # for one namespace, so that others always find a place
FAST_KEPT_FREE = 8  # only for owners
REFILLS = (Work.HOLD, Work.RENEW, Work.OBJECT, Work.RELEASE, Work.SWEEP, Work.QUOTA)


@dataclass(slots=True)
class Bucket:
    """A token bucket: a rate per second, after a burst."""

    per_second: float
    at_once: float
    tokens: float = 0.0
    counted_at: float | None = None

    def pause(self, now: float) -> float:
        """Take a token; return how long to wait for it."""
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
        """Whether it is the same as an unused one."""
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
    """A rate limit that namespaces share in turns."""

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
        """The lane for this work; entering it waits for a place."""
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
        """Wait until no handover is in progress; meanwhile continue at a low rate."""
        if self._calm.is_set():
            return
        async with meanwhile.turns.place(flow):
            pause = meanwhile.bucket.pause(asyncio.get_running_loop().time())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._calm.wait()


def flow_of(sequence: Sequence) -> str:
    """The namespace of a piece of work; empty if it has none.

    A handover belongs to the namespace of its hold; its first write, the latch, is in our own.
    """
    of_pod = ""
    for subject in sequence.subjects:
        if subject.namespace:
            if subject.topic is not Topic.POD:
                return subject.namespace
            of_pod = subject.namespace  # the last one
    if of_pod:
        return of_pod
    first = sequence.steps[0][0] if sequence.steps and sequence.steps[0] else None
    return first.about.namespace if isinstance(first, Tell) else ""
