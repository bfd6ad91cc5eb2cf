"""An API server that answers 429: to every write of pods and statuses for minutes, or to all.

`REFUSED_SECONDS` says for how long writes are refused; `make faults` has them refused for longer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import PODS
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, Stage, Tenant
from tests.e2e.installing import until
from tests.e2e.processes import OperatorProcess
from tests.e2e.throttling import Gateway
from tests.stories.things import hold, pod

pytestmark = pytest.mark.e2e
REFUSED_S = int(os.environ.get("REFUSED_SECONDS", "75"))
LOST_LEAD = 3
MOST_TRIES = 400 + REFUSED_S  # in that time, of two objects; a busy loop makes thousands
MOST_LINES = 200 + REFUSED_S


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


def guardians(tenant: Tenant) -> list[str]:
    pods = tenant.api.items(f"{PODS.path(tenant.name)}?labelSelector=headroom.dev/role=guardian")
    return sorted(each["metadata"]["uid"] for each in pods)


def test_an_api_server_that_refuses_everything_costs_the_lead_and_no_hold(
    stage: Stage, gateway: Gateway
) -> None:
    tenant = stage.tenant("refused")
    tenant.create(hold("kept", cpu="10m", app="kept"))
    until("it is held", lambda: phase(tenant, "Hold", "kept") == "Available")
    before = guardians(tenant)
    gateway.refuse = lambda method, path: True
    gateway.cut()  # Watches as well: they have to be opened again, and are refused.
    until("the operator has ended", lambda: not stage.operator.alive, seconds=90)
    assert stage.operator.exit_code == LOST_LEAD, stage.operator.log()
    assert "lost the lead" in stage.operator.log()
    stage.operator.stop()
    with pytest.raises(AssertionError, match="too many requests"):
        stage.operator.start()  # As its Deployment would, in vain.
    tenant.create(pod("owner", cpu="10m", app="kept", gated=True))
    gateway.refuse = lambda method, path: False
    stage.operator.start()
    until("the owner runs", lambda: phase(tenant, "Pod", "owner") == "Running", seconds=60)
    assert len(before) == 1


def test_watches_refused_for_a_while_go_on_where_they_were(stage: Stage, gateway: Gateway) -> None:
    tenant, pid = stage.tenant("unwatched"), stage.operator.pid
    assert pid is not None
    tenant.create(hold("before", cpu="10m", app="before"))
    until("it is held", lambda: phase(tenant, "Hold", "before") == "Available")
    gateway.refuse = lambda method, path: method == "GET" and "/leases/" not in path
    gateway.cut()
    tenant.create(hold("during", cpu="10m", app="during"))
    tenant.create(pod("owner", cpu="10m", app="before", gated=True))
    until("watches were refused", lambda: gateway.refused > 20, seconds=60)
    gateway.refuse = lambda method, path: False
    until("the owner runs", lambda: phase(tenant, "Pod", "owner") == "Running", seconds=60)
    until(
        "the new hold is held", lambda: phase(tenant, "Hold", "during") == "Available", seconds=60
    )
    stage.assert_same_process(pid)
