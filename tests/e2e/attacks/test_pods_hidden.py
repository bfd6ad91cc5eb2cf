"""The right to pods is taken from a running operator, and given back: docs/operating/faults.md."""

from __future__ import annotations

import contextlib
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, RBAC, Stage, Tenant
from tests.e2e.installing import until
from tests.e2e.processes import OperatorProcess
from tests.e2e.throttling import Gateway
from tests.stories.things import GATE, hold, pod
from tests.versions import needs

pytestmark = pytest.mark.e2e
ACCOUNT = "headroom-operator"


@pytest.fixture
def gateway(attacked_plane: ControlPlane) -> Iterator[Gateway]:
    with Gateway(attacked_plane) as gateway:
        yield gateway


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def probes() -> str:
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def stage(
    attacked_plane: ControlPlane, gateway: Gateway, probes: str, tmp_path: Path
) -> Iterator[Stage]:
    account = attacked_plane.service_account_kubeconfig(HOME, ACCOUNT, seconds=7200)
    log = tmp_path / "log"
    with OperatorProcess(gateway.kubeconfig(account), log, "--probes", probes) as operator:
        stage = Stage(attacked_plane, operator)
        yield stage
        stage.close()


@contextlib.contextmanager
def without_right_to_pods(plane: ControlPlane) -> Iterator[None]:
    """Take every right to pods from the operator's role, and put them back."""
    path = f"{RBAC}/clusterroles/{ACCOUNT}"
    rules: list[Json] = plane.api.get(path)["rules"]
    plane.api.patch(path, {"rules": [_without_pods(rule) for rule in rules]})
    try:
        yield
    finally:
        plane.api.patch(path, {"rules": rules})


def _without_pods(rule: Json) -> Json:
    left = [each for each in rule.get("resources", ()) if each.partition("/")[0] != "pods"]
    return {**rule, "resources": left or ["none"]}


def ready(probes: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{probes}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as refused:
        refused.close()
        return False


def gates(tenant: Tenant) -> list[str]:
    """The gates that a new owner would be born with."""
    path = f"{PODS.path(tenant.name)}?dryRun=All"
    made = tenant.api.create(path, pod("nobody", app="kept", namespace=tenant.name))
    return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]


def phase(tenant: Tenant, kind: str, name: str) -> str:
    return str((tenant.get(kind, name).get("status") or {}).get("phase"))


@needs("mutating-policy")
def test_without_the_right_to_pods_nobody_is_gated_and_nothing_is_lost(
    stage: Stage, gateway: Gateway, probes: str
) -> None:
    tenant = stage.tenant("hidden", labels={"headroom.dev/claims": "enabled"})
    pid, made = stage.operator.pid, list[str]()
    assert pid is not None
    tenant.create(hold("kept", cpu="10m", app="kept"))
    until("it is held", lambda: phase(tenant, "Hold", "kept") == "Available")
    until("pods are gated", lambda: gates(tenant) == [GATE], seconds=60)
    until("it is ready", lambda: ready(probes))
    with without_right_to_pods(stage.plane):
        until("new holds are refused", lambda: _refused(tenant, made), seconds=60)
        gateway.cut()  # A watch that is open goes on being served until it has to ask again.
        until("it is not ready", lambda: not ready(probes), seconds=180)
        until("nobody is gated for it", lambda: gates(tenant) == [], seconds=180)
        stage.assert_same_process(pid)
    until("it is ready again", lambda: ready(probes), seconds=120)
    until("pods are gated again", lambda: gates(tenant) == [GATE], seconds=60)
    tenant.create(pod("owner", cpu="10m", app="kept"))
    until("the owner gets its hold", lambda: phase(tenant, "Pod", "owner") == "Running", seconds=60)
    claimed = tenant.get("Pod", "owner")["metadata"]["annotations"]["headroom.dev/claimed"]
    assert claimed == f"Hold/{tenant.name}/kept"
    until(
        "what was refused is held",
        lambda: all(phase(tenant, "Hold", name) == "Available" for name in made),
        seconds=240,
    )
    stage.assert_same_process(pid)


def _refused(tenant: Tenant, made: list[str]) -> bool:
    """Make a hold, and say whether it is told that its guardian may not be made.

    The API server takes a moment until it knows of a changed role.
    """
    name = f"new-{len(made)}"
    made.append(name)
    tenant.create(hold(name, cpu="10m", app=name))
    until("it is told how it stands", lambda: phase(tenant, "Hold", name) != "None", seconds=30)
    told = tenant.condition("Hold", name)
    return "forbidden" in str(told.get("message"))
