"""A soak: days of faults and hostile tenants, nothing lost, nothing leaked.

`make soak` plays seven days of a hundred seeds, `SOAK_DAYS=7 SEED=17 pytest` on this file one of
them, with its story. Where tests run, it is some hours of a few seeds.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation.seeds import seeds
from tests.simulation.soak import Soak
from tests.simulation.test_seeds import Rejections

DAYS = float(os.environ.get("SOAK_DAYS", "0.25"))
STORY_LINES = 200


@pytest.mark.parametrize("seed", seeds(4, quick=1))
def test_days_with_hostile_tenants_lose_no_hold_and_leak_nothing(seed: int) -> None:
    soak = Soak(seed, DAYS)
    rejections = Rejections(soak)
    try:
        soak.play()
        soak.invariants.finish()
        found = soak.found + soak.violations() + rejections.found
    finally:
        soak.close()
    story = "\n".join(soak.log[-STORY_LINES:])
    replay = f"SOAK_DAYS={DAYS:g} SEED={seed} pytest tests/simulation/test_soak.py"
    assert not found, "\n".join([*found[:40], "", "replay with", f"    {replay}", "", story])
