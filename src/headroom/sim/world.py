"""The embedded cluster for synchronous code: create a world, add objects, let time pass, read it.

Time passes only inside `run_for` and similar methods. Scenarios, demos and tests use this class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from headroom.core.actions import Outcome
from headroom.sim.actor_context import ActorContext
from headroom.sim.api.indexes import PodIndex
from headroom.sim.api.registry import Registry
from headroom.sim.api.server import ApiServer
from headroom.sim.api.store import Store
from headroom.sim.api.values import Json, Ref
from headroom.sim.cluster import SimCluster
from headroom.sim.controllers.budgets import Budgets
from headroom.sim.controllers.daemonsets import DaemonSets
from headroom.sim.controllers.deployments import Deployments
from headroom.sim.controllers.ephemeral import EphemeralVolumes
from headroom.sim.controllers.evictions import TaintManager
from headroom.sim.controllers.garbage import GarbageCollector
from headroom.sim.controllers.jobs import Jobs
from headroom.sim.controllers.namespaces import Namespaces
from headroom.sim.controllers.nodes import Nodes
from headroom.sim.controllers.quotas import QuotaCounts
from headroom.sim.controllers.replicasets import ReplicaSets
from headroom.sim.controllers.statefulsets import StatefulSets
from headroom.sim.controllers.volumes import Volumes
from headroom.sim.drains import Drains
from headroom.sim.errors import SimulationError
from headroom.sim.faults import Faults
from headroom.sim.kubelet.actor import Kubelets
from headroom.sim.loop import DIGITS, SimClock, VirtualLoop
from headroom.sim.operator_process import OperatorFactory, OperatorProcess, mark_tasks
from headroom.sim.preloaded import preloaded
from headroom.sim.safety_check import SafetyCheck
from headroom.sim.scheduler.actor import Scheduler
from headroom.sim.settings import Settings
from headroom.wire.kind_codecs import NATIVE, KindCodecs
from headroom.wire.writes import Write

START = datetime(2027, 1, 4, 7, 0, tzinfo=UTC)
LONGEST = 3600.0

Objects = list[Json]


class SimWorld:
    """One cluster with its virtual clock, and at most one operator."""

    def __init__(
        self,
        start: datetime = START,
        seed: int = 0,
        settings: Settings | None = None,
        codecs: KindCodecs = NATIVE,
    ) -> None:
        self.loop = VirtualLoop()
        mark_tasks(self.loop)
        self.clock = SimClock(self.loop, start.astimezone(UTC))
        self.server = ApiServer(Store(self.clock.now, seed, Registry(codecs)))
        index = PodIndex(self.server.store)
        self.stage = ActorContext(
            self.loop, self.clock, self.server, index, settings or Settings(), seed
        )
        self.safety_check = SafetyCheck(self.stage)
        self.faults = Faults()
        self.writes: list[tuple[float, Write, Outcome]] = []
        self._crew: OperatorProcess | None = None
        self._crews: list[OperatorProcess] = []
        self.may_contain = False  # True: the creator of this world checks `contained` itself
        self._starts = 0
        self._kill_after: int | None = None
        for obj in (*preloaded(), *codecs.classes(), *codecs.objects()):
            self.server.create(obj)
        self.nodes = Nodes(self.stage)
        self.controllers = (
            GarbageCollector(self.stage),
            Namespaces(self.stage),
            Deployments(self.stage),
            ReplicaSets(self.stage),
            DaemonSets(self.stage),
            StatefulSets(self.stage),
            Jobs(self.stage),
            Budgets(self.stage),
            TaintManager(self.stage),
            Volumes(self.stage),
            EphemeralVolumes(self.stage),
            QuotaCounts(self.stage),
        )
        self.drains = Drains(self.stage)
        self.kubelets = Kubelets(self.stage)
        self.scheduler = Scheduler(self.stage)

    @property
    def store(self) -> Store:
        return self.server.store

    @property
    def elapsed(self) -> float:
        """Virtual seconds since the start."""
        return self.clock.elapsed()

    def apply(self, obj: Json) -> Json:
        """Create an object, or merge it into the existing one."""
        return self.server.apply(obj)

    def delete(self, kind: str, namespace: str, name: str, grace: int | None = None) -> None:
        self.server.delete(Ref(kind, namespace, name), grace=grace)

    def patch(self, kind: str, namespace: str, name: str, patch: Json) -> Json:
        """Apply a JSON merge patch."""
        return self.server.merge_patch(Ref(kind, namespace, name), patch)

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        return self.store.get(Ref(kind, namespace, name))

    def list(self, kind: str, namespace: str | None = None) -> Objects:
        return [*self.store.list(kind, namespace)]

    def events(self) -> Objects:
        """All events in the order in which they were first recorded."""
        return [*self.store.list("Event")]

    def finish(self, namespace: str, name: str, phase: str = "Succeeded") -> None:
        """Let a pod's containers end."""
        self.kubelets.finish(Ref("Pod", namespace, name), phase)

    def drain(self, node: str) -> None:
        """Cordon a node and evict its pods, except those of DaemonSets, as budgets allow."""
        self.drains.start(node)

    def stop_kubelet(self, node: str) -> None:
        self.kubelets.stop(node)
        self.nodes.kubelet_stopped(node)

    def start_kubelet(self, node: str) -> None:
        self.kubelets.resume(node)
        self.nodes.kubelet_started(node)

    def run_for(self, seconds: float) -> None:
        """Let this much virtual time pass."""
        self.run_to(self.elapsed + seconds)

    def run_to(self, moment: float) -> None:
        """Let time pass until this many seconds after the start."""
        self.loop.run_to(moment)
        self.loop.settle_at(moment)

    def run_until_idle(self, limit: float = LONGEST) -> bool:
        """Let time pass until nothing more happens; False if `limit` was reached first."""
        return not self.loop.run_to(self.elapsed + limit)

    def run_until(
        self, reached: Callable[[], bool], limit: float = 60.0, step: float = 0.01
    ) -> bool:
        """Let time pass in small steps until a condition is true; False after `limit` seconds."""
        end = round(self.elapsed + limit, DIGITS)  # rounded as the clock does
        while not reached():
            if self.elapsed >= end:
                return False
            self.run_to(min(end, self.elapsed + step))
        return True

    def start_operator(self, factory: OperatorFactory) -> SimCluster:
        """Start an operator with its own connection."""
        if self._crew is not None and self._crew.alive:
            raise SimulationError("the operator is running already")
        self._starts += 1
        cluster = SimCluster(self.stage, self.faults, self._note_write, f"operator-{self._starts}")
        self._crew = OperatorProcess(self.loop, cluster, factory(cluster, self.clock))
        self._crews.append(self._crew)
        self._crew.start()
        return cluster

    def stop_operator(self) -> None:
        """Ask the operator to stop gracefully, and give it time."""
        if self._crew is not None:
            self._crew.stop()

    def kill_operator(self) -> None:
        """End the operator at once, between two writes."""
        if self._crew is not None:
            self._crew.kill()
        self._kill_after = None

    def kill_operator_after(self, writes: int) -> None:
        """Kill the operator as soon as this many more of its writes have taken effect."""
        self._kill_after = writes

    def contained(self) -> tuple[str, ...]:
        """Unexpected exceptions that operators limited to one object; each is a bug."""
        return tuple(line for crew in self._crews for line in crew.contained())

    @property
    def operator_alive(self) -> bool:
        return self._crew is not None and self._crew.alive

    def close(self) -> None:
        """End everything; the world cannot be used afterwards.

        A contained exception is an error here, and so is a violation of the safety rule of
        handovers, so that no test misses a bug.
        """
        found = (*self.contained(), *self.safety_check.breaches)
        self.kill_operator()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        if found and not self.may_contain:
            raise SimulationError(f"the operator did what it must not: {'; '.join(found)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _note_write(self, write: Write, outcome: Outcome) -> None:
        self.writes.append((self.elapsed, write, outcome))
        if self._kill_after is not None:
            self._kill_after -= 1
            if self._kill_after <= 0 and self._crew is not None:
                # Cut it now, but end its tasks a moment later: one of them is running.
                self._crew.cluster.cut()
                self.loop.call_soon(self.kill_operator)
