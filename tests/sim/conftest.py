"""A small world for each test, closed afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.sim.world import SimWorld


@pytest.fixture
def world() -> Iterator[SimWorld]:
    with SimWorld(seed=1) as made:
        yield made
