"""What keeps room for a tenant is charged to its quota before it stands."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stories.things import Json, hold, pod
from tests.stories.world import World

TENANT = "elsewhere"


def prepare(world: World, cpu: int, quota: str) -> list[str]:
    """A node, a tenant with a quota, and the latches that stand for it from now on."""
    world.add_node("a", cpu=cpu)
    if world.get("Namespace", TENANT) is None:
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TENANT}})
    world.apply(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "limits", "namespace": TENANT},
            "spec": {"hard": {"requests.cpu": quota}},
        }
    )
    latches: list[str] = []
    world.on_look(lambda: latches.extend(each["metadata"]["name"] for each in world.ours("latch")))
    world.start_operator()
    return latches


def kept(name: str, cpu: str | int, **spec: Any) -> Json:
    return hold(name, cpu=cpu, namespace=TENANT, **spec)


def told(world: World, name: str) -> str:
    found = world.get("Hold", name, TENANT) or {}
    conditions = found.get("status", {}).get("conditions", [])
    return " ".join(f"{each['reason']}: {each['message']}" for each in conditions)


def guardians(world: World) -> list[tuple[str, str]]:
    """What each guardian of the tenant asks for, and where it is."""
    return sorted(
        (
            each["spec"]["containers"][0]["resources"]["requests"]["cpu"],
            each["spec"].get("nodeName", ""),
        )
        for each in world.ours("guardian")
        if "deletionTimestamp" not in each["metadata"]
    )


def waits(world: World, name: str) -> bool:
    return world.phase_of_hold(name, TENANT) == "Waiting"


def test_a_hold_that_waits_keeps_nothing_beyond_its_quota(world: World) -> None:
    latches = prepare(world, cpu=4, quota="200m")
    world.apply(pod("tiny", cpu="10m", app="web", namespace=TENANT))
    world.until("it runs", lambda: world.node_of("tiny", TENANT) == "a")
    world.apply(kept("h", cpu=4, preAllocation=True))
    world.until("it is told", lambda: "exceeded quota" in told(world, "h"))
    world.apply(pod("stranger", cpu=3))
    world.until_runs("stranger", on="a")
    world.pass_time(5)
    assert (latches, guardians(world)) == ([], [])


def test_a_hold_that_waits_is_charged_once_and_gets_its_room(world: World) -> None:
    prepare(world, cpu=4, quota="4010m")
    world.apply(pod("tiny", cpu="10m", app="web", namespace=TENANT))
    world.until("it runs", lambda: world.node_of("tiny", TENANT) == "a")
    world.apply(kept("h", cpu=4, preAllocation=True))
    world.until("it waits", lambda: waits(world, "h") and bool(world.ours("latch")))
    assert guardians(world) == [("4", "")]
    world.apply(pod("rival", cpu=4), pod("small", cpu=1))
    world.pass_time(3)
    world.delete("Pod", "tiny", TENANT)
    world.until("it is held", lambda: guardians(world) == [("4", "a")])
    world.until_nothing_is_left()
    assert (world.node_of("rival"), world.node_of("small")) == ("", "")


@pytest.mark.slow
def test_a_charge_that_somebody_deletes_is_made_again_before_anything_is_kept(world: World) -> None:
    prepare(world, cpu=4, quota="4010m")
    world.apply(pod("tiny", cpu="10m", app="web", namespace=TENANT))
    world.until("it runs", lambda: world.node_of("tiny", TENANT) == "a")
    world.apply(kept("h", cpu=4, preAllocation=True))
    world.until("it waits", lambda: waits(world, "h") and bool(world.ours("latch")))
    (charge,) = world.ours("guardian")
    world.patch("ResourceQuota", "limits", {"spec": {"hard": {"requests.cpu": "200m"}}}, TENANT)
    world.delete("Pod", charge["metadata"]["name"], TENANT)
    world.until("it is told", lambda: "exceeded quota" in told(world, "h"))
    world.until("no latch stands", lambda: not world.ours("latch"))
    world.apply(pod("stranger", cpu=3))
    world.until_runs("stranger", on="a")


def larger(name: str, cpu: str) -> Json:
    return {"spec": {"template": kept(name, cpu=cpu)["spec"]["template"]}}


@pytest.mark.slow
def test_a_hold_that_is_made_larger_keeps_no_more_than_its_quota_allows(world: World) -> None:
    latches = prepare(world, cpu=3, quota="200m")
    world.apply(kept("h", cpu="100m"))
    world.until("it is held", lambda: guardians(world) == [("100m", "a")])
    world.patch("Hold", "h", larger("h", "3"), TENANT)
    world.until("it is told", lambda: "exceeded quota" in told(world, "h"))
    world.pass_time(5)
    assert (latches, guardians(world)) == ([], [("100m", "a")])
    world.apply(pod("stranger", cpu=2))
    world.until_runs("stranger", on="a")


def test_one_that_is_made_larger_within_its_quota_is(world: World) -> None:
    prepare(world, cpu=3, quota="3")
    world.apply(kept("h", cpu="100m"))
    world.until("it is held", lambda: guardians(world) == [("100m", "a")])
    world.patch("Hold", "h", larger("h", "3"), TENANT)
    world.until("it is larger", lambda: guardians(world) == [("3", "a")])
    world.until_nothing_is_left()
