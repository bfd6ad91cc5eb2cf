"""Words that any tenant may write give it neither another's room nor the place of another's pod."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from testbed.controlplane import ControlPlane
from tests.dialects.words import foreign_keys
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, headroom, hold, pod, priority_class

pytestmark = pytest.mark.e2e

COMMONS: Json = {"nodeSelector": {"kubernetes.io/hostname": "commons-0"}}
LABEL = "karpenter.azure.com/proactive-scaleup"
LONG_ENOUGH_S = 3.0  # The attack took 0.3 s.


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


@pytest.fixture(scope="module")
def proactive(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory, "--dialect", "proactive") as stage:
        yield stage


def placed(tenant: Tenant, name: str) -> str:
    return str(tenant.get("Pod", name)["spec"].get("nodeName", ""))


def test_a_foreign_label_opens_no_hold_of_another_namespace(stage: Stage) -> None:
    victim, mallory = stage.tenant("victim"), stage.tenant("mallory", headroom=False)
    victim.create(hold("kept", cpu=7, template=COMMONS))
    until("it is held", lambda: victim.condition("Hold", "kept").get("status") == "True")
    thieves: list[Json] = []
    for number, key in enumerate(foreign_keys()):
        one = pod(f"thief-{number}", cpu=7, ours=True, **COMMONS)
        one["metadata"]["labels"] = {"app": "web", key: "true"}
        one["metadata"]["annotations"] = {key: "{}"}
        thieves.append(one)
    with stage.unhurt():
        mallory.create(*thieves)
        time.sleep(LONG_ENOUGH_S)
    names = [one["metadata"]["name"] for one in thieves]
    assert [name for name in names if placed(mallory, name)] == []
    victim.create(pod("owner", cpu=7, app="web", ours=True))
    until("its owner has it", lambda: placed(victim, "owner") == "commons-0")


def test_an_annotation_makes_no_guardian_that_preempts(proactive: Stage) -> None:
    stage = proactive
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
            made["metadata"]["annotations"] = {"headroom.dev/priority-class": "gold"}
            mallory.create(made)
        until("guardians are made", lambda: len(guardians(mallory)) == 2)
        time.sleep(LONG_ENOUGH_S)
    assert placed(victim, "resident") == "commons-1"
    told = {
        (each["spec"]["preemptionPolicy"], each["spec"]["priority"] < 0)
        for each in guardians(mallory)
    }
    assert told == {("Never", True)}


def guardians(tenant: Tenant) -> list[Json]:
    found: list[Json] = tenant.api.items(tenant.path({"kind": "Pod"}))
    return [each for each in found if "headroom.dev/role" in (each["metadata"].get("labels") or {})]
