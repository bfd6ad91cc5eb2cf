"""The numbers of one configuration, over all seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headroom.sim.api.values import dig
from headroom.sim.scenarios import waits
from headroom.sim.scenarios.model import Scenario
from headroom.sim.scenarios.report import Result
from headroom.sim.scenarios.waits import Stay, by_workload
from headroom.wire.durations import parse_duration

DIGITS = 4


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise: this share of pods starts within this number of seconds."""

    ratio: float
    start_within: float


@dataclass(slots=True)
class ConfigurationRun:
    """A configuration and the results of its runs."""

    name: str
    promise: Promise
    waits: list[Stay] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    slot_hours: float = 0.0
    held: tuple[tuple[float, float], ...] = ()  # of the first seed: time, number

    def add(self, result: Result, stays: Iterable[Stay], now: float) -> None:
        """Add one more run."""
        self.results.append(result)
        self.slot_hours += result.summary["held"].get("slot_hours", 0.0)
        # Who still waits has waited until the end.
        self.waits += (replace(stay, until=now) if stay.until is None else stay for stay in stays)

    @property
    def count(self) -> int:
        return max(1, len(self.results))

    def total(self, *path: str) -> float:
        """A number of the summary, averaged over the seeds."""
        return round(sum(_dig(each.summary, path) for each in self.results) / self.count, DIGITS)

    def cost_by_pool(self) -> dict[str, float]:
        pools = sorted({pool for each in self.results for pool in each.summary["cost_by_pool"]})
        return {pool: self.total("cost_by_pool", pool) for pool in pools}

    def workloads(self) -> dict[str, dict[str, Any]]:
        """Waits by workload."""
        return {name: summed(stays) for name, stays in by_workload(self.waits).items()}

    def achieved(self, workloads: frozenset[str]) -> float | None:
        """The share of pods of these workloads that started in time; None without any."""
        meant = [each for each in self.waits if each.workload in workloads]
        if not meant:
            return None
        limit = self.promise.start_within
        return sum(each.started and each.waited(0.0) <= limit for each in meant) / len(meant)

    def troubles(self) -> list[str]:
        """All errors of the runs, each once."""
        found = [
            words
            for each in self.results
            for words in (*each.failures, *each.violations, *map(str, each.broken))
        ]
        return list(dict.fromkeys(found))

    @property
    def sound(self) -> bool:
        """Whether no invariant was violated."""
        return not any(each.violations for each in self.results)


def summed(stays: Sequence[Stay]) -> dict[str, Any]:
    """How long pods waited, and how many never started; none of them waits any more."""
    found = waits.summed(stays, 0.0)
    return {
        "created": found["created"],
        "started": found["started"],
        "neverStarted": found["created"] - found["started"],
        **{name: value for name, value in found.items() if name.endswith("_wait_s")},
    }


def promised_to(runs: Sequence[ConfigurationRun]) -> frozenset[str]:
    """The workloads whose promise is compared: those with held room in any of the runs.

    If no workload had held room, all of them.
    """
    owners = frozenset(each.workload for run in runs for each in run.waits if each.owner)
    return owners or frozenset(each.workload for run in runs for each in run.waits)


def promises(scenarios: Mapping[str, Scenario], otherwise: Promise) -> dict[str, Promise]:
    """The promise of each configuration; one without a promise is measured by the others' promise.

    If none has a promise, the promise on the command line is used.
    """
    found = {name: _promise_in(scenario) for name, scenario in scenarios.items()}
    first = next((promise for promise in found.values() if promise is not None), otherwise)
    return {name: promise or first for name, promise in found.items()}


def _promise_in(scenario: Scenario) -> Promise | None:
    for obj in scenario.objects:
        adaptive = dig(obj, "spec", "size", "adaptive") if obj.get("kind") == "Headroom" else None
        if adaptive:
            within = parse_duration(str(adaptive["startWithin"])).total_seconds()
            return Promise(float(adaptive["ratio"]), within)
    return None


def _dig(summary: Mapping[str, Any], path: Sequence[str]) -> float:
    value: Any = summary
    for step in path:
        value = value.get(step, 0) if isinstance(value, Mapping) else 0
    return float(value or 0)
