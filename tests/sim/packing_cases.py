"""Pods that wait and the machines that Karpenter orders for them: a table, and how to play it.

`test_packing.py` here plays it on the simulated autoscaler, `test_karpenter_compared.py` (e2e) on a
real Karpenter beside it.
"""

from __future__ import annotations

from typing import Any

from headroom.core.actions import WriteOverhead
from headroom.core.headrooms.node_overhead import Overhead
from headroom.core.holds import PodTemplate
from headroom.core.objects import Key, Parent, Pod
from headroom.core.resources import Resources
from headroom.sim.api.values import dig
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import KARPENTER, Autoscaling, Pool
from headroom.sim.world import SimWorld
from headroom.wire.kind_codecs import NATIVE
from testbed.machines import SMALL
from tests.stories.things import Json, pod, workload

TYPE = "node.kubernetes.io/instance-type"
HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def many(count: int, cpu: str, name: str = "p", **spec: Any) -> list[Json]:
    return [pod(f"{name}{number}", cpu, app=name, **spec) for number in range(count)]


def near(app: str, part: str = "podAffinity") -> Json:
    """The affinity of a pod that wants to be where a pod of that label is, or is not."""
    selector = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    return {"affinity": {part: {REQUIRED: [selector]}}}


def overhead(cpu: int) -> Json:
    """The DaemonSet without pods that the operator makes for slots per node."""
    parent = Parent("headroom.dev/v1alpha1", "Headroom", "default", "every", "u1")
    template = PodTemplate(Pod(Key("default", "")))
    made: Any = NATIVE.render(WriteOverhead(Overhead(parent, template, Resources({"cpu": cpu}))))
    metadata = {"name": "every", "namespace": "default"}
    return {**made.body, "metadata": metadata}


CASES: dict[str, tuple[list[Json], list[str]]] = {
    "one pod has the cheapest machine that takes it": (many(1, "1500m"), ["two"]),
    "equal pods share the largest machines": (
        many(16, "1500m"),
        ["eight", "eight", "eight", "two"],
    ),
    "large and small pods are packed together": (
        [*many(2, "3"), *many(2, "700m", "q")],  # However kube-scheduler places them, all fit.
        ["eight"],
    ),
    "a workload and its helper have one machine for both": (
        [pod("owner", "1500m", app="owner"), pod("helper", "1", app="helper", **near("owner"))],
        ["four"],
    ),
    "a helper that is larger than its workload is next to it too": (
        [pod("owner", "200m", app="owner"), pod("helper", "3", app="helper", **near("owner"))],
        ["four"],
    ),
    "pods that keep apart have a machine each": (
        many(3, "500m", "apart", **near("apart", "podAntiAffinity")),
        ["two", "two", "two"],
    ),
    "room for daemons is counted": (
        [workload("DaemonSet", "agent", cpu="500m"), *many(8, "1500m")],
        ["eight", "eight"],
    ),
    "slots per node are counted as daemons are": (
        [overhead(500), *many(8, "1500m")],
        ["eight", "eight"],
    ),
    "a pod may choose its type, and one that fits none gets none": (
        [*many(1, "500m", nodeSelector={TYPE: "eight"}), *many(1, "9", "huge")],
        ["eight"],
    ),
}


def simulated(things: list[Json]) -> list[str]:
    """The types of the machines that the simulated Karpenter orders."""
    pools = [
        Pool(
            machine.name,
            most=20,
            capacity={
                "cpu": f"{machine.cpu * 1000 - 100}m",
                "memory": f"{machine.memory_gib * 1024 - 10}Mi",
                "pods": str(machine.pods),
            },
            labels={TYPE: machine.name},
            boot_delay=1.0,
            price=machine.price,
        )
        for machine in SMALL
    ]
    world = SimWorld()
    try:
        Autoscaler(world.stage, pools, Autoscaling(enabled=True, profile=KARPENTER))
        for thing in things:
            world.apply(thing)
        world.run_for(30)
        return sorted(str(dig(node, "metadata", "labels", TYPE)) for node in world.list("Node"))
    finally:
        world.close()
