"""Seeds × faults with placeholders ahead of demand: the limits hold at every moment.

`SEEDS=200 pytest tests/simulation/test_demand_seeds.py` plays more, `SEED=17` one alone.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation.demand import NAME, QUIET_FOR, DemandScenario, ended_well, is_placeholder

FIRST = int(os.environ.get("SEED", "0"))
COUNT = 1 if "SEED" in os.environ else int(os.environ.get("SEEDS", "30"))
QUICK = 4  # The others are played where there is time for a real cluster too.
SEEDS = [
    pytest.param(seed, marks=[] if seed < FIRST + QUICK else pytest.mark.e2e)
    for seed in range(FIRST, FIRST + COUNT)
]


@pytest.mark.parametrize("seed", SEEDS)
def test_limits_hold_whatever_happens_and_no_real_pod_is_dropped(seed: int) -> None:
    scenario = DemandScenario(seed)
    world = scenario.world
    try:
        scenario.play()
        world.run_for(QUIET_FOR)
        found = ended_well(scenario)
        world.delete("Headroom", "default", NAME)
        world.run_for(60)
        left = sum(is_placeholder(pod) for pod in world.list("Pod"))
        found += [f"{left} placeholders outlive their headroom"] if left else []
        scenario.invariants.finish()
        found += scenario.invariants.violations + scenario.watch.found
    finally:
        scenario.close()
    replay = f"SEED={seed} pytest tests/simulation/test_demand_seeds.py"
    story = "\n".join(scenario.log)
    assert not found, "\n".join([*found[:20], "", "replay with", f"    {replay}", "", story])
