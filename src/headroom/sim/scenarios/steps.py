"""Run the steps of a scenario, and record those that failed.

A step that fails does not stop the run: it is reported like a failed expectation, and the exit code
of the command is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from headroom.sim.api.values import Json, Ref
from headroom.sim.errors import ApiError, SimulationError
from headroom.sim.operator_process import OperatorFactory
from headroom.sim.scenarios.expectations import unmet
from headroom.sim.scenarios.invariants import Invariants
from headroom.sim.scenarios.journal import Journal
from headroom.sim.scenarios.model import (
    Act,
    Apply,
    Delete,
    Drain,
    Expect,
    Finish,
    KubeletState,
    OperatorState,
    Patch,
    Scale,
    Step,
    StepTarget,
)
from headroom.sim.world import SimWorld

_FIRST = ("Namespace", "PriorityClass", "Node", "ResourceQuota", "LimitRange")


class StepRunner:
    """Runs steps on one world."""

    def __init__(
        self,
        world: SimWorld,
        operator_factory: OperatorFactory | None,
        journal: Journal,
        invariants: Invariants,
    ) -> None:
        self.failures: list[str] = []
        self._world = world
        self._operator_factory = operator_factory
        self._journal = journal
        self._invariants = invariants

    def perform(self, step: Step) -> None:
        """Run one step now."""
        where = f"at {step.at:g}s" + (f" ({step.line})" if step.line else "")
        try:
            self._do(step.act, where)
        except ApiError as error:
            self.fail(f"{where}: {error.message}")
        except SimulationError as error:
            self.fail(f"{where}: {error.message}")

    def apply(self, objects: Sequence[Json], where: str) -> None:
        """Apply objects in the order of their dependencies; each may fail separately."""
        for obj in sorted(objects, key=_rank):
            try:
                self._world.apply(obj)
            except ApiError as error:
                self.fail(f"{where}: {error.message}")

    def operator(self, act: OperatorState) -> None:
        """Start, stop or kill the operator; nothing happens if it is already in this state."""
        world = self._world
        if self._operator_factory is None:
            world.server.note("there is no operator in this run; steps about it do nothing")
            return
        if act.state == "running":
            if not world.operator_alive:
                world.start_operator(self._operator_factory)
        elif act.state == "stopped":
            world.stop_operator()
        else:
            world.kill_operator()
        self._invariants.operator_is(act.state == "running")
        self._journal.note(f"operator_{act.state}")

    def _do(self, act: Act, where: str) -> None:
        world = self._world
        match act:
            case Apply():
                self.apply(act.objects, where)
            case Delete():
                world.server.delete(_ref(act.target))
            case Patch():
                world.server.merge_patch(_ref(act.target), act.patch)
            case Scale():
                world.server.scale(_ref(act.target), act.replicas)
            case Finish():
                world.kubelets.finish(_ref(act.target), act.phase)
            case Drain():
                world.drain(act.node)
                self._journal.note("drain_started", act.node)
            case KubeletState():
                (world.start_kubelet if act.running else world.stop_kubelet)(act.node)
                self._journal.note(f"kubelet_{'running' if act.running else 'stopped'}", act.node)
            case OperatorState():
                self.operator(act)
            case Expect():
                self._expect(act, where)
            case _:
                assert_never(act)

    def _expect(self, expect: Expect, where: str) -> None:
        missed = unmet(expect, self._world.store.list(expect.kind))
        if missed:
            self.fail(f"{where}: {missed}")
        else:
            self._journal.note("expectation_met", expect.kind)

    def fail(self, words: str) -> None:
        """Record a failure."""
        self.failures.append(words)
        self._journal.note("step_failed", message=words)


def _ref(target: StepTarget) -> Ref:
    return Ref(target.kind, target.namespace, target.name)


def _rank(obj: Json) -> int:
    kind = str(obj.get("kind"))
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
