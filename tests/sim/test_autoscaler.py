"""The autoscaler adds machines for pods that fit nowhere: which, when, and how many."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import dig, ref_of
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import KARPENTER, Autoscaling, Pool
from headroom.sim.world import SimWorld
from tests.sim.things import daemon_set, node, pod, priority_class

ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}
BURST = Pool("burst", most=3, capacity=ROOM, boot_delay=90.0)


@pytest.fixture
def scaled(world: SimWorld) -> SimWorld:
    Autoscaler(world.stage, [BURST], Autoscaling(enabled=True))
    return world


def nodes(world: SimWorld) -> list[str]:
    return sorted(ref_of(item).name for item in world.list("Node"))


def told(world: SimWorld, reason: str) -> list[str]:
    return [event["message"] for event in world.events() if event["reason"] == reason]


def place(world: SimWorld, name: str) -> str:
    return str(dig(world.get("Pod", "default", name), "spec", "nodeName") or "")


def test_a_stuck_pod_gets_a_node_after_its_boot_delay(scaled: SimWorld) -> None:
    scaled.apply(pod("p"))
    scaled.run_for(99)
    assert nodes(scaled) == []
    scaled.run_for(3)
    assert nodes(scaled) == ["burst-0"]
    assert place(scaled, "p") == "burst-0"
    assert told(scaled, "TriggeredScaleUp") == ["pod triggered scale-up: [{burst 0->1 (max: 3)}]"]


def test_karpenter_looks_sooner(world: SimWorld) -> None:
    Autoscaler(world.stage, [BURST], Autoscaling(enabled=True, profile=KARPENTER))
    world.apply(pod("p"))
    world.run_for(92)
    assert nodes(world) == ["burst-0"]


def test_pods_are_packed_and_the_maximum_is_kept(scaled: SimWorld) -> None:
    for number in range(16):
        scaled.apply(pod(f"p{number}"))
    scaled.run_for(300)
    assert nodes(scaled) == ["burst-0", "burst-1", "burst-2"]
    refused = told(scaled, "NotTriggerScaleUp")
    assert len(refused) == 4
    assert "every pool has reached its max" in refused[0]


def test_with_every_pool_full_nothing_is_ordered_until_a_node_goes(scaled: SimWorld) -> None:
    for number in range(16):
        scaled.apply(pod(f"p{number}"))
    scaled.run_for(300)
    scaled.delete("Node", "", "burst-1")
    scaled.run_for(105)
    assert nodes(scaled) == ["burst-0", "burst-1", "burst-2"]


def test_what_fits_no_machine_orders_none(scaled: SimWorld) -> None:
    scaled.apply(pod("huge", cpu="5"))
    scaled.run_for(300)
    assert nodes(scaled) == []
    assert "no pool has machines that it fits on" in told(scaled, "NotTriggerScaleUp")[0]


def test_the_more_important_pod_gets_the_last_machine(scaled: SimWorld) -> None:
    scaled.apply(priority_class("high", 10))
    for number in range(3):
        scaled.apply(pod(f"a{number}", cpu="4"))
    scaled.apply(pod("vip", cpu="4", priorityClassName="high"))
    scaled.run_for(150)
    assert place(scaled, "vip") != ""


def test_pods_of_very_low_priority_ask_for_nothing(scaled: SimWorld) -> None:
    scaled.apply(priority_class("filler", -11))
    scaled.apply(pod("p", priorityClassName="filler"))
    scaled.run_for(300)
    assert nodes(scaled) == []


@pytest.mark.parametrize(
    "autoscaling",
    [Autoscaling(True, profile=KARPENTER), Autoscaling(True, cutoff=-2000)],
)
def test_karpenter_and_a_lower_cutoff_serve_them_too(
    world: SimWorld, autoscaling: Autoscaling
) -> None:
    Autoscaler(world.stage, [BURST], autoscaling)
    world.apply(priority_class("placeholder", -1000))
    world.apply(pod("p", priorityClassName="placeholder"))
    world.run_for(110)
    assert nodes(world) == ["burst-0"]


def test_gated_pods_and_latches_ask_for_nothing(scaled: SimWorld) -> None:
    scaled.apply(node("a", cpu="1"))
    gates = [{"name": "x"}]
    scaled.apply(pod("p", cpu="2", schedulingGates=gates))
    scaled.apply(pod("latch", cpu="1", schedulingGates=gates))
    scaled.patch("Pod", "default", "latch", {"status": {"nominatedNodeName": "a"}})
    scaled.run_for(300)
    assert nodes(scaled) == ["a"]


def test_a_pool_that_is_cheaper_comes_first_where_it_fits(world: SimWorld) -> None:
    small = Pool("small", most=2, capacity={**ROOM, "cpu": "1"}, boot_delay=5, price=0.1)
    large = Pool("large", most=2, capacity={**ROOM, "cpu": "8"}, boot_delay=5, price=0.5)
    Autoscaler(world.stage, [large, small], Autoscaling(enabled=True))
    world.apply(pod("one", cpu="1"))
    world.apply(pod("two", cpu="2"))
    world.run_for(30)
    assert place(world, "one") in ("small-0", "large-0")
    assert place(world, "two") == "large-0"


def test_labels_and_taints_of_a_pool_are_respected(world: SimWorld) -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    gpu = Pool("gpu", most=1, capacity=ROOM, taints=(taint,), labels={"kind": "gpu"}, boot_delay=5)
    Autoscaler(world.stage, [gpu], Autoscaling(enabled=True))
    world.apply(pod("plain"))
    world.run_for(60)
    assert nodes(world) == []
    world.apply(pod("mine", tolerations=[{"operator": "Exists"}], nodeSelector={"kind": "gpu"}))
    world.run_for(60)
    assert place(world, "mine") == "gpu-0"


def test_room_for_daemons_is_set_aside_on_machines_to_come(scaled: SimWorld) -> None:
    scaled.apply(daemon_set("agent", "1"))
    for number in range(4):
        scaled.apply(pod(f"p{number}"))
    scaled.run_for(110)
    assert nodes(scaled) == ["burst-0", "burst-1"]
    assert all(place(scaled, f"p{number}") for number in range(4))


def test_what_would_fit_on_a_node_that_is_there_orders_none(scaled: SimWorld) -> None:
    scaled.apply(node("a", cpu="4"))
    scaled.apply(pod("old", cpu="4"))
    scaled.run_for(2)
    scaled.apply(pod("new", cpu="4"))
    scaled.run_for(5)
    scaled.delete("Pod", "default", "old", grace=0)
    scaled.run_for(60)
    assert nodes(scaled) == ["a"]
    assert told(scaled, "TriggeredScaleUp") == []


def test_a_daemon_without_room_asks_for_no_node(scaled: SimWorld) -> None:
    scaled.apply(pod("p", cpu="4"))
    scaled.run_for(120)
    scaled.apply(daemon_set("agent"))
    scaled.run_for(300)
    assert nodes(scaled) == ["burst-0"]
    assert told(scaled, "NotTriggerScaleUp") == []
