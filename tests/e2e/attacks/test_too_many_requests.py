"""An API server that answers 429 to every write of pods and statuses, for minutes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, Stage, Tenant
from tests.e2e.installing import until
from tests.e2e.processes import OperatorProcess
from tests.e2e.throttling import Gateway
from tests.stories.things import hold, pod

pytestmark = pytest.mark.e2e
REFUSED_S = 75
MOST_TRIES = 400  # in that time, of two objects; a busy loop makes thousands
MOST_LINES = 200


@pytest.fixture
def gateway(attacked_plane: ControlPlane) -> Iterator[Gateway]:
    with Gateway(attacked_plane) as gateway:
        yield gateway


@pytest.fixture
def stage(attacked_plane: ControlPlane, gateway: Gateway, tmp_path: Path) -> Iterator[Stage]:
    account = attacked_plane.service_account_kubeconfig(HOME, "headroom-operator", seconds=7200)
    with OperatorProcess(gateway.kubeconfig(account), tmp_path / "log") as operator:
        stage = Stage(attacked_plane, operator)
        yield stage
        stage.close()


def phase(tenant: Tenant, kind: str, name: str) -> str:
    return str((tenant.get(kind, name).get("status") or {}).get("phase"))


def test_writes_refused_for_minutes_are_made_when_the_server_takes_them_again(
    stage: Stage, gateway: Gateway
) -> None:
    tenant, pid = stage.tenant("throttled"), stage.operator.pid
    assert pid is not None
    tenant.create(hold("before", cpu="10m", app="before"))
    until("it is held", lambda: phase(tenant, "Hold", "before") == "Available")
    lines = len(stage.operator.log(100_000).splitlines())
    gateway.refuse = lambda method, path: method != "GET" and ("/pods" in path or "/holds" in path)
    tenant.create(hold("during", cpu="10m", app="during"))
    tenant.create(pod("owner", cpu="10m", app="before", gated=True))
    time.sleep(REFUSED_S)
    assert 0 < gateway.refused < MOST_TRIES
    assert phase(tenant, "Hold", "during") != "Available"
    assert phase(tenant, "Pod", "owner") == "Pending"
    gateway.refuse = lambda method, path: False
    until("the owner runs", lambda: phase(tenant, "Pod", "owner") == "Running", seconds=60)
    until(
        "the new hold is held",
        lambda: phase(tenant, "Hold", "during") == "Available",
        seconds=180,
    )
    stage.assert_same_process(pid)
    assert len(stage.operator.log(100_000).splitlines()) - lines < MOST_LINES
