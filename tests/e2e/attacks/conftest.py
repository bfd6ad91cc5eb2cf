"""One control plane for all attacks of a session: everything installed, fake nodes in two pools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import prepare


@pytest.fixture(scope="package")
def attacked_plane(
    binaries: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane with every dialect installed; `stage_of` starts an operator on it."""
    # Its controllers have rights of their own each, as in every cluster of people's.
    controllers = ("--use-service-account-credentials=true",)
    with ControlPlane.start(
        tmp_path_factory.mktemp("attacked"), kwok=True, controller_manager_args=controllers
    ) as plane:
        prepare(plane)
        yield plane
