"""The small autoscaler: nodes for pods that fit nowhere, empty nodes taken away."""

from __future__ import annotations

import pytest

from headroom.sim.api.values import dig, ref_of
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.pools import Autoscaling, Pool
from headroom.sim.world import SimWorld
from tests.sim.things import daemon_set, pod, priority_class

ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}
BURST = Pool("burst", most=3, capacity=ROOM, boot_delay=90.0)


@pytest.fixture
def scaled(world: SimWorld) -> SimWorld:
    Autoscaler(world.stage, [BURST], Autoscaling(enabled=True, scale_down_after=600))
    return world


def nodes(world: SimWorld) -> list[str]:
    return [ref_of(item).name for item in world.list("Node")]


def told(world: SimWorld, reason: str) -> list[str]:
    return [event["message"] for event in world.events() if event["reason"] == reason]


def test_a_stuck_pod_gets_a_node_after_its_boot_delay(scaled: SimWorld) -> None:
    scaled.apply(pod("p"))
    scaled.run_for(99)
    assert nodes(scaled) == []
    scaled.run_for(3)
    assert nodes(scaled) == ["burst-0"]
    assert dig(scaled.get("Pod", "default", "p"), "spec", "nodeName") == "burst-0"
    assert told(scaled, "TriggeredScaleUp") == ["pod triggered scale-up: [{burst 0->1 (max: 3)}]"]


def test_pods_are_packed_and_the_maximum_is_kept(scaled: SimWorld) -> None:
    for number in range(16):
        scaled.apply(pod(f"p{number}"))
    scaled.run_for(300)
    assert sorted(nodes(scaled)) == ["burst-0", "burst-1", "burst-2"]
    assert len(told(scaled, "NotTriggerScaleUp")) == 4


def test_what_fits_no_machine_orders_none(scaled: SimWorld) -> None:
    scaled.apply(pod("huge", cpu="5"))
    scaled.run_for(300)
    assert nodes(scaled) == []


def test_pods_of_very_low_priority_ask_for_nothing(scaled: SimWorld) -> None:
    scaled.apply(priority_class("filler", -11))
    scaled.apply(pod("p", priorityClassName="filler"))
    scaled.run_for(300)
    assert nodes(scaled) == []


def test_gated_pods_ask_for_nothing(scaled: SimWorld) -> None:
    scaled.apply(pod("p", schedulingGates=[{"name": "x"}]))
    scaled.run_for(300)
    assert nodes(scaled) == []


def test_an_empty_node_goes_after_its_time(scaled: SimWorld) -> None:
    scaled.apply(pod("p"))
    scaled.run_for(120)
    scaled.delete("Pod", "default", "p", grace=0)
    scaled.run_for(599)
    assert nodes(scaled) == ["burst-0"]
    scaled.run_for(2)
    assert nodes(scaled) == []


def test_a_node_in_use_again_stays(scaled: SimWorld) -> None:
    scaled.apply(pod("p"))
    scaled.run_for(120)
    scaled.delete("Pod", "default", "p", grace=0)
    scaled.run_for(300)
    scaled.apply(pod("q"))
    scaled.run_for(900)
    assert nodes(scaled) == ["burst-0"]


def test_a_node_with_nothing_but_daemons_is_empty(scaled: SimWorld) -> None:
    scaled.apply(daemon_set("agent", "100m"))
    scaled.apply(pod("p"))
    scaled.run_for(120)
    assert nodes(scaled) == ["burst-0"]
    scaled.delete("Pod", "default", "p")
    scaled.run_for(700)
    assert nodes(scaled) == []


def test_a_daemon_without_room_asks_for_no_node(scaled: SimWorld) -> None:
    scaled.apply(pod("p", cpu="4"))
    scaled.run_for(120)
    scaled.apply(daemon_set("agent"))
    scaled.run_for(300)
    assert nodes(scaled) == ["burst-0"]
    assert told(scaled, "NotTriggerScaleUp") == []
