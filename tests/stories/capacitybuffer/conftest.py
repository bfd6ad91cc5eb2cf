"""Worlds in which CapacityBuffers are served: the embedded cluster, and a real control plane."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.dialects.capacitybuffer import CAPACITYBUFFER
from headroom.wire.kind_codecs import KindCodecs
from testbed.controlplane import ControlPlane
from tests.stories.embedded import EmbeddedWorld
from tests.stories.speaking import BOTH, embedded_world, world_of
from tests.stories.world import World

CODECS = KindCodecs([CAPACITYBUFFER])


@pytest.fixture(scope="package")
def buffer_plane(story_plane: ControlPlane) -> ControlPlane:
    """The stories' control plane, with the kind CapacityBuffer."""
    return story_plane


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world_of(request, CODECS, "buffer_plane") as here:
        yield here


@pytest.fixture
def embedded() -> Iterator[EmbeddedWorld]:
    with embedded_world(CODECS) as here:
        yield here
