"""Every Cluster there is, as a parameter of the contract: add a ground here to hold it to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from testbed.controlplane import ControlPlane
from tests.contract.ground import Ground
from tests.contract.kube_ground import KubeGround, install
from tests.contract.sim_ground import SimGround


@pytest.fixture(scope="package")
def bare_control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """An API server with our kinds, where nothing schedules and nothing controls."""
    request.getfixturevalue("binaries")
    with bare_plane() as plane:
        yield plane


@contextmanager
def bare_plane() -> Iterator[ControlPlane]:
    with ControlPlane.start(scheduler=False, controller_manager=False) as plane:
        install(plane)
        yield plane


def _kube(request: pytest.FixtureRequest) -> Ground:
    return KubeGround(request.getfixturevalue("bare_control_plane"))


def _sim(_: pytest.FixtureRequest) -> Ground:
    return SimGround()


GROUNDS: dict[str, Callable[[pytest.FixtureRequest], Ground]] = {"sim": _sim, "kube": _kube}
PARAMETERS = ["sim", pytest.param("kube", marks=pytest.mark.e2e)]


@pytest.fixture(params=PARAMETERS)
def ground(request: pytest.FixtureRequest) -> Ground:
    return GROUNDS[request.param](request)
