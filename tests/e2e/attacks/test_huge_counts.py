"""Counts that nobody means: a wish is cut before anything is made of it, and nobody else notices.

The limit is set low here: what is tested is that two billion cost no more than a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.attacks.stage import Stage, Tenant, stage_of
from tests.e2e.installing import until
from tests.stories.things import headroom, requests

pytestmark = pytest.mark.e2e
TINY = {"pods": "20"}


@pytest.fixture(scope="module")
def stage(
    attacked_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    with stage_of(attacked_plane, tmp_path_factory, "--most-slots", "100") as stage:
        yield stage
        assert '"contained"' not in stage.operator.log(10_000)


def test_a_share_of_two_billion_replicas_hurts_nobody(stage: Stage) -> None:
    mallory = stage.tenant("mallory-counts", quota=TINY)
    template = {"metadata": {"labels": {"app": "m"}}, "spec": {"containers": [requests("1m")]}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "huge"},
        "spec": {
            "replicas": 2**31 - 1,
            "serviceName": "m",
            "selector": {"matchLabels": {"app": "m"}},
            "template": template,
        },
    }
    wish = headroom("share", size={"percent": 100})
    wish["spec"]["slot"] = {
        "from": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "huge"}
    }
    # Kubernetes' own StatefulSet controller would make two billion pods in its memory, also if it
    # was only paused: it sees that the StatefulSet came before it sees that it went.
    stage.plane.stop_component("kube-controller-manager")
    try:
        with stage.unhurt():
            cut(mallory, workload, wish)
    finally:
        mallory.delete("StatefulSet", "huge")
        stage.plane.start_component("kube-controller-manager")


def cut(mallory: Tenant, *things: Json) -> None:
    """Ask for a share of two billion, and for a hundred thousand outright."""
    mallory.create(*things, headroom("plain", cpu="1m", size={"replicas": 100_000}))
    for name in ("share", "plain"):
        until(f"{name} is cut and says so", partial(says, mallory, name), seconds=60)


def says(tenant: Tenant, name: str) -> bool:
    return "--most-slots 100" in str(tenant.get("Headroom", name).get("status"))
