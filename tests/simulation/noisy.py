"""A connection that stammers: events are told twice, and the operator behind it may be killed.

Wraps the embedded cluster's own connection; order within a stream is kept, as a watch keeps it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from random import Random

from headroom.core.actions import Action, Outcome
from headroom.ports import Cluster, Event
from headroom.sim.faults import Fault
from headroom.wire.writes import Write

REFUSALS = (Fault.BUSY, Fault.BROKEN, Fault.LOST, Fault.UNANSWERED)


class Stammering:
    """Tells some events twice in a row."""

    def __init__(self, inner: Cluster, random: Random, share: float) -> None:
        self._inner = inner
        self._random = random
        self._share = share

    async def watch(self) -> AsyncGenerator[Event, None]:
        async with aclosing(self._inner.watch()) as events:
            async for event in events:
                yield event
                if self._random.random() < self._share:
                    yield event

    async def perform(self, action: Action) -> Outcome:
        return await self._inner.perform(action)


class BadLine:
    """Decides write by write whether it fails, and how; `share` is how often."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.share = 0.0

    def __call__(self, write: Write) -> Fault | None:
        if self._random.random() >= self.share:
            return None
        patched = write.verb == "patch" or write.subresource == "binding"
        # A deletion answers 409 only for another uid, a creation never: nothing was there.
        return self._random.choice((*REFUSALS, Fault.CONFLICT) if patched else REFUSALS)
