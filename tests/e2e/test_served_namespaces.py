"""`--namespaces`: an installation for some namespaces works there, and has no right elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import HOLDS, NAMESPACES, PODS
from headroom.wire.manifests import Installation, install_objects
from testbed.api import Api, ApiFailure
from testbed.controlplane import ControlPlane
from testbed.identities import OPERATOR
from tests.e2e.installing import install, until
from tests.e2e.processes import OperatorProcess
from tests.stories.things import Json, hold, pod

pytestmark = pytest.mark.e2e
OURS, THEIRS = "shop", "bank"


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own: rights of the whole cluster are others' business."""
    with ControlPlane.start(tmp_path_factory.mktemp("narrow"), kwok=True) as plane:
        for name in (OURS, THEIRS):
            plane.api.create(NAMESPACES.path(), {"metadata": {"name": name}})
        narrow = Installation("example.com/headroom:1", replicas=0, namespaces=(OURS,))
        install(plane, install_objects(narrow))
        plane.add_fake_nodes(1)
        plane.wait_nodes_ready(1)
        yield plane


def test_an_operator_for_one_namespace_works_there_and_may_write_nowhere_else(
    plane: ControlPlane, tmp_path: Path
) -> None:
    account = plane.service_account_kubeconfig("headroom-system", "headroom-operator")
    with OperatorProcess(account, tmp_path / "log", "--namespaces", OURS) as operator:
        for namespace in (THEIRS, OURS):
            plane.api.create(HOLDS.path(namespace), hold("h", namespace=namespace))
        for door in ("gated", "ours"):
            until("the hold is there", lambda: phase(plane) == "Available")
            hand_over(plane, door)
            plane.api.delete(HOLDS.path(OURS, "h"))
            plane.api.create(HOLDS.path(OURS, "h"), hold("h", namespace=OURS))
        assert "status" not in plane.api.get(HOLDS.path(THEIRS, "h"))
        assert not plane.api.items(PODS.path(THEIRS))
        log = operator.log()
    assert "forbidden" not in log
    assert "cannot" not in log
    who = plane.identities
    stolen = Api(plane.server, who.authority_pem, who.token(OPERATOR))
    with pytest.raises(ApiFailure, match="cannot create resource"):
        stolen.create(PODS.path(THEIRS), pod("intruder", namespace=THEIRS))
    with pytest.raises(ApiFailure, match="cannot patch resource"):
        stolen.patch(HOLDS.path(THEIRS, "h", "status"), {"status": {}})
    stolen.close()


def hand_over(plane: ControlPlane, door: str) -> None:
    doors: Json = {door: True}
    plane.api.create(PODS.path(OURS), pod(door, app="web", namespace=OURS, **doors))
    until(f"{door} runs", lambda: runs(plane, door))
    claimed = plane.api.get(PODS.path(OURS, door))["metadata"]["annotations"]
    assert claimed["headroom.dev/claimed"] == f"Hold/{OURS}/h"


def phase(plane: ControlPlane) -> str:
    status = plane.api.get(HOLDS.path(OURS, "h")).get("status") or {}
    return str(status.get("phase", ""))


def runs(plane: ControlPlane, name: str) -> bool:
    return bool(plane.api.get(PODS.path(OURS, name))["status"].get("phase") == "Running")
