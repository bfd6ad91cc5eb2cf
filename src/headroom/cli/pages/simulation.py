"""Dashboard data of a simulation: while it runs, with its own clock, and as files at its end.

The simulation has its own event loop with virtual time, so it runs in a thread. The thread passes
on finished snapshots, which are never changed. Pages are served from the main thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headroom.cli.embedded import embedded_play
from headroom.cli.pages.feeds import FileFeed
from headroom.cli.source import WATCHED, World, decoded
from headroom.core.policy import Policy
from headroom.dashboard.document import Document, VisibleScope
from headroom.dashboard.frames import Frames
from headroom.dashboard.page_state import Book, take_all
from headroom.dashboard.prices import Prices
from headroom.dashboard.snapshot import SIMULATION, Windows, picture
from headroom.dashboard.timeline import Timeline, counted, sample_of
from headroom.dashboard.view import ClusterView, view_of
from headroom.sim.scenarios.model import Scenario
from headroom.sim.scenarios.play import Play
from headroom.sim.scenarios.report import Result
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import WORKLOADS

TICK_S = 0.25
SPEEDS = (1.0, 10.0, 60.0, 600.0, 0.0)  # virtual seconds a second; 0 is as fast as possible
WISHED_S = 60.0  # about how long a run takes to watch, unless the user sets a speed
STEPS = 300
LASTING = 4  # A state is kept if it lasts a quarter of the usual time between two snapshots.
CHANGING = ("at", "nodes", "labels", "objects", "waiting", "more_waiting", "cost", "windows")


@dataclass(frozen=True)
class PlannedRun:
    """What to run, and with which operator."""

    scenario: Scenario
    codecs: KindCodecs
    policy: Policy

    def play(self) -> Play:
        return embedded_play(self.scenario, self.codecs, self.policy)

    @cached_property
    def prices(self) -> Prices:
        found = {pool.name: pool.price for pool in self.scenario.pools if pool.price}
        return Prices(found)


class PictureRecorder:
    """Records a run: the newest snapshot, the timeline, and frames to go back to."""

    def __init__(self, run: PlannedRun, most: int, apart: float = 0.0) -> None:
        self._run = run
        self.frames = Frames(most, apart)
        self.timeline = Timeline()
        self._windows = Windows()
        self._book = Book(run.prices)
        self._view: ClusterView | None = None
        self.world: World | None = None
        self.newest: Document = {}

    def look(self, play: Play) -> None:
        """Take a snapshot of this moment."""
        self.world = world = world_of(play, self._run.codecs)
        view = view_of(world)
        self.timeline.add(world.now, sample_of(view, *counted(world.pods)))
        source = (SIMULATION, self._run.scenario.name)
        # One book for the whole run: unchanged rows are stored once, not once a snapshot.
        take_all(self._book, view, self._view)
        self._view = view
        self.newest = picture(view, self._book, self.timeline, self._windows, source)
        kept = {name: self.newest[name] for name in CHANGING}
        self.frames.add(play.world.elapsed, kept)


def world_of(play: Play, codecs: KindCodecs) -> World:
    """All objects of a simulated cluster now."""
    kinds = (*WATCHED, *WORKLOADS, *filter(codecs.reads, codecs.resources))
    names = dict.fromkeys(each.kind for each in kinds)
    raw = [item for kind in names for item in play.objects(kind)]
    return decoded(raw, kinds, play.world.clock.now(), codecs)


def recorded(run: PlannedRun, most: int = 60) -> tuple[Result, PictureRecorder]:
    """Run to the end, and take snapshots at intervals."""
    play = run.play()
    recorder = PictureRecorder(run, most, play.ends / (LASTING * most))
    seen = -1

    def look(upcoming: float, end: float, changes: int) -> None:
        # A state that will last is kept, with the time at which it began.
        nonlocal seen
        if changes != seen and recorder.frames.due(upcoming):
            seen = changes
            recorder.look(play)

    play.watch(look)
    try:
        result = play.finish()
        recorder.look(play)
        return result, recorder
    finally:
        play.close()


class Simulation:
    """A simulation that runs while pages are open: their data and their clock."""

    def __init__(self, run: PlannedRun) -> None:
        self._run = run
        self._recorder = PictureRecorder(run, STEPS)
        self._paused = False
        self._speed: float | None = None
        self._elapsed = self._end = 0.0
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._seen = threading.Event()  # set at the first snapshot, or at an error
        self._pool = ThreadPoolExecutor(1)
        self._outcome: Future[Result | None] = Future()

    def start(self) -> None:
        self._outcome = self._pool.submit(self._played)

    def stop(self) -> Result | None:
        """Stop it; return its result if it is complete."""
        self._stopping.set()
        self._wake.set()
        self._pool.shutdown()
        return self._outcome.result()

    def _played(self) -> Result | None:
        play = self._run.play()
        try:
            self._end = play.ends
            self._look(play)
            while self._elapsed < self._end and not self._stopping.is_set():
                began = time.monotonic()
                if not self._paused:
                    step = self.speed * TICK_S or self._end / STEPS
                    play.run_to(min(self._end, self._elapsed + step))
                    self._look(play)
                if self._paused or self.speed:
                    self._wake.wait(max(0.0, TICK_S - (time.monotonic() - began)))
                    self._wake.clear()
            if self._stopping.is_set():
                return None
            result = play.finish()
            self._look(play)
            return result
        finally:
            self._seen.set()
            play.close()

    def _look(self, play: Play) -> None:
        self._recorder.look(play)
        self._elapsed = play.world.elapsed
        self._seen.set()

    @property
    def speed(self) -> float:
        """The speed that the user chose, or one that shows the run in a minute."""
        if self._speed is not None:
            return self._speed
        return next((each for each in SPEEDS if each * WISHED_S >= self._end), SPEEDS[-2])

    async def sections(self) -> Document:
        await asyncio.to_thread(self._seen.wait)
        if self._outcome.done():
            self._outcome.result()  # An error in the thread is raised here.
        return {**self._recorder.newest, "control": self._state()}

    def _state(self) -> dict[str, Any]:
        return {
            "paused": self._paused,
            "speed": self.speed,
            "speeds": list(SPEEDS),
            "elapsed": self._elapsed,
            "end": max(self._end, self._elapsed),
            "done": self._outcome.done(),
        }

    def control(self, wish: dict[str, Any]) -> dict[str, Any]:
        """Pause, continue or change the speed; raise ValueError for a wrong request."""
        for name, value in wish.items():
            if name == "paused" and isinstance(value, bool):
                self._paused = value
            elif name == "speed" and not isinstance(value, bool) and value in SPEEDS:
                self._speed = float(value)
            else:
                raise ValueError(f"{name[:50]} cannot be set to that")
        self._wake.set()
        return self._state()

    def frame(self, at: float) -> Document | None:
        return self._recorder.frames.at(at)

    async def pods_on(self, node: str) -> list[dict[str, Any]] | None:
        return self._feed().pods_of(node)

    async def find_pods(self, text: str, scope: VisibleScope) -> dict[str, Any]:
        return await self._feed().find_pods(text, scope)

    async def explain(self, reference: str, scope: VisibleScope) -> dict[str, Any] | None:
        return await self._feed().explain(reference, scope)

    def _feed(self) -> FileFeed:
        """The newest state, for detailed questions."""
        world = self._recorder.world
        if world is None:
            raise ValueError("nothing was seen yet")
        return FileFeed(world, "", self._run.prices, policy=self._run.policy)
