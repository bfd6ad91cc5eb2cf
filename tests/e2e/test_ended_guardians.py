"""Somebody ends a guardian on a real kubelet: it keeps its room until a latch does.

The kubelet runs the `preStop` sleep of a Locked guardian itself. The operator's writes are late by
a second each, and other pods wait for the room.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.wire.kinds import HOLDS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import Lookout, Sight
from tests.stories.operating import ThreadedOperator
from tests.stories.things import NAMESPACE, hold, pod

pytestmark = pytest.mark.e2e
NODE = "hollow-0"
LATE_S = 1.0
STRANGERS = ("stranger-0", "stranger-1")


@pytest.fixture
def plane(binaries: Path, tmp_path: Path) -> Iterator[ControlPlane]:
    with ControlPlane.start(tmp_path / "plane", hollow_nodes=1) as started:
        install(started, our_objects())
        yield started


def test_strangers_do_not_get_what_a_critical_pod_leaves_of_a_hold(plane: ControlPlane) -> None:
    lookout = Lookout(plane.api)
    operator = ThreadedOperator(plane.kubeconfig, {})
    try:
        plane.api.create(HOLDS.path(NAMESPACE), hold("h", cpu="900m"))
        lookout.until("it is held", lambda now: kept(now) == ["900m"])
        for name in STRANGERS:
            plane.api.create(PODS.path(NAMESPACE), pod(name, cpu="300m"))
        lookout.until("they wait", lambda now: all(now.phase(each) for each in STRANGERS))
        operator.delay(LATE_S)
        critical = pod("critical", cpu="300m", priorityClassName="system-node-critical")
        plane.api.create(PODS.path(NAMESPACE), critical)
        lookout.until("it runs", lambda now: now.phase("critical") == "Running")
        lookout.until("the rest is held", lambda now: kept(now) == ["700m"])
        time.sleep(5 * LATE_S)  # whatever the operator has left to do
        now = lookout.seen
        assert [now.node(each) for each in STRANGERS] == ["", ""]
        assert kept(now) == ["700m"]
        assert {now.phase(each) for each in now.ours("guardian")} == {"Running"}
    finally:
        operator.kill()
        lookout.close()


def kept(now: Sight) -> list[str]:
    """What guardians keep on the node that are not about to end."""
    items: list[Json] = [now.pods[name] for name in now.ours("guardian") if now.node(name) == NODE]
    return [
        item["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for item in items
        if not item["metadata"].get("deletionTimestamp")
    ]
