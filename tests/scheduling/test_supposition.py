"""A copy of a state: it answers as a state in which all that is true, and changes no other."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from headroom.core.objects import Key, Pod, PodAffinity
from headroom.scheduling.choose import ChosenNode, choose
from headroom.scheduling.filters import feasible, feasible_on
from headroom.scheduling.state import ClusterState
from headroom.scheduling.supposition import supposed
from tests.scheduling.build import NOON, cluster, near, node, pod, spread

ZONES = "xyz"


def shapes() -> list[Pod]:
    """Pods that mind what else is there, each in its own way."""
    web = {"app": "web"}
    return [
        pod("plain", 300),
        pod("spread", 300, labels=web, spread=(spread("zone"),)),
        pod("alone", 300, labels=web, pod_anti_affinity=near("zone", app="web")),
        pod("together", 300, labels=web, pod_affinity=near("zone", app="web")),
        pod("unknown", 300, extra={"example.com/gpu": 1}),
    ]


def answers(state: ClusterState) -> list[object]:
    found: list[object] = []
    for one in shapes():
        chosen = choose(one, state)
        found.append(feasible(one, state).reasons())
        found.append(chosen.maxima if isinstance(chosen, ChosenNode) else chosen.message)
        found.extend(feasible_on(one, f"n{each}", state) for each in range(6))
    return found


def crowd(random: Random) -> list[Pod]:
    kinds = [{"app": "web"}, {"app": "db"}, {}]
    return [
        pod(
            f"p{each}",
            random.choice((100, 200, 400)),
            node=f"n{random.randrange(6)}",
            labels=random.choice(kinds),
            priority=random.choice((0, 10)),
            deleted=random.choice((None, None, NOON)),
            pod_anti_affinity=near("zone", app="db") if random.random() < 0.1 else PodAffinity(),
        )
        for each in range(20)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_copy_answers_as_a_state_that_is_so_and_leaves_the_other_alone(seed: int) -> None:
    random = Random(seed)
    nodes = [node(f"n{each}", 1000, labels={"zone": ZONES[each % 3]}) for each in range(6)]
    pods = crowd(random)
    state = cluster(*nodes, *pods)
    if seed % 2:
        answers(state)  # What it remembers of earlier questions is copied, too.
    before = answers(cluster(*nodes, *pods))
    trial = supposed(state)
    gone = random.sample(pods, 5)
    come = [replace(each, key=Key("default", f"new-{each.key.name}")) for each in crowd(random)[:5]]
    for one in gone:
        trial.remove_pod(one.key)
    asked_between = answers(trial) if seed % 3 else None
    for one in come:
        trial.add_pod(one)
    expected = cluster(*nodes, *(each for each in pods if each not in gone), *come)
    assert answers(trial) == answers(expected)
    assert asked_between is None or len(asked_between) == len(before)
    assert answers(state) == before


def test_the_row_of_a_lost_node_is_given_back_in_the_copy_only() -> None:
    last = pod("last", 100, node="a")
    state = cluster(node("a", 1000), last)
    state.remove_node("a")
    supposed(state).remove_pod(last.key)
    state.set_node(node("a", 1000))
    assert state.pods_on("a") == (last,)
