"""No tenant closes a node to others with fences: each pod that fits there gets in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import pytest

from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, hold, pod

pytestmark = pytest.mark.e2e

NODE: Json = {"nodeSelector": {"kubernetes.io/hostname": "commons-2"}}
PORT = {"containerPort": 8080, "hostPort": 8080}


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def placed(tenant: Tenant, name: str) -> bool:
    return bool(tenant.get("Pod", name)["spec"].get("nodeName") == "commons-2")


def refused(tenant: Tenant, name: str) -> bool:
    told = tenant.get("Pod", name)["status"].get("conditions") or ()
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in told)


def with_port(made: Json) -> Json:
    made["spec"]["containers"][0]["ports"] = [PORT]
    return made


def decoy(name: str) -> Json:
    """A pod of the victim's shape whose volume never comes."""
    made = pod(name, cpu=2, **NODE)
    claim = {"persistentVolumeClaim": {"claimName": "never"}}
    made["spec"]["volumes"] = [{"name": "data", **claim}]
    return made


@pytest.mark.parametrize("contest", ["port", "room"])
def test_a_decoy_and_a_rival_keep_nobody_off_a_free_node(stage: Stage, contest: str) -> None:
    mallory, victim = stage.tenant(f"mallory-{contest}"), stage.tenant(f"victim-{contest}")
    mallory.create(hold("bait", cpu=1, template=NODE, allocateOnce=False))
    until("the bait is held", lambda: _ready(mallory))
    mallory.create(with_port(pod("owner", cpu=1, app="web", ours=True)))
    until("its owner runs", lambda: placed(mallory, "owner"))
    rival = pod("rival", cpu="100m" if contest == "port" else 8, **NODE)
    rival = with_port(rival) if contest == "port" else rival
    with stage.unhurt():
        mallory.create(rival, decoy("decoy"))
        until("both wait", lambda: refused(mallory, "rival") and refused(mallory, "decoy"))
        time.sleep(12)  # The node has been open for the decoy, and it did not come.
        for name in ("first", "second"):
            victim.create(pod(name, cpu=2, **NODE))
            until(f"{name} has its node", partial(placed, victim, name))
    for tenant, names in ((mallory, ("rival", "decoy", "owner")), (victim, ("first", "second"))):
        for name in names:
            tenant.delete("Pod", name)
    mallory.delete("Hold", "bait")


def _ready(tenant: Tenant) -> bool:
    return bool(tenant.condition("Hold", "bait").get("status") == "True")
