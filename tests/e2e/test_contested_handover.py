"""Three hundred handovers through each door while five rivals wait for the very same room.

Real kubelets admit and refuse here. On each node, round after round: a hold, five rivals of the
owner's priority that kube-scheduler has refused already, the owner. Rivals are deleted before the
owner is, so whatever they get they can only have got by a hole in the handover. The answer to their
deletion shows whether they had a node.

A second set of nodes is full by number of pods: four owners at a time, and rivals that lack nothing
but a place. `HANDOVERS=300` asks for so many through each door there; fewer are the rule.
`NODES=4 ROUNDS=10` is enough to see that another version of Kubernetes works alike.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headroom.wire.kinds import HOLDS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import Lookout
from tests.e2e.processes import OperatorProcess
from tests.stories.things import NAMESPACE, hold, pod

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]  # 600 handovers take their time
NODES = int(os.environ.get("NODES", "10"))
ROUNDS = int(os.environ.get("ROUNDS", "60"))  # On each node, through either door in turn.
RIVALS = 5
SIZE = "800m"
PLACES = 4  # as many as the kubelet takes, and as many owners at a time
CROWDED = 5  # nodes that are full by number of pods
SMALL = "100m"
TINY = "10m"
HANDOVERS = int(os.environ.get("HANDOVERS", "40"))
DOORS = ("gated", "ours")
NOW = {"gracePeriodSeconds": 0}


@dataclass
class Arena:
    """A control plane with real kubelets, and somebody who looks."""

    plane: ControlPlane
    lookout: Lookout
    nodes: list[str]
    tally: Counter[str] = field(default_factory=Counter)
    tales: list[str] = field(default_factory=list)

    def create_pods(self, *bodies: Json) -> None:
        """Create pods, all together."""
        api = self.plane.api
        api.for_each(lambda body: api.create(PODS.path(NAMESPACE), body), list(bodies))

    def delete_pod(self, name: str) -> Json:
        """Delete a pod and return its last state."""
        return self.plane.api.delete(PODS.path(NAMESPACE, name), NOW)

    def note(self, what: str, tale: str) -> None:
        self.tally[what] += 1
        self.tales.append(f"{what}: {tale}")


@pytest.fixture(scope="module")
def arena(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    work = tmp_path_factory.mktemp("contested")
    with ControlPlane.start(work / "plane", hollow_nodes=NODES) as plane:
        install(plane, our_objects())
        with OperatorProcess(plane.kubeconfig, work / "operator.log"):
            lookout = Lookout(plane.api)
            yield Arena(plane, lookout, [f"hollow-{number}" for number in range(NODES)])
            lookout.close()


@dataclass(frozen=True)
class Contest:
    """One handover on a node: how many owners of which size come together, and who else waits."""

    node: str
    name: str
    door: str
    owners: int = 1
    size: str = SIZE
    rivals_ask: str = SIZE


@pytest.mark.every_version
def test_contested_handovers_lose_nobody_and_let_nobody_in(arena: Arena) -> None:
    games = {
        node: [Contest(node, f"{node}-{number}", DOORS[number % 2]) for number in range(ROUNDS)]
        for node in arena.nodes
    }
    play(arena, games, NODES * ROUNDS // 2)


def test_contested_places_for_pods_lose_nobody_and_let_nobody_in(arena: Arena) -> None:
    nodes = arena.plane.add_hollow_nodes(CROWDED, max_pods=PLACES)
    arena.plane.wait_nodes_ready(CROWDED, nodes)
    rounds = -(-HANDOVERS // (PLACES * CROWDED))
    games = {
        node: [
            Contest(node, f"{node}-{number}", DOORS[number % 2], PLACES, SMALL, TINY)
            for number in range(2 * rounds)
        ]
        for node in nodes
    }
    play(arena, games, PLACES * CROWDED * rounds)


def play(arena: Arena, games: dict[str, list[Contest]], through_each: int) -> None:
    """Hand room over, again and again, on all nodes at once; nobody is lost, nobody let in."""
    arena.tally.clear()
    with ThreadPoolExecutor(len(games)) as pool:
        list(pool.map(lambda rounds: play_on_one_node(arena, rounds), games.values()))
    arena.lookout.until(
        "nothing is left", lambda now: not (now.ours("latch") + now.ours("guardian") + now.gated())
    )
    print(f"\ncontested handovers: {dict(sorted(arena.tally.items()))}")
    wanted = {f"owners through {door}": through_each for door in DOORS}
    assert dict(arena.tally) == wanted, "\n".join(arena.tales)


def play_on_one_node(arena: Arena, rounds: list[Contest]) -> None:
    for each in rounds:
        contest(arena, each)
    arena.plane.api.close()


def contest(arena: Arena, game: Contest) -> None:
    """One handover with rivals at the door."""
    node, name, door = game.node, game.name, game.door
    there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
    rivals = [f"{name}-rival-{number}" for number in range(RIVALS)]
    owners = [f"{name}-owner-{number}" for number in range(game.owners)]
    holds = [f"{name}-{number}" for number in range(game.owners)]
    for each in holds:
        body = hold(each, game.size, app=name, template=there)
        arena.plane.api.create(HOLDS.path(NAMESPACE), body)
    arena.lookout.until(
        f"holds {name} available",
        lambda now: all(now.hold_phase(each) == "Available" for each in holds),
    )
    arena.create_pods(*(pod(rival, game.rivals_ask, **there) for rival in rivals))
    arena.lookout.until("rivals refused", lambda now: all(now.refused(rival) for rival in rivals))
    arena.create_pods(
        *(pod(owner, game.size, app=name, **there, **{door: True}) for owner in owners)
    )
    seen = arena.lookout.until(
        f"owners {name} run or have failed",
        lambda now: all(now.phase(owner) in ("Running", "Failed") for owner in owners),
    )
    for rival in rivals:
        last = arena.delete_pod(rival)
        if last["spec"].get("nodeName"):
            arena.note("rivals let in", f"{rival} through {door}")
    claimed = {f"Hold/{NAMESPACE}/{each}" for each in holds}
    for owner in owners:
        last = arena.delete_pod(owner)
        claim = last["metadata"].get("annotations", {}).get("headroom.dev/claimed")
        if last["status"]["phase"] == "Running" and claim in claimed:
            claimed.remove(claim)
            arena.tally[f"owners through {door}"] += 1
        else:
            arena.note("owners lost", f"{owner} through {door}: {seen.pods[owner]}")
    for each in holds:
        arena.plane.api.delete(HOLDS.path(NAMESPACE, each))
    arena.lookout.until(
        "the node is empty", lambda now: not any(now.node(each) == node for each in now.pods)
    )
