"""The admission policy on the embedded cluster, with the real operator keeping its index."""

from __future__ import annotations

from headroom.cli.embedded import embedded_operator
from headroom.sim.api.values import Ref, dig
from headroom.sim.world import SimWorld
from tests.sim.things import hold, node, pod

GATE = "headroom.dev/claim"


def opted_in(world: SimWorld) -> None:
    labels = {"headroom.dev/claims": "enabled"}
    world.patch("Namespace", "", "default", {"metadata": {"labels": labels}})
    world.apply(node("a", cpu="2"))
    world.apply(hold("h", cpu="2"))
    world.start_operator(embedded_operator)
    world.run_for(5)


def gates(world: SimWorld, name: str) -> list[str]:
    found = dig(world.get("Pod", "default", name), "spec", "schedulingGates") or ()
    return [gate["name"] for gate in found]


def phase(world: SimWorld, name: str) -> str:
    return str(dig(world.get("Pod", "default", name), "status", "phase"))


def test_an_owner_is_gated_at_its_creation_and_gets_its_hold(world: SimWorld) -> None:
    opted_in(world)
    made = world.apply(pod("owner", cpu="2", labels={"app": "web"}))
    assert made["spec"]["schedulingGates"] == [{"name": GATE}]
    world.run_for(5)
    assert phase(world, "owner") == "Running"
    assert dig(world.get("Hold", "default", "h"), "status", "phase") == "Succeeded"


def test_pods_that_no_rule_names_are_left_alone(world: SimWorld) -> None:
    opted_in(world)
    made = world.apply(pod("other", labels={"app": "other"}))
    assert "schedulingGates" not in made["spec"]


def test_other_namespaces_are_left_alone(world: SimWorld) -> None:
    opted_in(world)
    given = pod("owner", labels={"app": "web"})
    given["metadata"]["namespace"] = "kube-system"
    assert "schedulingGates" not in world.apply(given)["spec"]


def test_an_operator_that_is_gone_stops_nobody_for_long(world: SimWorld) -> None:
    opted_in(world)
    world.kill_operator()
    world.run_for(1)
    world.apply(pod("early", cpu="1", labels={"app": "web"}))
    assert gates(world, "early") == [GATE]
    world.run_for(30)
    world.apply(pod("late", cpu="1", labels={"app": "web"}))
    assert gates(world, "late") == []
    world.start_operator(embedded_operator)
    world.run_for(20)
    assert gates(world, "early") == []


def test_the_index_shrinks_with_its_holds(world: SimWorld) -> None:
    opted_in(world)
    index = Ref("ClaimIndex", "default", "headroom")
    assert list(world.server.get(index)["spec"]["keys"]) == ["label:app=web"]
    world.delete("Hold", "default", "h")
    world.run_for(30)
    assert not dig(world.server.get(index), "spec", "keys")
