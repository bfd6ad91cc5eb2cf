"""Seeds × faults with standing headrooms: a rough time, then quiet, then everything must be right.

`SEEDS=500 pytest tests/simulation/test_standing_seeds.py` plays more, `SEED=17` one alone.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulation.checks import breaches
from tests.simulation.scenario import BEYOND
from tests.simulation.seeds import found_faults, seeds
from tests.simulation.standing import StandingScenario
from tests.simulation.standing_checks import standing_breaches
from tests.simulation.test_seeds import INDEX_KIND, Rejections

FOUND = (111, 459, 535, 675, 873)
"""111: a slot whose owners use all of it was bound again beside them. 459: a latch was created and
deleted again and again. 535: a latch went as soon as its owner had come. 675: an owner lost its
nomination in its handover. 873: a latch was trusted that came after the end of its guardian."""


@pytest.mark.parametrize("seed", [*seeds(80, quick=3), *found_faults(*FOUND)])
def test_whatever_happens_every_slot_is_right_in_the_end(seed: int) -> None:
    scenario = StandingScenario(seed)
    rejections = Rejections(scenario)
    try:
        scenario.play()
        found = breaches(scenario.world) + standing_breaches(scenario.world)
        before = len(scenario.world.writes)
        scenario.world.run_for(BEYOND)
        late = Counter(
            f"{write.verb} {write.resource} {write.name} {write.subresource}".strip()
            for _, write, _ in scenario.world.writes[before:]
            if write.resource.kind != INDEX_KIND
        )
        found += [f"still writing, {count} times: {what}" for what, count in late.most_common(5)]
        scenario.invariants.finish()
        found += scenario.invariants.violations + rejections.found
    finally:
        scenario.close()
    story = "\n".join(scenario.log)
    replay = f"SEED={seed} pytest tests/simulation/test_standing_seeds.py"
    assert not found, "\n".join([*found, "", "replay with", f"    {replay}", "", story])
