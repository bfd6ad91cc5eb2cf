"""What an owner costs in the engine alone, from its first event until its hold shows its claim.

The embedded cluster has one Hold for each owner. The owners come one after another, or all at once,
through the gate (door 1) or our scheduler (door 2). Only the calls of the engine count: events,
plans and the results of writes. CPU time depends on the machine; the number of calls of functions
(with --calls) and of decisions does not, so that two versions can be compared exactly. Last come
pods that nobody cares for, from their creation until they are gone: most pods of a cluster are.

    python -m bench.owners [--owners 60] [--nodes 6] [--calls] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from time import process_time
from typing import Any

from bench.lab import Json
from headroom.core.actions import Action, Outcome
from headroom.core.objects import Key
from headroom.core.plan import Plan, Sequence
from headroom.core.policy import Policy
from headroom.core.subjects import Subject
from headroom.engine.engine import Controller, Engine
from headroom.ports import Event
from headroom.runtime.operator import Operator
from headroom.sim.world import SimWorld
from testbed.nodes import fake_node

NEEDS = {"requests": {"cpu": "100m", "memory": "64Mi"}}
CONTAINERS = [{"name": "main", "image": "app", "resources": NEEDS}]
CAPACITY = {"cpu": "16", "memory": "64Gi", "pods": "110"}
DOORS: dict[str, Json] = {
    "1": {"schedulingGates": [{"name": "headroom.dev/claim"}]},
    "2": {"schedulerName": "headroom-scheduler"},
    "": {},
}
PLAIN = ""
APART_S = 0.05
PARTS = ("observe", "plan", "settle")


class MeasuredEngine(Engine):
    """An engine that counts the CPU of its own calls."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.decided: Counter[str] = Counter()
        self.profile: cProfile.Profile | None = None
        controllers = self._controllers.items()
        self._controllers = {topic: partial(self._look, each) for topic, each in controllers}

    @contextmanager
    def counted(self, part: str) -> Iterator[None]:
        began = process_time()
        if self.profile:
            self.profile.enable()
        yield
        if self.profile:
            self.profile.disable()
        self.spent[part] += process_time() - began

    def observe(self, event: Event, now: datetime) -> None:
        self.decided["events"] += 1
        with self.counted("observe"):
            super().observe(event, now)

    def plan(self, now: datetime) -> Plan:
        self.decided["plans"] += 1
        with self.counted("plan"):
            return super().plan(now)

    def settle(self, action: Action, outcome: Outcome, now: datetime) -> bool:
        with self.counted("settle"):
            return super().settle(action, outcome, now)

    def halts(self, sequence: Sequence, step: int, now: datetime) -> str:
        with self.counted("settle"):
            return super().halts(sequence, step, now)

    def finish(self, sequence: Sequence, completed: bool, now: datetime) -> None:
        self.decided[f"{sequence.work.value} (work)"] += 1
        with self.counted("settle"):
            super().finish(sequence, completed, now)

    def _look(self, controller: Controller, subject: Subject, now: datetime) -> Iterable[Sequence]:
        self.decided[subject.topic.value] += 1
        return controller(subject, now)


def measure(door: str, burst: bool, owners: int, nodes: int, profile: bool) -> MeasuredEngine:
    """Hand `owners` holds over; return the engine with what that took."""
    engine = MeasuredEngine(Policy())
    with SimWorld() as world:
        _prepare(world, engine, owners, nodes, profile)
        for number in range(owners):
            world.apply(owner(number, door))
            if not burst:
                world.run_for(APART_S)
        world.run_for(10)
        gc.unfreeze()
    pods = (engine.ledger.pods[Key("default", f"owner-{number}")] for number in range(owners))
    unbound = sum(not pod.node for pod in pods)
    if unbound:
        raise SystemExit(f"bench owners: {unbound} owners were not bound")
    return engine


