"""Worlds in which Mountpoint's gate is served: the embedded cluster, and a real control plane."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headroom.dialects.schedulinggate import SCHEDULING_GATE
from headroom.wire.kind_codecs import KindCodecs
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install
from tests.stories.embedded import EmbeddedWorld
from tests.stories.speaking import BOTH, embedded_world, world_of
from tests.stories.world import World

CODECS = KindCodecs([SCHEDULING_GATE])


@pytest.fixture
def gate_plane(story_plane: ControlPlane) -> ControlPlane:
    """The stories' control plane, with all that the dialect brings."""
    install(story_plane, [*CODECS.classes(), *CODECS.objects()])
    return story_plane


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with world_of(request, CODECS, "gate_plane") as here:
        yield here


@pytest.fixture
def embedded() -> Iterator[EmbeddedWorld]:
    with embedded_world(CODECS) as here:
        yield here
