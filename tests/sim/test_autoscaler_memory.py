"""What the autoscaler remembers from look to look changes nothing but the time it takes."""

from __future__ import annotations

from random import Random

import pytest

from headroom.sim.api.values import Json, dig, ref_of
from headroom.sim.controllers.autoscaler import Autoscaler
from headroom.sim.controllers.autoscaler_cache import AutoscalerCache
from headroom.sim.controllers.autoscaler_fleet import Fleet
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.controllers.autoscaler_scale_down import ScaleDown
from headroom.sim.pools import CLUSTER_AUTOSCALER, KARPENTER, Autoscaling, Pool
from headroom.sim.world import SimWorld
from tests.sim.things import deployment, pod

ROOM = {"cpu": "4", "memory": "16Gi", "pods": "110"}
POOLS = [
    Pool("least", count=1, most=4, capacity=ROOM, boot_delay=30.0, price=1.0),
    Pool("more", most=3, capacity={**ROOM, "cpu": "8"}, boot_delay=60.0, price=2.0),
]
ROUNDS = 40


@pytest.mark.slow
@pytest.mark.parametrize("profile", [CLUSTER_AUTOSCALER, KARPENTER])
def test_remembering_changes_nothing(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remembering = [run(seed, profile) for seed in range(4)]
    forget_everything(monkeypatch)
    assert remembering == [run(seed, profile) for seed in range(4)]
    reasons = {event["reason"] for _, events, _ in remembering for event in events}
    assert {"TriggeredScaleUp", "ScaleDown"} <= reasons


def forget_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every look begin from nothing: all machines are judged, and the model made anew."""
    review, next_of = ScaleDown.review, Fleet.next_of

    def review_all(self: ScaleDown) -> float | None:
        self.look_again_everywhere()
        return review(self)

    def next_of_all(self: Fleet, pool: Pool) -> tuple[int, int]:
        self._next.clear()
        return next_of(self, pool)

    def fresh(self: AutoscalerCache) -> Model:
        return self.model()

    monkeypatch.setattr(ScaleDown, "review", review_all)
    monkeypatch.setattr(Fleet, "next_of", next_of_all)
    monkeypatch.setattr(AutoscalerCache, "standing", fresh)


def run(seed: int, profile: str) -> tuple[list[Json], list[Json], list[str]]:
    """Pods come and go, and workloads and machines with them; nodes and events in the end."""
    chance = Random(seed)
    seen = []
    with SimWorld(seed=seed) as world:
        for index in range(POOLS[0].count):
            world.apply(POOLS[0].node(index))
        scaling = Autoscaling(enabled=True, scale_down_after=60.0, profile=profile)
        Autoscaler(world.stage, POOLS, scaling)
        for number in range(ROUNDS):
            change(world, chance, number)
            world.run_for(chance.choice((1.0, 20.0, 120.0)))
            seen.append(f"{world.elapsed} {sorted(places(world))}")
        return list(world.list("Node")), list(world.events()), seen


def change(world: SimWorld, chance: Random, number: int) -> None:
    draw = chance.random()
    there = [ref_of(item).name for item in world.list("Pod")]
    nodes = [ref_of(item).name for item in world.list("Node")]
    if draw < 0.4:
        world.apply(pod(f"pod-{number}", chance.choice(("1", "3", "6"))))
    elif draw < 0.6:
        world.apply(deployment(f"app-{number % 2}", chance.randrange(6)))
    elif draw < 0.9 and there:
        world.delete("Pod", "default", chance.choice(there))
    elif nodes:
        world.delete("Node", "", chance.choice(nodes))


def places(world: SimWorld) -> list[str]:
    return [f"{ref_of(each).name} {dig(each, 'spec', 'nodeName')}" for each in world.list("Pod")]
