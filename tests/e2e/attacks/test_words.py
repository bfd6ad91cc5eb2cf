"""Words of other systems, which any tenant may write, give it no room that is another's."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from testbed.controlplane import ControlPlane
from tests.dialects.words import foreign_keys
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import Json, hold, pod

pytestmark = pytest.mark.e2e

COMMONS: Json = {"nodeSelector": {"kubernetes.io/hostname": "commons-0"}}
LONG_ENOUGH_S = 3.0  # The attack took 0.3 s.


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
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
