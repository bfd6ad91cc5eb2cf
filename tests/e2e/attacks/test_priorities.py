"""No guardian takes the place of a running pod, whatever a tenant writes on its own objects."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, headroom, pod, priority_class

pytestmark = pytest.mark.e2e

LABEL = "karpenter.azure.com/proactive-scaleup"
LONG_ENOUGH_S = 3.0


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory, "--dialect", "proactive") as stage:
        yield stage


def placed(tenant: Tenant, name: str) -> str:
    return str(tenant.get("Pod", name)["spec"].get("nodeName", ""))


def test_an_annotation_makes_no_guardian_that_preempts(stage: Stage) -> None:
    stage.plane.api.ensure(
        "/apis/scheduling.k8s.io/v1/priorityclasses", priority_class("gold", 1_000_000)
    )
    victim, mallory = stage.tenant("quiet-one"), stage.tenant("mallory-two")
    victim.create(pod("resident", cpu=7, nodeSelector={"kubernetes.io/hostname": "commons-1"}))
    until("it runs", lambda: placed(victim, "resident") == "commons-1")
    with stage.unhurt():
        for name in ("proactive-scaleup", "any"):
            shape = {"nodeSelector": {"kubernetes.io/hostname": "commons-1"}}
            made = headroom(name, cpu=7, mode="Preemptible", template=shape)
            made["metadata"]["labels"] = {LABEL: "placeholder"}
            noted = {**made["metadata"], "annotations": {"headroom.dev/priority-class": "gold"}}
            with pytest.raises(ApiFailure, match="reserved"):
                mallory.create({**made, "metadata": noted})
            mallory.create(made)
            write_anyway(stage, mallory, {**made, "metadata": noted})
        until("guardians are made", lambda: len(guardians(mallory)) == 2)
        time.sleep(LONG_ENOUGH_S)
    assert placed(victim, "resident") == "commons-1"
    told = {
        (each["spec"]["preemptionPolicy"], each["spec"]["priority"] < 0)
        for each in guardians(mallory)
    }
    assert told == {("Never", True)}


def write_anyway(stage: Stage, tenant: Tenant, thing: Json) -> None:
    """Put a thing there as an administrator: what admission keeps out must not matter either."""
    path = tenant.path(thing, thing["metadata"]["name"])
    change = {"metadata": {"annotations": thing["metadata"]["annotations"]}}
    stage.plane.api.patch(path, change)


def guardians(tenant: Tenant) -> list[Json]:
    found: list[Json] = tenant.api.items(tenant.path({"kind": "Pod"}))
    return [each for each in found if "headroom.dev/role" in (each["metadata"].get("labels") or {})]
