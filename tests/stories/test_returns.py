"""What owners of a reusable hold return is held again, however they end, and no rival gets it."""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.stories.embedded import EmbeddedWorld
from tests.stories.killing import cpu_on_node, held
from tests.stories.things import hold, pod
from tests.stories.world import World

WAIT = {"headroom.dev/wait": "true"}
DOORS = pytest.mark.parametrize("door", ["gated", "ours"])
RIVALS = {"rival-1": 1, "rival-2": 2, "rival-3": 2, "rival-4": 2, "rival-5": 4}
RETURNS = 12


def full_of_owners(world: World, door: str, pods: int = 110) -> None:
    """A node that two owners of one hold fill, and rivals that kube-scheduler has refused."""
    world.add_node("a", cpu=4, pods=pods)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    for name in ("owner-0", "owner-1"):
        world.apply(pod(name, cpu=2, app="web", **{door: True}))
        world.until_runs(name, on="a")
    world.until("nothing is left to hold", lambda: not world.ours("guardian"))
    world.apply(*(pod(name, cpu=cpu) for name, cpu in RIVALS.items()))
    world.until("a fence stands", lambda: fenced(world))
    world.pass_time(1)


def fenced(world: World) -> bool:
    return [item["spec"].get("nodeName") for item in world.ours("fence")] == ["a"]


def rivals_in(world: World) -> list[str]:
    return [name for name in RIVALS if world.node_of(name)]


def end(world: World, name: str, way: str) -> None:
    """A pod ends without a warning: it finishes, or is deleted without grace."""
    if way == "deleted":
        world.delete("Pod", name)
    else:
        world.finish(name, way)


@DOORS
def test_what_owners_return_without_warning_is_held_again(world: World, door: str) -> None:
    full_of_owners(world, door)
    ways = cycle(["Succeeded", "Failed", "deleted"])
    for number in range(RETURNS):
        end(world, f"owner-{number}", next(ways))
        world.until("what it returned is held", lambda: held(world) == [2])
        assert rivals_in(world) == []
        heir = f"owner-{number + 2}"
        world.apply(pod(heir, cpu=2, app="web", **{door: True}))
        world.until_runs(heir, on="a")
        assert rivals_in(world) == []
    assert world.status("h", "Hold")["phase"] == "Available"


def test_on_a_node_with_few_places_for_pods_what_is_returned_is_held_again(world: World) -> None:
    """Its fence is put up under a latch that keeps a place."""
    full_of_owners(world, "gated", pods=6)
    world.until("no latch is left", lambda: not world.ours("latch"))
    world.finish("owner-0", "Succeeded")
    world.until("what it returned is held", lambda: held(world) == [2])
    assert rivals_in(world) == []


@pytest.mark.slow
@DOORS
def test_owners_that_wait_are_served_first(world: World, door: str) -> None:
    full_of_owners(world, door)
    wait = {"headroom.dev/wait": "true"}
    for number in range(RETURNS):
        heir = f"owner-{number + 2}"
        world.apply(pod(heir, cpu=2, app="web", annotations=wait, **{door: True}))
        world.pass_time(0.3)
        assert world.node_of(heir) == ""
        end(world, f"owner-{number}", "Succeeded")
        world.until_runs(heir, on="a")
        assert rivals_in(world) == []
        assert world.claim_of(heir) == "Hold/default/h"
    assert cpu_on_node(world) == 4


def test_the_fence_goes_with_those_who_wait(world: World) -> None:
    full_of_owners(world, "gated")
    for name in RIVALS:
        world.delete("Pod", name)
    world.until("no fence is left", lambda: not world.ours("fence"))
    end(world, "owner-0", "Succeeded")
    world.until("what it returned is held", lambda: held(world) == [2])


def test_a_stranger_that_fits_beside_is_let_in(world: World) -> None:
    """Room that no hold has and that no owner will return is everybody's, fence or no fence."""
    world.add_node("a", cpu=5)
    world.start_operator()
    world.apply(hold("h", cpu=4, allocateOnce=False))
    world.until_held("h")
    world.apply(pod("owner", cpu=2, app="web", gated=True))
    world.until_runs("owner", on="a")
    world.until("the rest is held", lambda: held(world) == [2])
    world.apply(pod("rival", cpu=3))
    world.until("a fence stands", lambda: fenced(world))
    world.apply(pod("small", cpu=1))
    world.until_runs("small", on="a")
    assert world.node_of("rival") == ""


def hold_for_two(world: World, door: str) -> None:
    """A node that is full of two holds; an owner has two thirds of the first."""
    world.add_node("a", cpu=6)
    world.start_operator()
    for app in ("web", "api"):
        world.apply(hold(app, cpu=3, app=app, allocateOnce=False))
    world.until_held("web", "api")
    world.apply(pod("web-0", cpu=2, app="web", **{door: True}))
    world.until_runs("web-0", on="a")


@DOORS
def test_what_one_hold_is_about_to_have_back_is_not_free_for_owners_of_another(
    world: World, door: str
) -> None:
    """An owner may need more than its hold has, and take free room: this is not free."""
    hold_for_two(world, door)
    world.apply(pod("large", cpu=2, app="web", annotations=WAIT, **{door: True}))
    world.apply(pod("rival", cpu=3))
    for number in range(RETURNS):
        world.apply(pod(f"api-{number}", cpu=3, app="api", **{door: True}))
        world.until_runs(f"api-{number}", on="a")
        world.until("a fence stands", lambda: fenced(world))
        end(world, f"api-{number}", "Succeeded")
        world.until("all is held again", lambda: held(world) == [1, 3])
        assert not world.node_of("rival")
        assert not world.node_of("large")
    end(world, "web-0", "Succeeded")
    world.until_runs("large", on="a")
    world.until("all is held again", lambda: held(world) == [1, 3])
    assert not world.node_of("rival")


@DOORS
def test_what_is_returned_much_later_is_kept_as_well(embedded: EmbeddedWorld, door: str) -> None:
    """Whoever asked for it long ago, and went, has not used up the patience of those who come."""
    world = embedded
    hold_for_two(world, door)
    for number in range(RETURNS):
        world.apply(pod(f"api-{number}", cpu=3, app="api", **{door: True}))
        world.until_runs(f"api-{number}", on="a")
        world.pass_time(1)
        end(world, f"api-{number}", "Succeeded")
        large = f"large-{number}"
        world.apply(pod(large, cpu=2, app="web", annotations=WAIT, **{door: True}))
        world.pass_time(0.2)
        world.delete("Pod", large)
        world.until("all is held again", lambda: held(world) == [1, 3])
        world.pass_time(40)
