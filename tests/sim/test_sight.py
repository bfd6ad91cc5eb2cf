"""What the autoscaler keeps in mind between two looks is what a fresh look would show."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from headroom.sim.api.decoding import node_of
from headroom.sim.api.values import ref_of
from headroom.sim.controllers.autoscaler_sight import Sight
from headroom.sim.pools import CLUSTER_AUTOSCALER, MANNERS
from headroom.sim.world import SimWorld
from tests.sim.things import Json, node, pod, priority_class

ROUNDS = 30
CUTOFF = -10  # of the Cluster Autoscaler: pods below it neither count nor move


def change(world: SimWorld, chance: Random, number: int) -> None:
    """Something happens: mostly a pod comes or goes, now and then a node."""
    pods = [ref_of(item).name for item in world.list("Pod")]
    draw = chance.random()
    if draw < 0.55 or not pods:
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term()]}}
        more: Json = {"affinity": apart} if draw < 0.1 else {}
        more |= {"priorityClassName": "idle"} if draw > 0.5 else {}
        size = chance.choice(("500m", "1", "2"))
        world.apply(pod(f"pod-{number}", size, {"app": "web"}, **more))
    elif draw < 0.85:
        world.delete("Pod", "default", chance.choice(pods), grace=0)
    elif draw < 0.95:
        world.apply(node(f"extra-{number}", labels={"topology.kubernetes.io/zone": "b"}))
    else:
        world.delete("Node", "", chance.choice([ref_of(item).name for item in world.list("Node")]))


def _term() -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}


def test_a_model_that_is_followed_answers_as_a_fresh_one() -> None:
    answers = {answer for seed in range(5) for answer in compared(seed)}
    assert answers == {True, False}


def compared(seed: int) -> Iterator[bool]:
    """Ask both models through a run whether each node could go."""
    chance = Random(seed)
    with SimWorld(seed=seed) as world:
        sight = Sight(world.stage, MANNERS[CLUSTER_AUTOSCALER], lambda: None)
        world.store.listen("Pod", sight.pod_changed)
        world.store.listen("Node", sight.node_changed)
        world.apply(priority_class("idle", -100))
        for index in range(5):
            world.apply(node(f"node-{index}", cpu="3"))
        for number in range(ROUNDS):
            change(world, chance, number)
            world.run_for(chance.choice((0.0, 0.01, 2.0)))
            for item in world.list("Node"):
                name = ref_of(item).name
                here = [each for each in sight.pods.values() if each.node == name]
                movers = [each for each in here if each.priority >= CUTOFF and not each.finished]
                fresh = sight.model().could_leave(node_of(item), movers)
                assert sight.standing().could_leave(node_of(item), movers) == fresh
                yield fresh
