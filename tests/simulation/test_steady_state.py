"""Holds and owners come and go at the same pace: after some minutes nothing grows any more."""

from __future__ import annotations

import pytest

from headroom.core import derived_names
from headroom.core.policy import Policy
from headroom.engine.assumptions import ENDED_FOR
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.world import SimWorld
from tests.simulation.footprint import BOUNDED, footprint
from tests.stories.things import hold, pod

PACE_S = 2.0
LATER = 2  # handovers between a hold and its owner, and between that and the end of both
SLACK = 12
CLEARED = ("_changed", "_moved")  # lists that grow to their bound and are then emptied
ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}


class Churn:
    """One hold every few seconds, its owner a little later; then both go."""

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self._number = 0

    def go_on(self, seconds: float) -> None:
        for _ in range(round(seconds / PACE_S)):
            self._step(self._number)
            self._number += 1
            self._world.run_for(PACE_S)

    def _step(self, number: int) -> None:
        name, owner, old = f"c-{number}", f"c-{number - LATER}", f"c-{number - 2 * LATER}"
        self._world.apply(hold(name, 1, name))
        if number >= LATER:
            doors = {"gated": True} if number % 2 else {"schedulerName": "headroom-scheduler"}
            self._world.apply(pod(owner, 1, owner, **doors))
        if number >= 2 * LATER:
            bound = self._world.get("Pod", "default", old)
            assert bound is not None
            assert bound["spec"].get("nodeName")
            for kind in ("Pod", "Hold"):
                self._world.delete(kind, "default", old, 0)


@pytest.mark.slow
def test_after_some_minutes_of_churn_no_part_of_the_operator_grows() -> None:
    operators: list[Operator] = []

    def operator(cluster: Cluster, clock: Clock) -> Operator:
        operators.append(Operator(cluster, clock, Engine(Policy())))
        return operators[-1]

    with SimWorld(seed=1) as world:
        for name in ("a", "b"):
            room = {"capacity": ROOM, "allocatable": ROOM}
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": room}
            world.apply(node)
        world.start_operator(operator)
        churn = Churn(world)
        churn.go_on(1.5 * ENDED_FOR.total_seconds())
        before, names = footprint(operators[0]), len(derived_names._names)
        churn.go_on(1.5 * ENDED_FOR.total_seconds())
        after = footprint(operators[0])
    more = {
        path: (before[path], count)
        for path, count in after.items()
        if path.rpartition(".")[2] not in CLEARED or count > BOUNDED[path.rpartition(".")[2]]
    }
    assert {path: pair for path, pair in more.items() if pair[1] > pair[0] + SLACK} == {}
    assert len(derived_names._names) <= names + SLACK
