"""Worlds in which korder's kinds are served: the embedded cluster, and a real control plane."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from headroom.dialects.korder import KORDER
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.kinds import DAEMON_SETS
from testbed.controlplane import ControlPlane
from tests.stories.embedded import EmbeddedWorld
from tests.stories.speaking import BOTH, embedded_world, world_of
from tests.stories.world import World

CODECS = KindCodecs([KORDER], (DAEMON_SETS,))


@pytest.fixture(scope="package")
def korder_plane(story_plane: ControlPlane) -> ControlPlane:
    """The stories' control plane, with korder's kinds and what gates pods that ask."""
    return story_plane


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world_of(request, CODECS, "korder_plane") as here:
        yield here


@pytest.fixture
def embedded() -> Iterator[EmbeddedWorld]:
    with embedded_world(CODECS) as here:
        yield here


@pytest.fixture
def before_six() -> Iterator[EmbeddedWorld]:
    """The same, on a morning at a minute to six: for stories that go by the clock."""
    with embedded_world(CODECS, datetime(2027, 1, 4, 5, 59, tzinfo=UTC)) as here:
        yield here