def measure_plain(pods: int, nodes: int, profile: bool) -> MeasuredEngine:
    """Let pods come one after another and go, beside holds that are not for them."""
    engine = MeasuredEngine(Policy())
    with SimWorld() as world:
        _prepare(world, engine, pods, nodes, profile)
        for number in range(pods, 2 * pods):
            world.apply(owner(number, PLAIN))
            world.run_for(APART_S)
        world.run_for(10)
        for number in range(pods, 2 * pods):
            world.delete("Pod", "default", f"owner-{number}")
        world.run_for(60)
        gc.unfreeze()
    left = sum(pod.labels.get("app", "").startswith("app-") for pod in engine.ledger.pods.values())
    if left:
        raise SystemExit(f"bench owners: {left} pods are not gone")
    return engine


def _prepare(
    world: SimWorld, engine: MeasuredEngine, holds: int, nodes: int, profile: bool
) -> None:
    """Start the operator, let it hold everything, and begin to measure."""
    for number in range(nodes):
        world.apply(fake_node(f"node-{number}", CAPACITY, {}))
    for number in range(holds):
        world.apply(hold(number))
    world.start_operator(lambda cluster, clock: Operator(cluster, clock, engine))
    world.run_for(20)
    engine.spent.clear()
    engine.decided.clear()
    engine.profile = cProfile.Profile() if profile else None
    gc.collect()
    gc.freeze()


def hold(number: int) -> Json:
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Hold",
        "metadata": {"name": f"hold-{number}", "namespace": "default"},
        "spec": {
            "template": {"spec": {"containers": CONTAINERS}},
            "owners": [{"labelSelector": {"matchLabels": {"app": f"app-{number}"}}}],
        },
    }


def owner(number: int, door: str) -> Json:
    labels = {"app": f"app-{number}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"owner-{number}", "namespace": "default", "labels": labels},
        "spec": {"containers": CONTAINERS, **DOORS[door]},
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench owners", description=__doc__.splitlines()[0])
    parser.add_argument("--owners", type=int, default=60)
    parser.add_argument("--nodes", type=int, default=6)
    parser.add_argument("--doors", default="1,2")
    parser.add_argument("--calls", action="store_true", help="count calls of functions as well")
    parser.add_argument("--decisions", action="store_true", help="count decisions by topic as well")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    given = parser.parse_args(arguments)
    print(f"{'OWNERS COME':<24}" + "".join(f"{part.upper():>11}" for part in (*PARTS, "all")))
    for door in given.doors.split(","):
        for burst in (False, True):
            run = partial(measure, door, burst, given.owners, given.nodes)
            _report(f"door {door}, {'together' if burst else 'in turn'}", run, given)
    run = partial(measure_plain, given.owners, given.nodes)
    _report("no door, in turn", run, given)
    return 0


def _report(what: str, run: Callable[[bool], MeasuredEngine], given: argparse.Namespace) -> None:
    """Print what an owner costs, and what was counted in a second run."""
    owners: int = given.owners
    print(_row(what, run(False), owners))
    if not (given.calls or given.decisions or given.profile):
        return
    counted = run(True)
    assert counted.profile is not None
    if given.calls:
        stats: Any = pstats.Stats(counted.profile)  # Its total has no type.
        print(f"    {stats.total_calls / owners:,.0f} calls an owner")
    for name, count in sorted(counted.decided.items()) if given.decisions else ():
        print(f"    {name:<24}{count / owners:>6.2f} an owner")
    if given.profile:
        pstats.Stats(counted.profile).strip_dirs().sort_stats("tottime").print_stats(45)


def _row(what: str, engine: MeasuredEngine, owners: int) -> str:
    figures = [engine.spent[part] * 1e6 / owners for part in PARTS]
    cells = "".join(f"{figure:>8.0f} us" for figure in (*figures, sum(figures)))
    return f"{what:<24}{cells}"


if __name__ == "__main__":
    sys.exit(main())
