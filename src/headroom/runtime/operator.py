"""The driver: passes events to the engine, performs its plans, and reports the outcomes back.

All I/O goes through the ports, and all time through the loop and the clock, so the same driver runs
against a real cluster and in a simulation. It decides nothing; `lanes` orders the writes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from headroom.core.actions import Action, Invalid, Stale
from headroom.core.objects import Key
from headroom.core.plan import Plan, Sequence, Step, Work
from headroom.engine.engine import Engine, about
from headroom.engine.error_isolation.quarantine import Contained
from headroom.errors import HeadroomError, described
from headroom.ports import Clock, Cluster, Event, Lease, Synced
from headroom.runtime.eventlimits import EventLimits
from headroom.runtime.lanes import Lanes
from headroom.runtime.reporter import Failed, NullReporter, Reporter

MOST_OBSERVED = 1000  # events before the next plan: tens of milliseconds
MOST_TOGETHER = 16  # of one step; a step of thousands must not fill the client's queue
STOP_WAIT_S = 5.0
# How long pods may still be gated after the claim indexes were removed: the API server must see the
# removal, and we must see the pods. We stay until no new gated pod arrived for this time.
DRAIN_S = 1.0
LET_GO_S = 0.2
MOST_DRAINS = 8
MOST_CONTAINED = 100  # that are remembered


@dataclass(slots=True)
class Operator:
    """One replica. `run` returns when it was stopped or has lost the Lease."""

    cluster: Cluster
    clock: Clock
    engine: Engine
    lease: Lease | None = None
    reporter: Reporter = field(default_factory=NullReporter)
    silence: Callable[[], float] = lambda: 0.0  # seconds of silence of the watch of pods
    _events: deque[Event] = field(default_factory=deque)
    _driving: asyncio.Future[None] | None = None  # while it runs; a bug ends it
    _woken: bool = False  # a turn is about to begin
    _announced: bool = False
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _lanes: Lanes = field(default_factory=Lanes)
    _events_told: EventLimits = field(default_factory=EventLimits)
    _leading: bool = False
    _alarm: asyncio.TimerHandle | None = None  # wakes the driver, at `_alarm_at`
    _alarm_at: datetime | None = None
    _contained: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_CONTAINED))

    def contained(self) -> Iterator[str]:
        """The exceptions that were limited to one object, one line each; each is a bug."""
        self._report_contained()
        return iter(tuple(self._contained))

    async def run(self) -> None:
        """Watch at once, act only while leading, and stop gracefully."""
        pump = asyncio.create_task(self._pump())
        drive = self._driving = asyncio.get_running_loop().create_future()
        self._wake()
        lead = asyncio.create_task(self._lead())
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({pump, drive, lead, stopped}, return_when=asyncio.FIRST_COMPLETED)
            for task in (pump, drive, lead):
                if task.done():
                    task.result()  # A bug in any of them must not be lost.
            if self._leading and self.engine.synced:
                await self._drain(pump, drive, lead)
        finally:
            self._leading = False
            await self._wind_down(pump, drive, lead, stopped)

    def stop(self) -> None:
        """Request a graceful stop: work in progress is completed, nothing new starts."""
        self._stop.set()

    async def _drain(self, *working: asyncio.Future[None]) -> None:
        """Stop gating new pods, and continue until all waiting pods are served or released."""
        if not self._withdraw() and not self.engine.ledger.waiting:
            return
        if self._tasks:  # Until it is written, pods are gated as before.
            await asyncio.wait(self._tasks, timeout=STOP_WAIT_S)
        known: set[Key] = set()
        for _ in range(MOST_DRAINS):
            await asyncio.wait(working, timeout=DRAIN_S, return_when=asyncio.FIRST_COMPLETED)
            came = set(self.engine.ledger.waiting) - known
            known |= came
            self._withdraw()
            self.engine.let_go(self.clock.now())
            self._wake()
            await asyncio.wait(working, timeout=LET_GO_S, return_when=asyncio.FIRST_COMPLETED)
            nobody_came = not came and known >= set(self.engine.ledger.waiting)
            if nobody_came or any(task.done() for task in working):
                return

    def _withdraw(self) -> bool:
        sequences = self.engine.withdraw(self.clock.now())
        for sequence in sequences:
            self._start(sequence)
        return bool(sequences)

    async def _wind_down(self, *tasks: asyncio.Future[Any]) -> None:
        if self._stop.is_set() and self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_WAIT_S)
        if self._alarm is not None:
            self._alarm.cancel()
        everything = (*tasks, *self._tasks)
        for task in everything:
            task.cancel()
        await asyncio.gather(*everything, return_exceptions=True)
        if self.lease is not None:
            await self.lease.release()

    async def _lead(self) -> None:
        if self.lease is None:
            self._begin()
            await asyncio.Event().wait()
            return
        await self.lease.acquire()
        self._begin()
        await self.lease.lost()
        self._leading = False
        self.reporter.leading(False)

    def _begin(self) -> None:
        self._leading = True
        self.reporter.leading(True)
        self._wake()

    async def _pump(self) -> None:
        async with aclosing(self.cluster.watch()) as events:
            async for event in events:
                self._events.append(event)
                self._wake()

    def _wake(self) -> None:
        """Let a turn begin after all that is ready to run now; a task would need more calls."""
        if not self._woken:
            self._woken = True
            asyncio.get_running_loop().call_soon(self._drive)

    def _drive(self) -> None:
        self._woken = False
        if self._driving is None or self._driving.done():
            return
        try:
            self._turn()
        except Exception as bug:
            self._driving.set_exception(bug)

    def _turn(self) -> None:
        """Observe new events, plan, start work, and set the alarm for the next turn.

        Tens of thousands of events (a new list) are observed in parts, with plans between them: an
        owner in the first part does not wait for the last part.
        """
        now = self.clock.now()
        for _ in range(min(len(self._events), MOST_OBSERVED)):
            event = self._events.popleft()
            self.engine.observe(event, now)
            self.reporter.observed(event)
            if isinstance(event, Synced):
                self.reporter.synced()
        wake_at = None
        if self._leading:
            self.engine.sees(timedelta(seconds=self.silence()))
            wake_at = self._plan(now).wake_at
            if self.engine.synced and not self._announced:
                self._announced = True
                self.reporter.ready()
        self._report_contained()
        if self._events:
            self._wake()  # Work in progress continues first.
        elif wake_at != self._alarm_at:
            self._set_alarm(wake_at, now)

    def _plan(self, now: datetime) -> Plan:
        began = asyncio.get_running_loop().time()
        plan = self.engine.plan(now)
        if plan.sequences:
            self.reporter.planned(plan, asyncio.get_running_loop().time() - began)
        for sequence in plan.sequences:
            self._start(sequence)
        return plan

    def _report_contained(self) -> None:
        news = self.engine.quarantine.news
        while news:
            self._note(news.popleft())

    def _note(self, contained: Contained) -> None:
        self._contained.append(str(contained))
        self.reporter.contained(contained)

    def _set_alarm(self, wake_at: datetime | None, now: datetime) -> None:
        """Most events leave the next timer as it is, and then its alarm stays."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._alarm_at = None, wake_at
        if wake_at is not None:
            pause = max(0.0, (wake_at - now).total_seconds())
            self._alarm = asyncio.get_running_loop().call_later(pause, self._ring)

    def _ring(self) -> None:
        self._alarm = self._alarm_at = None
        self._wake()

    def _start(self, sequence: Sequence) -> None:
        now = asyncio.get_running_loop().time()
        if sequence.work == Work.TELL and not self._events_told.admit(sequence, now):
            return  # Enough were reported.
        task = asyncio.create_task(self._run(sequence))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.reporter.bug(task.exception())
            self._stop.set()

    async def _run(self, sequence: Sequence) -> None:
        try:
            async with self._lanes.lane(sequence):
                await self._perform(sequence)
        finally:
            if sequence.work == Work.TELL:
                self._events_told.done(sequence)

    async def _perform(self, sequence: Sequence) -> None:
        """Perform a sequence step by step, and stop at the first step that fails."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        failed: Failed = ()
        for number, step in enumerate(sequence.steps):
            halted = self.engine.halts(sequence, number, self.clock.now()) if number else ""
            if halted:
                failed = ((step[0], Stale(halted)),)
                break
            if len(step) == 1:
                failed = await self._act(step[0])
            else:
                failed = await self._act_together(step)
            if failed:
                break
        self.engine.finish(sequence, not failed, self.clock.now())
        self.reporter.finished(sequence, failed, loop.time() - began)
        self._wake()

    async def _act_together(self, step: Step) -> Failed:
        failed: Failed = ()
        for first in range(0, len(step), MOST_TOGETHER):
            actions = step[first : first + MOST_TOGETHER]
            for each in await asyncio.gather(*(self._act(action) for action in actions)):
                failed += each
        return failed

    async def _act(self, action: Action) -> Failed:
        """Perform one write; one that cannot be encoded is refused and affects no other."""
        try:
            outcome = await self.cluster.perform(action)
        except HeadroomError:
            raise
        except Exception as error:
            self._note(Contained("act", about(action), error))
            outcome = Invalid(f"cannot be written: {described(error)}")
        self.reporter.acted(action, outcome)
        going = self.engine.settle(action, outcome, self.clock.now())
        return () if going else ((action, outcome),)
