"""An installation with an image of a private registry, and other names for Mountpoint's helpers.

The operator runs with the rights of its own account and under the installed admission policies, so
whatever does not follow the flags is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headroom.cli.dialects import chosen
from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess
from tests.stories.things import hold

pytestmark = pytest.mark.e2e
IMAGE = "registry.example.com/mirror/pause:3.10"
NAMES = "namespace=s3,helper-class=helper,preempting-class=pushing,headroom-class=low"
FLAGS = ("--dialect", "schedulinggate", "--pause-image", IMAGE, "--mountpoint-names", NAMES)


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder = tmp_path_factory.mktemp("other-names")
    with ControlPlane.start(folder / "plane", hollow_nodes=2) as plane:
        codecs = chosen(["schedulinggate"], NAMES, IMAGE)
        install(plane, install_objects(Installation("example.com/x:1", replicas=0, codecs=codecs)))
        account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
        with OperatorProcess(account, folder / "operator.log", *FLAGS):
            yield plane


def images(pod: dict[str, Any]) -> list[str]:
    return [str(each["image"]) for each in pod["spec"]["containers"]]


def test_guardians_run_the_image_of_the_flag(plane: ControlPlane) -> None:
    plane.api.create(HOLDS.path("default"), hold("kept", cpu="100m"))

    def guardians() -> list[dict[str, Any]]:
        found = plane.api.items(PODS.path("default"))
        return [each for each in found if each["status"].get("phase") == "Running"]

    until("its guardian runs", lambda: len(guardians()) == 1, seconds=120)
    assert images(guardians()[0]) == [IMAGE]
