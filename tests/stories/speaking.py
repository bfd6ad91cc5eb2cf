"""Worlds in which a dialect is on: the embedded cluster, and the stories' control plane.

Each folder of a dialect's stories says what it speaks and what its control plane needs besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from headroom.sim.world import START
from headroom.wire.kind_codecs import KindCodecs
from tests.stories.embedded import EmbeddedWorld
from tests.stories.real import RealWorld

BOTH = ["embedded", pytest.param("real", marks=pytest.mark.e2e)]


@contextmanager
def world_of(
    request: pytest.FixtureRequest, codecs: KindCodecs, plane: str
) -> Iterator[EmbeddedWorld | RealWorld]:
    """The world that a test asks for; `plane` names the fixture of the real one."""
    here: EmbeddedWorld | RealWorld
    if request.param == "embedded":
        here = EmbeddedWorld(codecs=codecs)
    else:
        here = RealWorld(request.getfixturevalue(plane), codecs)
    yield here
    here.close()


@contextmanager
def embedded_world(codecs: KindCodecs, start: datetime = START) -> Iterator[EmbeddedWorld]:
    """The embedded cluster alone, for stories in which much time passes."""
    here = EmbeddedWorld(start=start, codecs=codecs)
    yield here
    here.close()
