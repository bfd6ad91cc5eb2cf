"""Slots shaped like the workloads likeliest to grow: chosen, told, claimed, and not churned."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.stories.embedded import EmbeddedWorld
from tests.stories.things import NAMESPACE, Json, pod, workload
from tests.stories.world import World

NAME = "ready"
PATIENCE = 120


def ready(**spec: Any) -> Json:
    """Ten lines of YAML that keep a namespace ready."""
    auto = spec.pop("auto", {})
    return {
        "apiVersion": "headroom.dev/v1alpha1",
        "kind": "Headroom",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"slot": {"auto": auto}, "size": spec.pop("size", {"replicas": 3}), **spec},
    }


def deployment(name: str, replicas: int, cpu: int = 1, **more: Any) -> Json:
    return workload("Deployment", name, cpu=cpu, replicas=replicas, pods={"ours": True}, **more)


def chosen(world: World) -> dict[str, int]:
    """How many slots each workload has by the status, in its order."""
    told = world.status(NAME).get("auto", {}).get("chosen", [])
    return {each["name"]: each["slots"] for each in told}


def held_cpu(world: World) -> list[str]:
    """What each held slot asks for, by slot."""
    return [
        f"{slot} {guardian['spec']['containers'][0]['resources']['requests']['cpu']}"
        for slot, guardians in sorted(world.slots(NAME).items())
        for guardian in guardians
        if guardian["spec"].get("nodeName")
    ]


def pods_of(world: World, app: str) -> list[Json]:
    return [
        each for each in world.all("Pod") if each["metadata"].get("labels", {}).get("app") == app
    ]


def all_run(world: World, app: str, count: int) -> bool:
    pods = pods_of(world, app)
    return len(pods) == count and all(each["spec"].get("nodeName") for each in pods)


def test_slots_are_like_the_workloads_that_run(world: World) -> None:
    world.add_node("a", cpu=32)
    world.start_operator()
    world.apply(deployment("web", 6, cpu=1), deployment("api", 2, cpu=2))
    world.until("both run", lambda: all_run(world, "web", 6) and all_run(world, "api", 2), PATIENCE)
    world.apply(ready(size={"replicas": 4}))
    expected = [
        f"Deployment/{NAMESPACE}/api/0 2",
        f"Deployment/{NAMESPACE}/web/0 1",
        f"Deployment/{NAMESPACE}/web/1 1",
        f"Deployment/{NAMESPACE}/web/2 1",
    ]
    world.until("slots of both shapes", lambda: held_cpu(world) == expected, PATIENCE)
    world.until("the choice is told", lambda: chosen(world) == {"web": 3, "api": 1}, PATIENCE)
    told = world.status(NAME)["auto"]
    assert told["candidates"] == 2
    assert all("wanted" in each["why"] for each in told["chosen"])


def test_a_chosen_workload_that_grows_takes_its_slots_and_strangers_do_not(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(deployment("web", 2, cpu=2))
    world.until("it runs", partial(all_run, world, "web", 2), PATIENCE)
    world.apply(ready(size={"replicas": 2}))
    world.until("the rest of the node is held", lambda: len(world.held(NAME)) == 2, PATIENCE)
    world.apply(pod("stranger", cpu=2))
    world.scale("Deployment", "web", 4)
    world.until("it has grown", partial(all_run, world, "web", 4), PATIENCE)
    claims = [each["metadata"].get("annotations", {}) for each in pods_of(world, "web")]
    assert sum("headroom.dev/claimed" in each for each in claims) == 2
    assert not world.node_of("stranger")


def test_a_workload_that_comes_later_is_chosen_and_one_that_goes_is_dropped(world: World) -> None:
    world.add_node("a", cpu=32)
    world.start_operator()
    world.apply(ready(size={"replicas": 2}))
    world.until(
        "nothing to be like yet",
        lambda: world.condition_of(NAME, of="Headroom").get("reason") == "NoWorkloadInScope",
        PATIENCE,
    )
    world.apply(deployment("web", 2))
    world.until("it is chosen", lambda: chosen(world) == {"web": 2}, PATIENCE)
    world.until("and held", lambda: len(world.held(NAME)) == 2, PATIENCE)
    world.delete("Deployment", "web")
    world.until("its slots are given back", lambda: not world.slots(NAME), PATIENCE)


def test_a_killed_operator_goes_on_with_the_same_slots(world: World) -> None:
    world.add_node("a", cpu=32)
    world.start_operator()
    world.apply(deployment("web", 4), deployment("api", 4, cpu=2))
    world.until("both run", lambda: all_run(world, "web", 4) and all_run(world, "api", 4), PATIENCE)
    world.apply(ready(size={"replicas": 5}))
    world.until("held", lambda: len(world.held(NAME)) == 5, PATIENCE)
    world.until("told", lambda: sum(chosen(world).values()) == 5, PATIENCE)
    before = {slot: each[0]["metadata"]["uid"] for slot, each in world.slots(NAME).items()}
    world.kill_operator()
    world.start_operator()
    world.pass_time(5)
    after = {slot: each[0]["metadata"]["uid"] for slot, each in world.slots(NAME).items()}
    assert after == before


def test_a_part_of_each_chosen_workload(world: World) -> None:
    world.add_node("a", cpu=32)
    world.start_operator()
    world.apply(deployment("web", 4), deployment("api", 2), deployment("odd", 2))
    labels = {"matchExpressions": [{"key": "keep", "operator": "NotIn", "values": ["no"]}]}
    world.patch("Deployment", "odd", {"metadata": {"labels": {"keep": "no"}}})
    world.apply(ready(size={"percent": 50}, auto={"scope": {"labelSelector": labels}, "top": 2}))
    world.until("half of each", lambda: chosen(world) == {"web": 2, "api": 1}, PATIENCE)
    world.until("they are held", lambda: len(world.held(NAME)) == 3, PATIENCE)


def test_workloads_of_other_namespaces_need_the_operators_leave(world: World) -> None:
    world.add_node("a", cpu=8)
    world.start_operator()
    world.apply(deployment("web", 1), ready(auto={"scope": {"namespaceSelector": {}}}))
    world.until(
        "it says so",
        lambda: "--allow-cross-namespace-owners" in _message(world),
        PATIENCE,
    )
    assert not world.slots(NAME)


def _message(world: World) -> str:
    return str(world.condition_of(NAME, of="Headroom").get("message", ""))


def elsewhere(name: str, namespace: str, replicas: int) -> Json:
    made = deployment(name, replicas)
    return {**made, "metadata": {**made["metadata"], "namespace": namespace}}


def test_with_leave_workloads_of_the_selected_namespaces_are_chosen_and_served(
    embedded: EmbeddedWorld,
) -> None:
    world = embedded
    for name, labels in (("shop", {"team": "a"}), ("bank", {})):
        world.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        )
    world.add_node("a", cpu=8)
    world.start_operator(across_namespaces=True)
    world.apply(elsewhere("web", "shop", 2), elsewhere("vault", "bank", 2))
    selector = {"matchLabels": {"team": "a"}}
    world.apply(ready(size={"replicas": 2}, auto={"scope": {"namespaceSelector": selector}}))
    world.until("the shop is chosen", lambda: chosen(world) == {"web": 2}, PATIENCE)
    world.until("and held", lambda: len(world.held(NAME)) == 2, PATIENCE)
    told = world.status(NAME)["auto"]
    assert [each["namespace"] for each in told["chosen"]] == ["shop"]
    assert told["candidates"] == 1
    world.scale("Deployment", "web", 4, "shop")
    world.until("it grows", partial(all_run, world, "web", 4), PATIENCE)
    claims = [each["metadata"].get("annotations", {}) for each in pods_of(world, "web")]
    assert sum("headroom.dev/claimed" in each for each in claims) >= 2
    guardians = world.ours("guardian")
    assert {each["metadata"]["namespace"] for each in guardians} == {NAMESPACE}
