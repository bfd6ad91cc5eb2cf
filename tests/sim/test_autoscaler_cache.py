"""What the autoscaler keeps in mind between two looks is what a fresh look would show."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from headroom.sim.api.decoder import node_of, pod_of
from headroom.sim.api.values import dig, ref_of
from headroom.sim.controllers.autoscaler_cache import AutoscalerCache
from headroom.sim.controllers.autoscaler_model import Model
from headroom.sim.controllers.autoscaler_rules import is_stuck
from headroom.sim.pools import BEHAVIOURS, CLUSTER_AUTOSCALER
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
        zone = chance.choice("abc")
        name = chance.choice((f"extra-{number}", *names_of_nodes(world)))
        world.apply(node(name, labels={"topology.kubernetes.io/zone": zone}))
    else:
        world.delete("Node", "", chance.choice(names_of_nodes(world)))


def names_of_nodes(world: SimWorld) -> list[str]:
    return [ref_of(item).name for item in world.list("Node")]


def _term() -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}


def test_a_model_that_is_followed_answers_as_a_fresh_one() -> None:
    answers = {answer for seed in range(5) for answer in compared(seed)}
    assert answers == {True, False}


def compared(seed: int) -> Iterator[bool]:
    """Ask both models through a run whether each node could go."""
    chance = Random(seed)
    for world, sight in run(seed, chance):
        for item in world.list("Node"):
            name = ref_of(item).name
            here = [each for each in sight.pods.values() if each.node == name]
            movers = [each for each in here if each.priority >= CUTOFF and not each.finished]
            fresh = sight.model().could_leave(node_of(item), movers)
            assert sight.standing().could_leave(node_of(item), movers) == fresh
            yield fresh


def test_supposing_changes_nothing_and_answers_as_a_fresh_model() -> None:
    places: set[str] = set()
    for seed in range(5):
        chance = Random(seed)
        for _, sight in run(seed, chance):
            draws = chance.getrandbits(32)
            fresh = suppose(sight.model(), sight, Random(draws))
            standing = sight.standing()
            with standing.supposing():
                assert suppose(standing, sight, Random(draws)) == fresh
            assert shown(sight.standing()) == shown(sight.model())
            places.update(fresh)
    assert {"", "machine-0"} < places  # Some fit nowhere, some on machines to come.


def test_stuck_pods_are_told_in_the_order_of_the_store() -> None:
    seen = 0
    for seed in range(5):
        for world, sight in run(seed, Random(seed)):
            unbound = [item for item in world.list("Pod") if not dig(item, "spec", "nodeName")]
            waiting = [item for item in unbound if is_stuck(item, BEHAVIOURS[CLUSTER_AUTOSCALER])]
            assert [each.obj for each in sight.stuck()] == waiting
            assert [each.pod for each in sight.stuck()] == [pod_of(item) for item in waiting]
            seen = max(seen, len(waiting))
    assert seen > 1


def suppose(model: Model, sight: AutoscalerCache, chance: Random) -> list[str]:
    """Put pods about in thought, onto nodes that are there and machines to come."""
    places = []
    pods = sorted(sight.pods.values(), key=lambda each: each.key)
    for number in range(8):
        draw = chance.random()
        name = chance.choice((f"machine-{number}", "machine-0", *sight.nodes))
        machine = node_of(node(name, cpu="2", labels={"topology.kubernetes.io/zone": "d"}))
        if draw < 0.2:
            model.add_node(machine, pods[:1])
        elif draw < 0.3:
            model.reshape(machine, (), pods[1:3])
        elif draw < 0.4 and name in model.state.table.row_of:
            model.remove_node(name)
        elif pods:
            places.append(model.place(chance.choice(pods)))
    return [*places, *shown(model)]


def shown(model: Model) -> list[str]:
    """All that an answer may depend on, in words."""
    state = model.state
    lines = [f"{state.nomination(key)}" for key in sorted(state.nominated())]
    names = state.table.names_of(state.table.order())
    for name in names:
        row = state.table.row_of[name]
        free = [state.table.exact_free(each, row) for each in ("pods", "cpu", "memory")]
        here = sorted(str(pod.key) for pod in state.pods_on(name))
        lines.append(f"{name} {free} {state.table.nonzero[:, row].tolist()} {here}")
    return lines


def run(seed: int, chance: Random) -> Iterator[tuple[SimWorld, AutoscalerCache]]:
    """A world in which things happen, and an autoscaler's sight of it after each."""
    with SimWorld(seed=seed) as world:
        sight = AutoscalerCache(world.stage, BEHAVIOURS[CLUSTER_AUTOSCALER], lambda: None)
        world.store.listen("Pod", sight.pod_changed)
        world.store.listen("Node", sight.node_changed)
        world.apply(priority_class("idle", -100))
        for index in range(5):
            labels = {"topology.kubernetes.io/zone": "abb"[index % 3]}
            world.apply(node(f"node-{index}", cpu="3", labels=labels))
        for number in range(ROUNDS):
            change(world, chance, number)
            world.run_for(chance.choice((0.0, 0.01, 2.0)))
            yield world, sight
