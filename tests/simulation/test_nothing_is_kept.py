"""Tenants come and go for as long as a cluster lives: nothing of those that are gone is kept."""

from __future__ import annotations

import pytest

from headroom.core.policy import Policy
from headroom.engine.engine import Engine
from headroom.ports import Clock, Cluster
from headroom.runtime.operator import Operator
from headroom.sim.world import SimWorld
from tests.fuzz.routes import CODECS
from tests.simulation.footprint import footprint, grown
from tests.simulation.tenants import Tenant

TENANTS = 12
QUIET_S = 4000.0


@pytest.mark.slow
def test_of_tenants_that_are_gone_no_part_of_the_operator_keeps_anything() -> None:
    operators: list[Operator] = []

    def operator(cluster: Cluster, clock: Clock) -> Operator:
        operators.append(
            Operator(cluster, clock, Engine(Policy(scheduler_names=CODECS.schedulers)))
        )
        return operators[-1]

    with SimWorld(seed=1, codecs=CODECS) as world:
        world.start_operator(operator)
        world.run_for(60)
        before = footprint(operators[0])
        tenants = [Tenant(world, number) for number in range(TENANTS)]
        for number, tenant in enumerate(tenants):
            tenant.come()
            world.run_for(15)
            tenant.use()
            world.run_for(30)
            if number:
                tenants[number - 1].go()
            world.run_for(5)
        tenants[-1].go()
        world.run_for(QUIET_S)
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})
        world.run_for(60)  # Old failures are forgotten when there is something to look at.
        left = [item["metadata"]["name"] for item in world.list("Pod")]
        assert left == []
        assert grown(before, footprint(operators[0]), TENANTS // 3) == []
