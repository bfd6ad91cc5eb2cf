"""A pod more important than any hold takes what it needs of one, and the rest stays held."""

from __future__ import annotations

from tests.stories.things import hold, pod
from tests.stories.world import World


def kept(world: World) -> list[str]:
    return [
        each["spec"]["containers"][0]["resources"]["requests"]["cpu"]
        for each in world.ours("guardian")
        if each["spec"].get("nodeName")
    ]


def test_the_rest_of_a_hold_is_held_again_and_all_of_it_when_the_other_has_ended(
    world: World,
) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    critical = pod("critical", cpu="1500m", priorityClassName="system-node-critical")
    world.apply(critical)
    world.until_runs("critical", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5500m"])
    world.until("it says so", lambda: world.condition_of("h")["reason"] == "PartiallyHeld")
    world.apply(pod("stranger", cpu=2))
    world.pass_time(3)
    assert world.node_of("stranger") == ""
    world.delete("Pod", "critical")
    world.until("all of it is held", lambda: kept(world) == ["7"])


def test_strangers_that_wait_do_not_get_the_rest(world: World) -> None:
    world.add_node("a", cpu=7)
    world.start_operator()
    world.apply(hold("h", cpu=7))
    world.until_held("h")
    world.apply(*(pod(f"stranger-{number}", cpu=2) for number in range(2)))
    world.pass_time(12)
    world.apply(pod("critical", cpu="1500m", priorityClassName="system-node-critical"))
    world.until_runs("critical", on="a")
    world.until("the rest is held", lambda: kept(world) == ["5500m"])
    assert [world.node_of(f"stranger-{number}") for number in range(2)] == ["", ""]
