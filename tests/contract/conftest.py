"""Every Cluster there is, as a parameter of the contract: add a ground here to hold it to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from testbed.controlplane import ControlPlane
from tests.contract.ground import Ground
from tests.contract.kube_ground import KubeGround, install
from tests.e2e.conftest import binaries

__all__ = ["binaries"]


@pytest.fixture(scope="session")
def bare_control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """An API server with our kinds, where nothing schedules and nothing controls."""
    request.getfixturevalue("binaries")
    with ControlPlane.start(scheduler=False, controller_manager=False) as plane:
        install(plane)
        yield plane


def _kube(request: pytest.FixtureRequest) -> Ground:
    return KubeGround(request.getfixturevalue("bare_control_plane"))


GROUNDS: dict[str, Callable[[pytest.FixtureRequest], Ground]] = {"kube": _kube}
PARAMETERS = [pytest.param("kube", marks=pytest.mark.e2e)]


@pytest.fixture(params=PARAMETERS)
def ground(request: pytest.FixtureRequest) -> Ground:
    return GROUNDS[request.param](request)
