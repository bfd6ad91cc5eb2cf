"""Run a scenario: create a world, start the operator, run the steps, and observe everything.

`Play` can be advanced in parts, as the demo does; `run_scenario` runs to the end. The operator is
passed as a factory, because the simulator does not know its implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headroom.core.policy import Policy
from headroom.sim.api.values import Json
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.operator_process import OperatorFactory
from headroom.sim.replay.trace_player import TracePlayer
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.scenarios.journal import Journal
from headroom.sim.scenarios.meter import Meter
from headroom.sim.scenarios.model import OperatorState, Scenario
from headroom.sim.scenarios.past_events import PastEvents, Sink
from headroom.sim.scenarios.report import Result, RunObservations, result_of
from headroom.sim.scenarios.steps import StepRunner
from headroom.sim.scenarios.unserved import ServedObjects
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from headroom.wire.kind_codecs import NATIVE, KindCodecs

DEFAULT_POLICY = Policy()
Watch = Callable[[float, float, int], None]
"""Receives the progress: virtual seconds of the next event and of the end, changes so far."""


class Play:
    """One run of a scenario, from time zero to its end."""

    def __init__(
        self,
        scenario: Scenario,
        operator_factory: OperatorFactory | None,
        settings: Settings | None = None,
        codecs: KindCodecs = NATIVE,
        policy: Policy = DEFAULT_POLICY,
    ) -> None:
        self.scenario = scenario
        self.world = SimWorld(scenario.start, scenario.seed, settings, codecs)
        self.world.may_contain = True
        self.journal = Journal(self.world.store, self.world.clock)
        self._past_events = PastEvents(self.world.store, self.world.clock)
        self.invariants = Invariants(self.world.store, self.world.clock)
        prices = {pool.name: pool.price for pool in scenario.pools}
        store, across = self.world.store, policy.across_namespaces
        self.world.safety_check.across_namespaces = across
        self.meter = Meter(store, self.world.clock, prices, across)
        self._served = ServedObjects(store, policy)
        self._autoscaler: Autoscaler | None = None
        self._step_runner = StepRunner(self.world, operator_factory, self.journal, self.invariants)
        self._trace_player = TracePlayer(self.world, scenario.arrivals, self._step_runner.fail)
        self._steps = list(scenario.steps)
        self._begin(operator_factory)

    def objects(self, kind: str) -> list[Json]:
        """All current objects of a kind, oldest first."""
        return self.world.list(kind)

    def run_to(self, moment: float) -> None:
        """Run until this many seconds after the start, with the steps that are due."""
        moment = min(moment, self._limit())
        while self._steps and self._steps[0].at <= moment:
            step = self._steps.pop(0)
            self.world.run_to(max(step.at, self.world.elapsed))
            self._step_runner.perform(step)
        self.world.run_to(max(moment, self.world.elapsed))

    def finish(self) -> Result:
        """Run to the end and return the result."""
        if self._steps:
            self.run_to(self._steps[-1].at)
        if self.scenario.until is None:
            left = self._limit() - self.world.elapsed
            if left > 0 and not self.world.run_until_idle(left):
                self.world.server.note(f"stopped after {self._limit():g} s: more would happen")
        else:
            self.run_to(self._limit())
        if self._steps:
            self.world.server.note(f"steps after the end that were not done: {len(self._steps)}")
        self.invariants.finish()
        return self.result()

    def result(self) -> Result:
        """The result at the current time."""
        summary: dict[str, Any] = self.meter.summary()
        errors = [f"unexpected error: {line}" for line in self.world.contained()]
        breaches = (*self.invariants.violations, *self.world.safety_check.breaches)
        summary["violations"] = [*breaches, *errors]
        failures = list(self._step_runner.failures)
        growing = self._autoscaler is not None and self._autoscaler.growing
        broken, notes = self._served.broken(self.scenario.sources, growing)
        entries, events = self.journal.entries, self._past_events.all_events()
        observed = RunObservations(entries, events, summary, tuple(failures), broken, tuple(notes))
        return result_of(self.scenario, self.world, observed)

    def watch(self, tell: Watch) -> None:
        """Call a function before each jump of the clock, while the world is still unchanged."""
        end, store = self._limit(), self.world.store
        self.world.loop.on_jump = lambda now: tell(now, end, store.version)

    def divert(self, sink: Sink) -> None:
        """Pass journal entries and old events to a function; the result has none of them."""
        self.journal.divert(sink)
        self._past_events.divert(sink)

    @property
    def ends(self) -> float:
        """The latest end, in virtual seconds since the start."""
        return self._limit()

    def close(self) -> None:
        self.world.close()

    def _limit(self) -> float:
        if self.scenario.until is not None:
            return self.scenario.until
        last = self._steps[-1].at if self._steps else 0.0
        ends = [each.end(self.scenario.start) for each in self.scenario.arrivals]
        return max(self.scenario.longest, last, *(end + self.scenario.longest for end in ends))

    def _begin(self, operator_factory: OperatorFactory | None) -> None:
        """Create everything that exists at time zero."""
        for pool in self.scenario.pools:
            for index in range(pool.count):
                self.world.apply(pool.node(index))
        growing = [pool.name for pool in self.scenario.pools if pool.most > pool.count]
        if self.scenario.autoscaling.enabled:
            scaling = self.scenario.autoscaling
            self._autoscaler = Autoscaler(self.world.stage, self.scenario.pools, scaling)
        elif growing:
            names = ", ".join(growing)
            self.world.server.note(f"the autoscaler is off: pools stay at their count: {names}")
        for obj in self.scenario.restored:
            self.world.server.restore(obj)
        for words in self.scenario.notes:
            self.world.server.note(words)
        self._step_runner.apply(self.scenario.objects, "at the start")
        if operator_factory is not None:
            self._step_runner.operator(OperatorState("running"))
        self._trace_player.start(self.scenario.arrivals, self.scenario.start, self.scenario.seed)


def run_scenario(
    scenario: Scenario,
    operator_factory: OperatorFactory | None,
    settings: Settings | None = None,
    codecs: KindCodecs = NATIVE,
    policy: Policy = DEFAULT_POLICY,
    prepare: Callable[[Play], None] | None = None,
) -> Result:
    """Run a scenario from start to end; `prepare` gets the run before time passes."""
    play = Play(scenario, operator_factory, settings, codecs, policy)
    try:
        if prepare is not None:
            prepare(play)
        return play.finish()
    finally:
        play.close()
