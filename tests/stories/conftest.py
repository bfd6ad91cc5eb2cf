"""Every story is told twice: on the embedded cluster, and on a real control plane."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.cli.dialects import NAMES, chosen
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install
from tests.stories.embedded import EmbeddedWorld
from tests.stories.real import RealWorld
from tests.stories.repeating import Worlds
from tests.stories.world import World

EVERYTHING = Installation("example.com/headroom:1", replicas=0, codecs=chosen(NAMES))


@pytest.fixture(scope="package")
def story_plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One control plane with kwok and an installation of no replicas, for all stories."""
    with ControlPlane.start(tmp_path_factory.mktemp("stories"), kwok=True) as plane:
        install(plane, install_objects(EVERYTHING))
        yield plane


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.e2e)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    here: EmbeddedWorld | RealWorld
    if request.param == "embedded":
        here = EmbeddedWorld()
    else:
        here = RealWorld(request.getfixturevalue("story_plane"))
    yield here
    here.close()


@pytest.fixture
def embedded(request: pytest.FixtureRequest) -> Iterator[EmbeddedWorld]:
    """For stories in which hours pass; the parameter, if any, is the seed."""
    here = EmbeddedWorld(getattr(request, "param", 0))
    yield here
    here.close()


@pytest.fixture
def worlds(request: pytest.FixtureRequest) -> Iterator[Worlds]:
    real = request.param == "real"
    many = Worlds(request.getfixturevalue("story_plane") if real else None)
    yield many
    many.close()
