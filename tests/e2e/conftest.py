"""One control plane for all end-to-end tests of a session, with three hollow nodes.

Tests that disturb components or need other nodes start their own; `ControlPlane.start` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.binaries import BinariesUnavailable
from testbed.controlplane import ControlPlane
from testbed.karpenter import karpenter_binary


@pytest.fixture(scope="package")
def control_plane(
    binaries: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane with three hollow nodes, shared by the session."""
    with ControlPlane.start(tmp_path_factory.mktemp("control-plane"), hollow_nodes=3) as plane:
        yield plane


@pytest.fixture(scope="session")
def karpenter_program(binaries: Path, pytestconfig: pytest.Config) -> Path:
    """Karpenter's program; without it everything that needs it is skipped, loudly."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    try:
        with capture.global_and_fixture_disabled():
            return karpenter_binary()
    except BinariesUnavailable as trouble:
        with capture.global_and_fixture_disabled():
            print(f"\nTESTS WITH AN AUTOSCALER SKIPPED: {trouble}", file=sys.stderr)
        pytest.skip(str(trouble))
