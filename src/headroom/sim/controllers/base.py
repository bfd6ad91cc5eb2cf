"""The base of all controllers: a work queue of objects, each reconciled alone, after a short delay.

A controller says which object a change concerns, and how to reconcile this object (`sync`). It
reads the store directly. Its reaction time simulates the delay of a cache, so it never acts on a
state that it has just changed itself.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from headroom.sim.actor_context import ActorContext, TokenBucket
from headroom.sim.api.store import ObjectChange
from headroom.sim.api.values import Ref


class Controller(ABC):
    """One controller; `name` is also its component in events."""

    name = "controller"

    def __init__(self, stage: ActorContext) -> None:
        self.stage = stage
        self.store = stage.store
        self.server = stage.server
        self.recorder = stage.recorder(self.name)
        settings = stage.settings
        self._delay = stage.jitter(self.name, settings.controller_delay)
        self._limit = TokenBucket(stage.loop, settings.controller_qps, settings.controller_burst)
        self._waiting: dict[Ref, None] = {}
        self._again: dict[Ref, None] = {}
        self._running: dict[Ref, asyncio.Task[None]] = {}

    @abstractmethod
    async def sync(self, ref: Ref) -> None:
        """Reconcile one object as far as possible now."""

    def watch(self, *kinds: str) -> None:
        """Reconcile existing objects, and later each changed one."""
        for kind in kinds:
            self.store.listen(kind, self.on_change)
            for obj in self.store.list(kind):
                self.enqueue(
                    Ref(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
                )

    def on_change(self, change: ObjectChange) -> None:
        """Handle a change; by default the changed object is enqueued."""
        self.enqueue(change.ref)

    def enqueue(self, ref: Ref, after: float | None = None) -> None:
        """Reconcile an object soon, or after `after` seconds; duplicates are dropped."""
        if after is not None:
            self.stage.loop.call_later(after, self._start, ref)
        elif ref not in self._waiting:
            self._waiting[ref] = None
            self.stage.loop.call_later(self._delay(), self._start, ref)

    async def turn(self) -> None:
        """Wait until the rate limit allows the next request."""
        wait = self._limit.wait()
        if wait > 0:
            await asyncio.sleep(wait)

    def _start(self, ref: Ref) -> None:
        self._waiting.pop(ref, None)
        if ref in self._running:
            self._again[ref] = None  # `_ended` starts it again.
            return
        task = self.stage.loop.create_task(self.sync(ref))
        self._running[ref] = task
        task.add_done_callback(lambda done: self._ended(ref, done))

    def _ended(self, ref: Ref, task: asyncio.Task[None]) -> None:
        del self._running[ref]
        if not task.cancelled() and task.exception() is not None:
            self.stage.loop.call_exception_handler(
                {"message": f"{self.name} failed at {ref}", "exception": task.exception()}
            )
        if ref in self._again:
            del self._again[ref]
            self.enqueue(ref)
