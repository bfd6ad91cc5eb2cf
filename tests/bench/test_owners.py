"""The benchmark of owners hands every hold over, at both doors, and counts what that took."""

from __future__ import annotations

import pytest

from bench.owners import PARTS, measure


@pytest.mark.parametrize("door", ["1", "2"])
@pytest.mark.parametrize("burst", [False, True])
def test_every_owner_is_bound_and_each_part_is_counted(door: str, burst: bool) -> None:
    engine = measure(door, burst, owners=3, nodes=2, profile=False)
    assert sorted(engine.spent) == sorted(PARTS)
    assert engine.decided["pod"] >= 3
