"""Playing a scenario: a world is made, the operator started, steps done in their time, all seen.

`Play` can be advanced bit by bit, which is how the demo draws; `run_scenario` goes straight to the
end. The operator is handed in as a factory: the simulator knows nothing of its insides.
"""

from __future__ import annotations

from typing import Any

from headroom.sim.api.values import Json
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.crew import OperatorFactory
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.scenarios.journal import Journal
from headroom.sim.scenarios.metering import Meter
from headroom.sim.scenarios.model import OperatorState, Scenario
from headroom.sim.scenarios.report import Result, result_of
from headroom.sim.scenarios.steps import Performer
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from headroom.wire.speech import NATIVE, Speech


class Play:
    """One run of a scenario, from time zero to its end."""

    def __init__(
        self,
        scenario: Scenario,
        operator_factory: OperatorFactory | None,
        settings: Settings | None = None,
        speech: Speech = NATIVE,
    ) -> None:
        self.scenario = scenario
        self.world = SimWorld(scenario.start, scenario.seed, settings, speech)
        self.world.may_contain = True
        self.journal = Journal(self.world.store, self.world.clock)
        self.invariants = Invariants(self.world.store, self.world.clock)
        prices = {pool.name: pool.price for pool in scenario.pools}
        self._meter = Meter(self.world.store, self.world.clock, prices)
        self._performer = Performer(self.world, operator_factory, self.journal, self.invariants)
        self._steps = list(scenario.steps)
        self._begin(operator_factory)

    def objects(self, kind: str) -> list[Json]:
        """All objects of a kind as they are now, oldest first."""
        return self.world.list(kind)

    def run_to(self, moment: float) -> None:
        """Let time pass until so many seconds after the start, doing what is due on the way."""
        moment = min(moment, self._limit())
        while self._steps and self._steps[0].at <= moment:
            step = self._steps.pop(0)
            self.world.run_to(max(step.at, self.world.elapsed))
            self._performer.perform(step)
        self.world.run_to(max(moment, self.world.elapsed))

    def finish(self) -> Result:
        """Go on to the end, and say what became of it."""
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
        """What can be said as of now."""
        summary: dict[str, Any] = self._meter.summary()
        errors = [f"unexpected error: {line}" for line in self.world.contained()]
        summary["violations"] = [*self.invariants.violations, *errors]
        failures = list(self._performer.failures)
        return result_of(self.scenario, self.world, self.journal.entries, summary, failures)

    def close(self) -> None:
        self.world.close()

    def _limit(self) -> float:
        if self.scenario.until is not None:
            return self.scenario.until
        last = self._steps[-1].at if self._steps else 0.0
        return max(self.scenario.longest, last)

    def _begin(self, operator_factory: OperatorFactory | None) -> None:
        """Put everything there that is there at time zero."""
        for pool in self.scenario.pools:
            for index in range(pool.count):
                self.world.apply(pool.node(index))
        growing = [pool.name for pool in self.scenario.pools if pool.most > pool.count]
        if self.scenario.autoscaling.enabled:
            Autoscaler(self.world.stage, self.scenario.pools, self.scenario.autoscaling)
        elif growing:
            names = ", ".join(growing)
            self.world.server.note(f"the autoscaler is off: pools stay at their count: {names}")
        self._performer.apply(self.scenario.objects, "at the start")
        if operator_factory is not None:
            self._performer.operator(OperatorState("running"))


def run_scenario(
    scenario: Scenario,
    operator_factory: OperatorFactory | None,
    settings: Settings | None = None,
    speech: Speech = NATIVE,
) -> Result:
    """Play a scenario from beginning to end."""
    play = Play(scenario, operator_factory, settings, speech)
    try:
        return play.finish()
    finally:
        play.close()
