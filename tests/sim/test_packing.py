"""The simulated Karpenter packs pods first and chooses machines last."""

from __future__ import annotations

import pytest

from tests.sim.packing_cases import CASES, simulated


@pytest.mark.parametrize("case", CASES)
def test_machines_are_those_that_karpenter_orders(case: str) -> None:
    things, machines = CASES[case]
    assert simulated(things) == machines
