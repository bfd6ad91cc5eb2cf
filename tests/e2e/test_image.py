"""The image under a real OCI runtime, on a real control plane, with its own account's token.

As an installation has it: no capability, a read-only root, not root, the rights of `headroom
install` and its policies. The container is killed and started again: it leads again, and nothing is
lost.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.manifests import Installation, install_objects
from testbed.controlplane import ControlPlane
from testbed.ports import Ports
from tests.e2e.installing import install, until
from tests.image.bundle import Container, bundle_config, find_runc, unpack_image
from tests.stories.things import NAMESPACE, hold, pod
from tools.image.__main__ import build
from tools.image.packages import ImageUnavailable

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
ACCOUNT = f"/api/v1/namespaces/{HOME}/serviceaccounts/headroom-operator"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/headroom-operator"
INSTALLED = install_objects(Installation("headroom:test", replicas=0))


@pytest.fixture(scope="module")
def image() -> tuple[bytes, str]:
    """The archive of the image and its digest."""
    if platform.machine() != "x86_64" or os.getuid() != 0:
        pytest.skip("runc needs root, and the test's image is for amd64")
    try:
        archive, (digest,) = build(["amd64"])
    except ImageUnavailable as trouble:
        pytest.skip(str(trouble))
    return archive, digest


@pytest.fixture(scope="module")
def plane(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of our own, with an installation of no replicas."""
    with ControlPlane.start(tmp_path_factory.mktemp("image"), kwok=True) as plane:
        install(plane, INSTALLED)
        plane.wait_nodes_ready(1, plane.add_fake_nodes(1, cpu="2"))
        yield plane


@pytest.fixture
def container(image: tuple[bytes, str], plane: ControlPlane, tmp_path: Path) -> Iterator[Container]:
    config = unpack_image(image[0], tmp_path / "rootfs")
    write_account(plane, tmp_path / "account")
    (deployment,) = (made for made in INSTALLED if made["kind"] == "Deployment")
    spec = json.loads(json.dumps(deployment["spec"]["template"]["spec"]))
    ports = Ports()
    for number in ("8080", "8081"):  # Its network is the machine's, where these may be taken.
        free = str(ports.take())
        args = spec["containers"][0]["args"]
        spec["containers"][0]["args"] = [each.replace(f":{number}", f":{free}") for each in args]
    server = urlsplit(plane.server)
    variables = {
        "HEADROOM_NAMESPACE": HOME,
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }
    made = bundle_config(config, spec, "headroom-operator-0", variables)
    (tmp_path / "config.json").write_text(json.dumps(made), encoding="utf-8")
    running = Container(find_runc(), tmp_path, f"headroom-test-{os.getpid()}")
    yield running
    running.close()
    ports.close()


def write_account(plane: ControlPlane, directory: Path) -> None:
    """Write what a kubelet mounts into a pod of the operator's account."""
    directory.mkdir(mode=0o755)
    token = plane.api.create(f"{ACCOUNT}/token", {"spec": {"expirationSeconds": 3600}})
    (directory / "token").write_text(token["status"]["token"], encoding="utf-8")
    (directory / "ca.crt").write_text(plane.identities.authority_pem, encoding="utf-8")
    (directory / "namespace").write_text(HOME, encoding="utf-8")


def test_the_same_sources_are_the_same_image(image: tuple[bytes, str]) -> None:
    archive, digests = build(["amd64"])
    assert digests == [image[1]]
    assert archive == image[0]


def test_the_operator_works_from_its_image_and_loses_nothing_when_it_is_killed(
    container: Container, plane: ControlPlane
) -> None:
    def phase(name: str) -> str:
        return str(plane.api.get(HOLDS.path(NAMESPACE, name)).get("status", {}).get("phase"))

    def guardians() -> dict[str, str]:
        found = plane.api.items(PODS.path(NAMESPACE))
        label = "headroom.dev/role"
        return {
            each["metadata"]["uid"]: each["spec"].get("nodeName", "")
            for each in found
            if each["metadata"].get("labels", {}).get(label) == "guardian"
        }

    container.start()
    status = container.status()
    assert status["Uid"].split() == ["65532"] * 4
    assert {status[name] for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    plane.api.create(HOLDS.path(NAMESPACE), hold("kept", 2))
    until("the hold is available", lambda: phase("kept") == "Available", seconds=60)
    before = guardians()

    assert container.end("KILL") == 137
    plane.api.create(PODS.path(NAMESPACE), pod("rival", 2))
    plane.api.create(PODS.path(NAMESPACE), pod("owner", 2, "web", gated=True))
    container.start()
    holder = plane.api.get(LEASE)["spec"]["holderIdentity"]
    assert holder.startswith("headroom-operator-0-")
    assert len(before) == 1

    def placed() -> bool:
        owner = plane.api.get(PODS.path(NAMESPACE, "owner"))
        return owner["spec"].get("nodeName") in before.values()

    until("the owner has the room", placed, seconds=60)
    assert not plane.api.get(PODS.path(NAMESPACE, "rival"))["spec"].get("nodeName")
    until("the hold is used up", lambda: phase("kept") == "Succeeded", seconds=60)
    assert container.end("TERM") == 0
    assert "refused" not in container.log.read_text(encoding="utf-8")
