"""The races of a handover show in the embedded cluster as they did on a real one (HANDOVER.md).

A rival that waits gets the room of a guardian that is simply deleted. A latch keeps it out, but
only if the latch outlives every scheduling cycle that began before the bind.
"""

from __future__ import annotations

from collections.abc import Callable

from headroom.sim.api.values import Ref, dig
from headroom.sim.settings import Settings
from headroom.sim.world import SimWorld
from tests.sim.things import node, pod

OWNER = Ref("Pod", "default", "owner")
GUARDIAN = Ref("Pod", "default", "guardian")
LATCH = Ref("Pod", "default", "latch")
SLOW = Settings(cycle=(0.004, 0.02))
ROUND_TRIP = 0.009


def contested(
    seed: int, handover: Callable[[SimWorld], None], settings: Settings = SLOW
) -> tuple[bool, bool]:
    """One handover with five rivals waiting: does the owner run, and did a rival get in?"""
    with SimWorld(seed=seed, settings=settings) as world:
        world.apply(node("a", cpu="1"))
        world.apply(pod("guardian", cpu="800m", terminationGracePeriodSeconds=0))
        world.run_for(3)
        for number in range(5):
            world.apply(pod(f"rival{number}", cpu="800m"))
        world.run_for(3)
        world.apply(pod("owner", cpu="800m", schedulerName="headroom-scheduler"))
        handover(world)
        world.run_for(5)
        runs = dig(world.get("Pod", "default", "owner"), "status", "phase") == "Running"
        rivals = [world.get("Pod", "default", f"rival{number}") for number in range(5)]
        return runs, any(dig(rival, "spec", "nodeName") for rival in rivals)


def swap(world: SimWorld) -> None:
    """Delete the guardian and bind the owner."""
    world.server.delete(GUARDIAN, grace=0)
    world.run_for(ROUND_TRIP)
    world.server.bind(OWNER, {"target": {"name": "a"}})
    world.run_for(ROUND_TRIP)


def latched(linger: float) -> Callable[[SimWorld], None]:
    def handover(world: SimWorld) -> None:
        world.apply(pod("latch", cpu="800m", schedulingGates=[{"name": "g"}]))
        world.run_for(ROUND_TRIP)
        world.server.merge_patch(LATCH, {"status": {"nominatedNodeName": "a"}}, "status")
        world.run_for(ROUND_TRIP)
        swap(world)
        world.run_for(linger)
        world.server.delete(LATCH)

    return handover


def test_without_a_latch_rivals_get_in_and_owners_are_lost() -> None:
    seen = [contested(seed, swap, Settings()) for seed in range(30)]
    lost = sum(not runs for runs, _ in seen)
    let_in = sum(rival for _, rival in seen)
    assert lost >= 5
    assert let_in >= 10


def test_a_latch_that_goes_at_once_leaves_a_hole() -> None:
    seen = [contested(seed, latched(linger=0.0)) for seed in range(60)]
    assert any(rival for _, rival in seen)


def test_a_latch_that_lingers_keeps_everybody_out() -> None:
    seen = [contested(seed, latched(linger=0.5)) for seed in range(60)]
    assert all(runs and not rival for runs, rival in seen)
