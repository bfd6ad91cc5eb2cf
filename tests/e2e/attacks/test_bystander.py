"""The measure that the other tests here rely on: a bystander's handovers, with nobody attacking."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed.api import ApiFailure
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, stage_of
from tests.stories.things import hold, pod

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory) as stage:
        yield stage


def test_a_tenant_that_does_nothing_hurts_nobody(stage: Stage) -> None:
    quiet = stage.tenant("quiet", headroom=False, quota={"pods": "1"})
    with stage.unhurt():
        quiet.create(pod("one", cpu="100m", nodeSelector={"pool": "commons"}))
    assert len(stage.times["meanwhile"]) >= len(stage.times["usual"])
    with pytest.raises(ApiFailure, match="exceeded quota"):
        quiet.create(pod("two", cpu="100m"))
    with pytest.raises(ApiFailure, match="forbidden"):
        quiet.create(hold("none"))


def test_an_operator_that_ends_is_noticed(stage: Stage) -> None:
    pid = stage.operator.pid
    assert pid is not None
    stage.operator.kill()
    with pytest.raises(AssertionError, match="the operator ended"):
        stage.assert_same_process(pid)
    stage.operator.start()
