"""One control plane for all end-to-end tests of a session, with three hollow nodes.

Tests that disturb components or need other nodes start their own; `ControlPlane.start` is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.controlplane import ControlPlane


@pytest.fixture(scope="session")
def control_plane(
    binaries: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane with three hollow nodes, shared by the session."""
    with ControlPlane.start(tmp_path_factory.mktemp("control-plane"), hollow_nodes=3) as plane:
        yield plane
