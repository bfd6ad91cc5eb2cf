"""What an Order says and does when things do not go as planned."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.controlplane import ControlPlane
from tests.stories.korder.conftest import CODECS
from tests.stories.korder.things import guardians, order, phases, ticket, until_phases
from tests.stories.real import RealWorld
from tests.stories.things import NAMESPACE, Json
from tests.stories.world import World

LIMITED = {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}}


def _quota(**hard: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": NAMESPACE},
        "spec": {"hard": {key.replace("_", "."): amount for key, amount in hard.items()}},
    }


def test_a_quota_on_limits_lets_tickets_with_limits_in(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(_quota(limits_cpu="4", limits_memory="2Gi"))
    world.apply(order(replicas=2, ticket=LIMITED))
    until_phases(world, web_0="Ready", web_1="Ready")
    limits = world.ours("guardian")[0]["spec"]["containers"][0]["resources"]["limits"]
    assert limits == {"cpu": "2", "memory": "1Gi"}


def test_an_order_whose_new_template_finds_no_room_is_not_ready(world: World) -> None:
    world.add_node("a", cpu=4)
    world.start_operator()
    world.apply(order(replicas=2, cpu=2))
    until_phases(world, web_0="Ready", web_1="Ready")
    world.until(
        "the order is ready",
        lambda: world.condition_of("web", of="Order").get("status") == "True",
    )
    larger: Json = {"template": {"spec": {"resources": {"requests": {"cpu": "3"}}}}}
    world.patch("Order", "web", {"spec": larger})
    world.until(
        "the order says that the larger tickets wait",
        lambda: "to be renewed" in world.condition_of("web", of="Order").get("message", ""),
    )
    assert world.condition_of("web", of="Order")["status"] == "False"
    assert world.condition_of("web", "Failure", of="Order")["status"] == "True"
    assert len([node for node in guardians(world).values() if node]) == 2


def test_events_tell_of_tickets_that_were_made_and_deleted(world: World) -> None:
    world.add_node("a")
    world.start_operator()
    world.apply(order(replicas=2))
    until_phases(world, web_0="Ready", web_1="Ready")
    world.until("it is told", lambda: "web-1" in _told(world, "TicketCreated"))
    assert "web-0" in _told(world, "TicketCreated")
    world.patch("Order", "web", {"spec": {"replicas": 1}})
    until_phases(world, web_0="Ready")
    world.until("it is told", lambda: "web-1" in _told(world, "TicketDeleted"))
    assert "web-0" not in _told(world, "TicketDeleted")


def test_a_node_that_evicts_the_ticket_after_a_time_has_none(world: World) -> None:
    world.add_node("a")
    world.add_node("b")
    world.start_operator()
    briefly = {"key": "maintenance", "effect": "NoExecute", "tolerationSeconds": 2}
    shape: dict[str, Any] = {"tolerations": [{**briefly, "operator": "Exists"}]}
    world.apply(order(daemonSet=True, ticket=shape))
    until_phases(world, web_a="Ready", web_b="Ready")
    taint = {"key": "maintenance", "value": "soon", "effect": "NoExecute"}
    world.patch("Node", "b", {"spec": {"taints": [taint]}}, namespace="")
    until_phases(world, web_a="Ready")
    world.pass_time(3)
    assert phases(world) == {"web-a": "Ready"}
    told = "1 with a taint that the slot tolerates for a time only"
    world.until(
        "the order says why",
        lambda: told in world.condition_of("web", of="Order").get("message", ""),
    )


@pytest.mark.e2e
def test_tickets_that_are_orphaned_stay_and_the_order_goes(korder_plane: ControlPlane) -> None:
    world = RealWorld(korder_plane, CODECS)
    try:
        world.add_node("a")
        _until_tickets_are_collected(world)
        world.start_operator()
        world.apply(order(replicas=2))
        until_phases(world, web_0="Ready", web_1="Ready")
        path = f"/apis/core.korder.dev/v1alpha1/namespaces/{NAMESPACE}/orders/web"
        korder_plane.api.delete(path, {"propagationPolicy": "Orphan"})
        world.until("the order is gone", lambda: not world.all("Order"))
        world.pass_time(3)
        assert phases(world) == {"web-0": "Ready", "web-1": "Ready"}
        owners = [each["metadata"].get("ownerReferences") for each in world.all("Ticket")]
        assert owners == [None, None]
        assert len(guardians(world)) == 2
    finally:
        world.close()


def _until_tickets_are_collected(world: RealWorld) -> None:
    """The garbage collector learns of new kinds every half minute; before, it orphans nothing."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "none"}
    world.apply(ticket("stray", metadata={"ownerReferences": [owner]}))
    world.until("the garbage collector knows tickets", lambda: not world.all("Ticket"), 90)


def _told(world: World, reason: str) -> str:
    return "; ".join(event["message"] for event in world.events(reason, "web"))
