"""What is known of a shape of pods gives the answers that a search from the beginning gives."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from headroom.core.objects import Key, Node, OwnerReference, Placement, Pod, Taint, Toleration
from headroom.scheduling.choose import ChosenNode, Unschedulable, choose
from headroom.scheduling.pod_shapes import KnownRefusal, KnownShapes
from headroom.scheduling.preempt import explanation, preempt
from headroom.scheduling.state import ClusterState
from tests.scheduling.build import GI, HOSTNAME, cluster, near, node, pod, port, selector, spread

SOFT = Taint("t", "", "PreferNoSchedule")
HARD = Taint("t", "", "NoSchedule")
OWNER = (OwnerReference("apps/v1", "ReplicaSet", "web", "uid", controller=True),)


class Changing:
    """A cluster in which something happens, by chance."""

    def __init__(self, chance: Random, nodes: int) -> None:
        self.state = ClusterState()
        self.state.set_controller("ReplicaSet", Key("default", "web"), selector(app="web"))
        self._chance = chance
        self._nodes = nodes
        self._pods: list[Pod] = []
        self._nominated: list[Pod] = []
        self._placements: dict[Placement, Placement] = {}  # as who reads pods shares them
        for index in range(nodes):
            self.state.set_node(self._node(index))

    def change(self, number: int) -> None:
        chance = self._chance
        what = chance.randrange(12)
        if what < 6:
            there = f"n{chance.randrange(self._nodes)}"
            self._pods.append(self.wanting(f"p{number}", node=there))
            self.state.add_pod(self._pods[-1])
        elif what < 8 and self._pods:
            self.state.remove_pod(self._pods.pop(chance.randrange(len(self._pods))).key)
        elif what == 8:
            self.state.remove_node(f"n{chance.randrange(self._nodes)}")
        elif what == 9 and number % 5 == 0 and not self._nominated:
            self._nominated.append(pod(f"q{number}", 500))
            self.state.nominate(self._nominated[0], f"n{chance.randrange(self._nodes)}")
        elif what == 10 and self._nominated:
            self.state.unnominate(self._nominated.pop().key)
        else:
            self.state.set_node(self._node(chance.randrange(self._nodes)))

    def wanting(self, name: str, **parts: Any) -> Pod:
        """A pod of one of few shapes; most ask nothing of others."""
        chance = self._chance
        parts["priority"] = chance.choice((0, 0, 0, 5))
        parts["labels"] = {"app": chance.choice(("web", "db"))}
        match chance.randrange(14):
            case 0:
                parts["ports"] = (port(80),)
            case 1 if not parts.get("node") or chance.randrange(9) == 0:
                parts["pod_anti_affinity"] = near(app="db")
            case 2 | 3:
                parts["node_selector"] = (("disk", "fast"),)
            case 4:
                parts["tolerations"] = (Toleration("t", "Exists"),)
            case 5 | 6:
                parts["owners"] = OWNER
            case 7:
                parts["spread"] = (spread(HOSTNAME, hard=False),)
            case 8:
                parts["spread"] = (spread(HOSTNAME, max_skew=2),)
            case _:
                pass
        found = pod(name, *chance.choice(((0, 0), (500, GI), (1500, 0), (3900, GI))), **parts)
        shared = self._placements.setdefault(found.placement, found.placement)
        return replace(found, placement=shared)

    def _node(self, index: int) -> Node:
        chance = self._chance
        return node(
            f"n{index}",
            chance.choice((2000, 4000)),
            zone=chance.choice(("", "z1", "z2")),
            labels={"disk": chance.choice(("fast", "slow"))},
            taints=chance.choice(((),) * 12 + ((HARD,),)) if chance.randrange(60) else (SOFT,),
            unschedulable=chance.randrange(9) == 0,
        )


def test_the_same_node_is_picked_as_by_a_search() -> None:
    assert sum(map(picked_alike, range(12))) > 100


def picked_alike(seed: int) -> int:
    """Compare the two while a cluster changes; how often the shape was enough."""
    chance = Random(seed)
    world = Changing(chance, chance.choice((3, 12, 130)))
    shapes, start = KnownShapes(world.state), 0
    known = 0
    for number in range(150):
        world.change(number)
        new = world.wanting(f"new-{number}")
        expected = choose(new, world.state, start, lambda names: names[-1])
        found = shapes.pick(new, start, lambda names: names[-1])
        assert type(found) is type(expected)
        assert found.next_start == expected.next_start
        if isinstance(found, ChosenNode) and isinstance(expected, ChosenNode):
            assert (found.node, found.maxima) == (expected.node, expected.maxima)
            known += found.scores is None and expected.scores is not None
        start = found.next_start
    return known


def test_a_refusal_is_known_again_only_while_it_is_true() -> None:
    assert sum(map(refused_alike, range(8))) > 50


def refused_alike(seed: int) -> int:
    """Compare refusals while a cluster changes; how often one was known."""
    chance = Random(seed)
    world = Changing(chance, 4)
    shapes, start = KnownShapes(world.state), 0
    known = 0
    for number in range(300):
        if chance.randrange(3) == 0:
            world.change(number)
        new = world.wanting(f"new-{number}")
        answer = choose(new, world.state, start)
        told = shapes.refused(new, start)
        if isinstance(answer, ChosenNode):
            assert told is None
        else:
            why = refusal(new, world.state, answer)
            if told is not None:
                assert told == (why, answer.next_start)
                known += 1
            shapes.remember(new, why)
        start = answer.next_start
    return known


def refusal(new: Pod, state: ClusterState, answer: Unschedulable) -> KnownRefusal:
    outcome = preempt(new, state, (), answer.feasibility)
    return KnownRefusal(frozenset(answer.reasons), explanation(answer.feasibility, outcome))


def test_a_refusal_is_not_kept_where_a_pod_could_be_preempted() -> None:
    state = cluster(node("a", 1000), pod("low", 1000, node="a", priority=-1))
    shapes, new = KnownShapes(state), pod("new", 500)
    shapes.remember(new, KnownRefusal(frozenset(), "no room"))
    assert shapes.refused(new, 0) is None


def test_pods_that_look_at_their_neighbours_have_no_shape() -> None:
    state = cluster(node("a"))
    shapes = KnownShapes(state)
    assert shapes.of(pod("plain", 100)) is not None
    assert shapes.of(pod("near", 100, pod_affinity=near(app="db"))) is None
    assert shapes.of(pod("port", 100, ports=(port(80),))) is None
    assert shapes.of(pod("volume", 100, claims=("data",))) is None
    state.add_pod(pod("lonely", node="a", pod_anti_affinity=near(app="web")))
    assert shapes.of(pod("plain", 100)) is not None
    assert shapes.of(pod("web", 100, labels={"app": "web"})) is None
