"""Which seeds are played: a few wherever tests run, the others where there is time.

`SEEDS=500 pytest tests/simulation` plays more of them, `SEED=17` one alone. Those beyond the first
few are marked as the tests on a real cluster are, so that `make test-fast` stays fast.
"""

from __future__ import annotations

import os

import pytest
from _pytest.mark.structures import ParameterSet


def seeds(count: int, quick: int) -> list[ParameterSet]:
    """So many seeds, of which the first are quick ones; the environment has the last word."""
    first = int(os.environ.get("SEED", "0"))
    count = 1 if "SEED" in os.environ else int(os.environ.get("SEEDS", count))
    return [
        pytest.param(seed, marks=[] if seed < first + quick else pytest.mark.e2e)
        for seed in range(first, first + count)
    ]


def found_faults(*numbers: int) -> list[ParameterSet]:
    """Seeds that once showed a fault, played where there is time."""
    return [pytest.param(seed, marks=pytest.mark.e2e) for seed in numbers]
