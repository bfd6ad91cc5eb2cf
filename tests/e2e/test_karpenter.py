"""What a real autoscaler makes of pods like ours: which ask it for machines, and which keep them.

One Karpenter for all tests here, which follow each other: what the first ones made is given back in
the last one. docs/internals/karpenter.md has the facts and figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headroom.core.actions import CreateGuardian, CreateLatch
from headroom.core.derived_names import guardian_name
from headroom.core.objects import Key
from headroom.core.resources import Resources
from headroom.wire.kinds import HOLDS, PODS
from headroom.wire.objects.holds import hold_from
from headroom.wire.render import render
from testbed.api import Json
from testbed.controlplane import ControlPlane
from testbed.karpenter import Fleet, Karpenter
from tests.e2e.installing import install, our_objects, until
from tests.wire.objects import hold_json

pytestmark = pytest.mark.e2e
BOOT_S = 5
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


class Cloud:
    """A cluster without nodes but those that Karpenter orders."""

    def __init__(self, plane: ControlPlane, karpenter: Karpenter) -> None:
        self.plane = plane
        self.karpenter = karpenter

    def pods(self, name: str) -> list[Json]:
        """The pods whose name starts so."""
        found = self.plane.api.items(PODS.path("default"))
        return [pod for pod in found if pod["metadata"]["name"].startswith(name)]

    def running(self, name: str, count: int = 1) -> bool:
        return [pod["status"]["phase"] for pod in self.pods(name)] == ["Running"] * count

    def machine_of(self, name: str) -> str:
        (pod,) = self.pods(name)
        return str(pod["spec"]["nodeName"])

    def machines(self) -> list[str]:
        return [node["metadata"]["name"] for node in self.karpenter.nodes()]

    def scale(self, name: str, replicas: int, cpu: str = "500m", priority: str = "") -> None:
        """Run so many pods in a Deployment: a bare pod that is evicted would be lost."""
        pause = {"name": "pause", "image": "registry.k8s.io/pause:3.10"}
        spec: dict[str, Any] = {"terminationGracePeriodSeconds": 0}
        spec["containers"] = [{**pause, "resources": {"requests": {"cpu": cpu}}}]
        if priority:
            spec["priorityClassName"] = priority
        template = {"metadata": {"labels": {"app": name}}, "spec": spec}
        wish = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
        body = {"metadata": {"name": name}, "spec": {**wish, "template": template}}
        self.plane.api.create(DEPLOYMENTS, body)

    def hold(self, name: str, cpu: str, mode: str = "Locked") -> None:
        """Make a hold and its guardian, as the operator would."""
        template = {
            "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": cpu}}}]}
        }
        thing = hold_json({"template": template})
        thing["metadata"] = {"name": name, "namespace": "default"}
        hold = replace(hold_from(self.plane.api.create(HOLDS.path("default"), thing)), mode=mode)
        assert hold.problems == ()
        write = render(CreateGuardian(guardian_name(hold), hold, hold.template.pod.requests))
        assert isinstance(write.body, dict)
        self.plane.api.create(write.path, dict(write.body))


@pytest.fixture(scope="module")
def cloud(karpenter_program: Path) -> Iterator[Cloud]:
    """Karpenter beside a control plane; without its program everything here is skipped, loudly."""
    with ControlPlane.start(kwok=True) as plane:
        install(plane, our_objects())
        plane.api.create(CLASSES, {"metadata": {"name": "placeholder"}, "value": -1000})
        yield Cloud(plane, Karpenter.start(plane, Fleet(boot_delay_s=BOOT_S)))


def test_waiting_placeholders_get_one_machine_that_takes_its_time_to_boot(cloud: Cloud) -> None:
    cloud.scale("placeholder", 6, priority="placeholder")
    until("placeholders run", lambda: cloud.running("placeholder", 6), seconds=60)
    (claim,) = cloud.karpenter.claims()
    (node,) = cloud.karpenter.nodes()
    assert claim["spec"]["resources"]["requests"]["cpu"] == "3"
    assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "four"
    assert (moment(node) - moment(claim)).total_seconds() >= BOOT_S


def test_a_latch_and_a_gated_owner_ask_for_nothing(cloud: Cloud) -> None:
    (placeholders,) = cloud.machines()
    before = [claim["metadata"]["name"] for claim in cloud.karpenter.claims()]
    latch_on(cloud, placeholders)
    gated = {"name": "owner", "image": "app:1", "resources": {"requests": {"cpu": "3"}}}
    gates = {"schedulingGates": [{"name": "headroom.dev/claim"}], "containers": [gated]}
    cloud.plane.api.create(PODS.path("default"), {"metadata": {"name": "owner"}, "spec": gates})
    cloud.scale("first", 1, cpu="1")
    until("the first runs", lambda: cloud.running("first-"), seconds=60)
    cloud.hold("one", "900m", "Locked")
    until("its guardian runs", lambda: cloud.running("one-"))
    cloud.scale("second", 1, cpu="1")
    until("the second runs", lambda: cloud.running("second-"), seconds=60)
    cloud.hold("two", "900m", "Preemptible")
    until("its guardian runs", lambda: cloud.running("two-"))
    claims = {claim["metadata"]["name"]: claim["spec"] for claim in cloud.karpenter.claims()}
    asked = [claims[name]["resources"]["requests"]["cpu"] for name in sorted({*claims} - {*before})]
    assert asked == ["1", "1"]
    assert cloud.machine_of("one-") != cloud.machine_of("two-")


def test_guardians_of_both_modes_ask_for_machines_like_any_pod(cloud: Cloud) -> None:
    before = len(cloud.karpenter.claims())
    cloud.hold("three", "7500m", "Preemptible")
    cloud.hold("four", "7500m", "Locked")
    until("both machines are ordered", lambda: len(cloud.karpenter.claims()) == before + 2)
    until("one guardian runs", lambda: cloud.running("three-"), seconds=60)
    until("the other too", lambda: cloud.running("four-"), seconds=60)
    for name in ("three", "four"):
        cloud.plane.api.delete(HOLDS.path("default", name))
    until("they go with their holds", lambda: not cloud.pods("three-") + cloud.pods("four-"))


def test_what_is_empty_is_given_back_and_guardians_are_moved_like_any_pod(cloud: Cloud) -> None:
    for name in ("placeholder", "first", "second"):
        cloud.plane.api.delete(f"{DEPLOYMENTS}/{name}")
    until("one machine is left", lambda: len(cloud.machines()) == 1, seconds=120)
    left = [name for name in ("one-", "two-") if cloud.pods(name)]
    assert len(left) == 1
    assert cloud.machine_of(left[0]) == cloud.machines()[0]
    told = cloud.plane.kubectl("get", "events", "--field-selector=reason=Evicted")
    assert "Evicted pod: Underutilized" in told


def latch_on(cloud: Cloud, node: str) -> None:
    """Make a latch that stands on a node's room, as during a handover."""
    thing = hold_json()
    thing["metadata"] = {"name": "handed", "namespace": "default"}
    parent = hold_from(cloud.plane.api.create(HOLDS.path("default"), thing)).parent
    latch = CreateLatch(Key("default", "latch"), parent, Resources({"cpu": 3000}), node)
    write = render(latch)
    assert isinstance(write.body, dict)
    cloud.plane.api.create(write.path, dict(write.body))
    nominated = {"status": {"nominatedNodeName": node}}
    cloud.plane.api.patch(PODS.path("default", "latch", "status"), nominated)


def moment(thing: Json) -> datetime:
    return datetime.fromisoformat(thing["metadata"]["creationTimestamp"])
