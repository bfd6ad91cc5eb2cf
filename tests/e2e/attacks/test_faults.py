"""Faults around the operator, as installed: what happens is what docs/operating/faults.md says."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest

from headroom.wire.kinds import CLAIM_INDEXES, NAMESPACES, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, RBAC, Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.e2e.processes import OperatorProcess
from tests.stories.things import GATE, headroom, hold, pod, workload
from tests.versions import needs

pytestmark = pytest.mark.e2e
ACCOUNT = "headroom-operator"
LOST_LEAD = 3
FROZEN_S = 20


@pytest.fixture
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def held(tenant: Tenant, name: str) -> bool:
    return bool((tenant.get("Hold", name).get("status") or {}).get("phase") == "Available")


def running(tenant: Tenant, name: str) -> bool:
    return bool((tenant.get("Pod", name).get("status") or {}).get("phase") == "Running")


def guardians(tenant: Tenant) -> list[str]:
    """The pods that keep room in a namespace, by uid."""
    pods = tenant.api.items(f"{PODS.path(tenant.name)}?labelSelector=headroom.dev/role=guardian")
    return sorted(each["metadata"]["uid"] for each in pods)


@contextlib.contextmanager
def without_right_to(plane: ControlPlane, group: str) -> Iterator[None]:
    """Take the rules about one API group from the operator's role, and put them back."""
    path = f"{RBAC}/clusterroles/{ACCOUNT}"
    rules: list[Json] = plane.api.get(path)["rules"]
    plane.api.patch(path, {"rules": [rule for rule in rules if group not in rule["apiGroups"]]})
    try:
        yield
    finally:
        plane.api.patch(path, {"rules": rules})


def test_a_right_that_is_missing_stops_only_what_needs_it(stage: Stage) -> None:
    tenant = stage.tenant("copies")
    copied = workload("Deployment", "web", cpu="10m", replicas=1)
    with without_right_to(stage.plane, "apps"), stage.unhurt():
        tenant.create(copied, headroom("copy", source="web", replicas=1, app="x"))
        until(
            "the headroom says that the right is missing",
            lambda: tenant.condition("Headroom", "copy").get("reason") == "WorkloadUnusable",
            seconds=60,
        )
        assert "forbidden" in tenant.condition("Headroom", "copy")["message"]
        tenant.create(headroom("plain", cpu="10m", replicas=1, app="y"))
        until(
            "another headroom of that tenant is held",
            lambda: tenant.condition("Headroom", "plain").get("status") == "True",
            seconds=60,
        )
    until(
        "it is held once the right is back",
        lambda: tenant.condition("Headroom", "copy").get("status") == "True",
        seconds=60,
    )


def test_an_api_server_that_freezes_costs_the_lead_and_no_hold(stage: Stage) -> None:
    tenant = stage.tenant("frozen")
    tenant.create(hold("kept", cpu="10m", app="kept"))
    until("it is held", lambda: held(tenant, "kept"))
    before = guardians(tenant)
    stage.plane.pause("kube-apiserver")
    time.sleep(FROZEN_S)
    stage.plane.resume("kube-apiserver")
    until("the operator has ended", lambda: not stage.operator.alive, seconds=60)
    assert stage.operator.exit_code == LOST_LEAD, stage.operator.log()
    assert "lost the lead" in stage.operator.log()
    stage.operator.stop()
    stage.operator.start()  # As its Deployment would.
    tenant.create(pod("owner", cpu="10m", app="kept", gated=True))
    assert guardians(tenant) == before
    until("the owner gets its hold", lambda: running(tenant, "owner"), seconds=60)


@needs("mutating-policy")
def test_a_token_that_is_revoked_ends_the_operator_and_gates_nobody(stage: Stage) -> None:
    tenant = stage.tenant("revoked", labels={"headroom.dev/claims": "enabled"})
    tenant.create(hold("kept", cpu="10m", app="kept"))
    until("it is held", lambda: held(tenant, "kept"))
    until("pods are gated", lambda: gates(tenant) == [GATE], seconds=60)
    account = f"/api/v1/namespaces/{HOME}/serviceaccounts"
    stage.plane.api.delete(f"{account}/{ACCOUNT}")
    until("the operator has ended", lambda: not stage.operator.alive, seconds=90)
    assert stage.operator.exit_code == LOST_LEAD, stage.operator.log()
    until("nobody is gated for it", lambda: gates(tenant) == [], seconds=60)
    assert len(guardians(tenant)) == 1
    fresh = stage.plane.service_account_kubeconfig(HOME, ACCOUNT, seconds=7200)
    log = stage.plane.workdir / "operator-with-a-new-token.log"
    with OperatorProcess(fresh, log):
        until("pods are gated again", lambda: gates(tenant) == [GATE], seconds=60)
        tenant.create(pod("owner", cpu="10m", app="kept"))
        until("the owner gets its hold", lambda: running(tenant, "owner"), seconds=60)
    assert stage.plane.api.items(CLAIM_INDEXES.path(tenant.name))
    assert stage.plane.api.get(NAMESPACES.path(name=HOME))


def gates(tenant: Tenant) -> list[str]:
    """The gates that a new owner would be born with."""
    path = f"{PODS.path(tenant.name)}?dryRun=All"
    made = tenant.api.create(path, pod("nobody", app="kept", namespace=tenant.name))
    return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]
