"""No tenant keeps room beyond its quota: what stands for it is charged to it first."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from headroom.wire.kinds import PODS
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import HOME, Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, hold, pod

pytestmark = pytest.mark.e2e

NODE: Json = {"nodeSelector": {"kubernetes.io/hostname": "commons-0"}}


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def placed(tenant: Tenant, name: str) -> bool:
    return bool(tenant.get("Pod", name)["spec"].get("nodeName") == "commons-0")


def kept_for(stage: Stage, tenant: Tenant) -> list[str]:
    """The latches that stand for holds of a tenant."""
    whose = f"Hold/{tenant.name}/"
    return [
        each["metadata"]["name"]
        for each in stage.plane.api.items(PODS.path(HOME))
        if (each["metadata"].get("annotations") or {})
        .get("headroom.dev/parent", "")
        .startswith(whose)
    ]


def told(tenant: Tenant, name: str) -> str:
    return str(tenant.condition("Hold", name).get("message", ""))


def assert_nothing_is_kept(stage: Stage, tenant: Tenant, seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert kept_for(stage, tenant) == []
        time.sleep(0.05)


def test_a_hold_that_waits_for_a_tiny_pod_closes_no_node(stage: Stage) -> None:
    mallory = stage.tenant("mallory-waits", quota={"requests.cpu": "200m"})
    victim = stage.tenant("victim-waits")
    mallory.create(pod("tiny", cpu="10m", app="web", **NODE))
    until("it runs", lambda: placed(mallory, "tiny"))
    with stage.unhurt():
        mallory.create(hold("greedy", cpu=8, preAllocation=True, template=NODE))
        assert_nothing_is_kept(stage, mallory)
        until("the quota is told", lambda: "exceeded quota" in told(mallory, "greedy"))
        victim.create(pod("one", cpu=7, **NODE))
        until("others are placed there", lambda: placed(victim, "one"))
    victim.delete("Pod", "one")
    mallory.delete("Hold", "greedy")
    mallory.delete("Pod", "tiny")


def test_a_hold_that_is_made_larger_closes_no_node(stage: Stage) -> None:
    mallory = stage.tenant("mallory-grows", quota={"requests.cpu": "200m"})
    victim = stage.tenant("victim-grows")
    mallory.create(hold("greedy", cpu="100m", template=NODE))
    until("it is held", lambda: mallory.condition("Hold", "greedy").get("status") == "True")
    with stage.unhurt():
        larger = hold("greedy", cpu=8, template=NODE)["spec"]["template"]
        mallory.api.patch(mallory.path({"kind": "Hold"}, "greedy"), {"spec": {"template": larger}})
        assert_nothing_is_kept(stage, mallory)
        until("the quota is told", lambda: "exceeded quota" in told(mallory, "greedy"))
        victim.create(pod("one", cpu=7, **NODE))
        until("others are placed there", lambda: placed(victim, "one"))
    victim.delete("Pod", "one")
    mallory.delete("Hold", "greedy")
