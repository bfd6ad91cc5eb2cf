"""The autoscaler gives machines back: empty ones, and those whose pods fit elsewhere."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import dig, ref_of
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import KARPENTER, Autoscaling, Pool
from headroom.sim.world import SimWorld
from tests.sim.things import Json, budget, daemon_set, deployment, pod, priority_class

POOL = Pool("m", most=5, capacity={"cpu": "4", "memory": "16Gi", "pods": "110"}, boot_delay=5.0)
PATIENT = Autoscaling(enabled=True, scale_down_after=600)
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
KEEP = "karpenter.sh/do-not-disrupt"
TAINT = "karpenter.sh/disrupted"
EAGER = Autoscaling(enabled=True, scale_down_after=30, profile=KARPENTER)


def nodes(world: SimWorld) -> list[str]:
    return sorted(ref_of(item).name for item in world.list("Node"))


def running(world: SimWorld) -> int:
    return sum(dig(item, "status", "phase") == "Running" for item in world.list("Pod"))


def workload(name: str = "second", cpu: str = "1", **annotations: str) -> Json:
    """One pod that is made anew when it is evicted."""
    made = deployment(name, 1, cpu)
    made["spec"]["template"]["metadata"]["annotations"] = annotations
    return made


def bare(**annotations: str) -> Json:
    """One pod that nobody would make anew."""
    made = pod("second", labels={"app": "second"})
    made["metadata"]["annotations"] = annotations
    return made


def two_machines(world: SimWorld, autoscaling: Autoscaling, second: Json) -> None:
    """A machine that has to stay, with a core used, and one with `second` alone."""
    Autoscaler(world.stage, [POOL], autoscaling)
    world.apply(POOL.node(0))
    anchor = pod("anchor")
    anchor["metadata"]["annotations"] = {SAFE: "false", KEEP: "true"}
    world.apply(anchor)
    world.run_for(3)
    world.apply(POOL.node(1))
    world.patch("Node", "", "m-0", {"spec": {"unschedulable": True}})
    world.run_for(1)
    world.apply(second)
    world.run_for(3)
    world.patch("Node", "", "m-0", {"spec": {"unschedulable": None}})
    assert homes(world, "second") == ["m-1"]


def homes(world: SimWorld, app: str) -> list[str]:
    pods = [item for item in world.list("Pod") if dig(item, "metadata", "labels", "app") == app]
    return [str(dig(item, "spec", "nodeName") or "") for item in pods]


def test_an_empty_machine_goes_after_its_time(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], PATIENT)
    world.apply(pod("p"))
    world.run_for(30)
    world.delete("Pod", "default", "p", grace=0)
    world.run_for(599)
    assert nodes(world) == ["m-0"]
    world.run_for(15)
    assert nodes(world) == []


def test_a_machine_in_use_again_stays(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], PATIENT)
    world.apply(pod("p"))
    world.run_for(30)
    world.delete("Pod", "default", "p", grace=0)
    world.run_for(300)
    world.apply(pod("q"))
    world.run_for(900)
    assert nodes(world) == ["m-0"]


def test_a_machine_with_nothing_but_daemons_is_empty(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], PATIENT)
    world.apply(daemon_set("agent", "100m"))
    world.apply(pod("p"))
    world.run_for(30)
    assert nodes(world) == ["m-0"]
    world.delete("Pod", "default", "p")
    world.run_for(700)
    assert nodes(world) == []


def test_a_pool_never_shrinks_below_its_count(world: SimWorld) -> None:
    pool = Pool("m", count=1, most=5, capacity=POOL.capacity, boot_delay=5.0)
    world.apply(pool.node(0))
    Autoscaler(world.stage, [pool], EAGER)
    world.apply(pod("p", cpu="4"))
    world.apply(pod("q", cpu="4"))
    world.run_for(20)
    assert len(nodes(world)) == 2
    for name in ("p", "q"):
        world.delete("Pod", "default", name, grace=0)
    world.run_for(200)
    assert len(nodes(world)) == 1


def test_a_deployment_is_moved_together_and_its_machine_goes(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], EAGER)
    world.apply(deployment("web", 6))
    world.run_for(20)
    assert len(nodes(world)) == 2
    world.patch("Deployment", "default", "web", {"spec": {"replicas": 3}})
    world.run_for(120)
    assert len(nodes(world)) == 1
    assert running(world) == 3


@pytest.mark.parametrize(
    ("autoscaling", "second"),
    [
        (PATIENT, workload()),
        (EAGER, workload()),
        (PATIENT, bare(**{SAFE: "true"})),
        (EAGER, bare()),
        (EAGER, workload(**{SAFE: "false"})),
        (PATIENT, workload(**{KEEP: "true"})),
    ],
)
def test_pods_that_fit_elsewhere_keep_no_machine(
    world: SimWorld, autoscaling: Autoscaling, second: Json
) -> None:
    two_machines(world, autoscaling, second)
    world.run_for(autoscaling.scale_down_after + 60)
    assert nodes(world) == ["m-0"]
    assert homes(world, "second") == (["m-0"] if second["kind"] == "Deployment" else [])


@pytest.mark.parametrize(
    ("autoscaling", "second"),
    [
        (PATIENT, bare()),
        (PATIENT, workload(**{SAFE: "false"})),
        (EAGER, workload(**{KEEP: "true"})),
        (EAGER, bare(**{KEEP: "true"})),
        (PATIENT, workload(cpu="2")),  # Half of the machine is in use.
        (EAGER, workload(cpu="3500m")),  # It fits nowhere else.
    ],
)
def test_pods_that_must_or_may_not_move_keep_their_machine(
    world: SimWorld, autoscaling: Autoscaling, second: Json
) -> None:
    two_machines(world, autoscaling, second)
    world.run_for(autoscaling.scale_down_after + 60)
    assert nodes(world) == ["m-0", "m-1"]


def test_local_storage_keeps_a_machine(world: SimWorld) -> None:
    second = workload()
    second["spec"]["template"]["spec"]["volumes"] = [{"name": "x", "emptyDir": {}}]
    two_machines(world, PATIENT, second)
    world.run_for(700)
    assert nodes(world) == ["m-0", "m-1"]


def test_a_guardian_moves_like_any_pod_that_says_it_may(world: SimWorld) -> None:
    guardian = bare(**{SAFE: "true"})
    guardian["metadata"]["labels"]["headroom.dev/role"] = "guardian"
    two_machines(world, PATIENT, guardian)
    world.run_for(700)
    assert nodes(world) == ["m-0"]


def test_a_budget_that_allows_nothing_keeps_the_machine(world: SimWorld) -> None:
    world.apply(budget("keep", "second", minAvailable=1))
    two_machines(world, EAGER, workload())
    world.run_for(300)
    assert nodes(world) == ["m-0", "m-1"]
    world.delete("PodDisruptionBudget", "default", "keep")
    world.run_for(120)
    assert nodes(world) == ["m-0"]


def test_a_machine_that_cannot_be_emptied_in_time_stays_and_is_open_again(world: SimWorld) -> None:
    two_machines(world, EAGER, workload())
    world.stop_kubelet("m-1")
    world.run_for(35)  # It is silent, but nobody knows it yet.
    assert dig(world.get("Node", "", "m-1"), "spec", "taints", 0, "key") == TAINT
    world.run_for(130)
    assert "m-1" in nodes(world)
    told = [event["reason"] for event in world.events()]
    assert "ScaleDownFailed" in told


def test_pods_below_the_cutoff_keep_no_machine(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], PATIENT)
    world.apply(priority_class("filler", -11))
    world.apply(pod("p"))
    world.run_for(30)
    world.apply(pod("low", priorityClassName="filler"))
    world.run_for(10)
    world.delete("Pod", "default", "p", grace=0)
    world.run_for(700)
    assert nodes(world) == []


def test_a_run_with_an_idle_autoscaler_comes_to_an_end(world: SimWorld) -> None:
    Autoscaler(world.stage, [POOL], EAGER)
    world.apply(deployment("web", 6))
    assert world.run_until_idle(3600)
    assert running(world) == 6
