"""Three hundred handovers through each door while five rivals wait for the very same room.

Real kubelets admit and refuse here. On each node, round after round: a hold, five rivals of the
owner's priority that kube-scheduler has refused already, the owner. Rivals are deleted before the
owner is, so whatever they get they can only have got by a hole in the handover. The answer to their
deletion shows whether they had a node.

A second set of nodes is full by number of pods: four owners at a time, and rivals that lack nothing
but a place, for Holds, for slots of a Headroom and for Reservations. `HANDOVERS=300` asks for so
many through each door there, of each kind; fewer are the rule.
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

from headroom.dialects.koordinator import KOORDINATOR
from headroom.wire.kinds import HEADROOMS, HOLDS, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import Lookout, Sight
from tests.e2e.processes import OperatorProcess
from tests.stories.reservations import KOORD, reservation
from tests.stories.things import NAMESPACE, headroom, hold, pod

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
RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
CLAIM = ("headroom.dev/claimed", "headroom.dev/claimed-slot")


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
        install(plane, [*our_objects(), *KOORDINATOR.definitions(), *KOORDINATOR.objects])
        with OperatorProcess(plane.kubeconfig, work / "operator.log", "--dialect", "koordinator"):
            lookout = Lookout(plane.api)
            yield Arena(plane, lookout, [f"hollow-{number}" for number in range(NODES)])
            lookout.close()


@dataclass(frozen=True)
class Contest:
    """One handover on a node: how many owners of which size come together, and who else waits.

    `kind` says what keeps their room.
    """

    node: str
    name: str
    door: str
    owners: int = 1
    size: str = SIZE
    rivals_ask: str = SIZE
    kind: str = "Hold"

    @property
    def there(self) -> Json:
        return {"nodeSelector": {"kubernetes.io/hostname": self.node}}

    @property
    def rooms(self) -> list[tuple[str, Json]]:
        """The objects that keep room for the owners, each with the path of its kind."""
        names = [f"{self.name}-{number}" for number in range(self.owners)]
        if self.kind == "Headroom":
            size = {"replicas": self.owners}
            one = headroom(names[0], self.size, self.name, size=size, template=self.there)
            return [(HEADROOMS.path(NAMESPACE), one)]
        make = reservation if self.kind == "Reservation" else hold
        path = RESERVATIONS if self.kind == "Reservation" else HOLDS.path(NAMESPACE)
        return [(path, make(name, self.size, self.name, template=self.there)) for name in names]

    def owner(self, name: str) -> Json:
        at: Json = {"gated": True} if self.door == "gated" else {"ours": True}
        if self.door == "ours" and self.kind == "Reservation":
            at = {"schedulerName": KOORD}
        return pod(name, self.size, app=self.name, **self.there, **at)

    def is_kept(self, now: Sight) -> bool:
        """Whether all room is held, and every guardian runs."""
        here = [name for name in now.ours("guardian") if now.node(name) == self.node]
        return len(here) == self.owners and all(now.phase(name) == "Running" for name in here)


@pytest.mark.every_version
def test_contested_handovers_lose_nobody_and_let_nobody_in(arena: Arena) -> None:
    games = {
        node: [Contest(node, f"{node}-{number}", DOORS[number % 2]) for number in range(ROUNDS)]
        for node in arena.nodes
    }
    play(arena, games, NODES * ROUNDS // 2)


@pytest.fixture(scope="module")
def crowded(arena: Arena) -> list[str]:
    """Nodes whose kubelets take few pods."""
    nodes = arena.plane.add_hollow_nodes(CROWDED, max_pods=PLACES)
    arena.plane.wait_nodes_ready(CROWDED, nodes)
    return list(nodes)


@pytest.mark.parametrize("kind", ["Hold", "Headroom", "Reservation"])
def test_contested_places_for_pods_lose_nobody_and_let_nobody_in(
    arena: Arena, crowded: list[str], kind: str
) -> None:
    rounds = -(-HANDOVERS // (PLACES * CROWDED))
    games = {
        node: [
            Contest(node, f"{node}-{number}", DOORS[number % 2], PLACES, SMALL, TINY, kind)
            for number in range(2 * rounds)
        ]
        for node in crowded
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
    name, door, api = game.name, game.door, arena.plane.api
    rivals = [f"{name}-rival-{number}" for number in range(RIVALS)]
    owners = [f"{name}-owner-{number}" for number in range(game.owners)]
    for path, body in game.rooms:
        api.create(path, body)
    arena.lookout.until(f"all room of {name} is held", game.is_kept)
    arena.create_pods(*(pod(rival, game.rivals_ask, **game.there) for rival in rivals))
    arena.lookout.until("rivals refused", lambda now: all(now.refused(rival) for rival in rivals))
    arena.create_pods(*map(game.owner, owners))
    seen = arena.lookout.until(
        f"owners {name} run or have failed",
        lambda now: all(now.phase(owner) in ("Running", "Failed") for owner in owners),
    )
    for rival in rivals:
        last = arena.delete_pod(rival)
        if last["spec"].get("nodeName"):
            arena.note("rivals let in", f"{rival} through {door}")
    given: set[tuple[str, ...]] = set()
    for owner in owners:
        last = arena.delete_pod(owner)
        notes = last["metadata"].get("annotations", {})
        claim = tuple(notes.get(each, "") for each in CLAIM)
        ours = claim[0].startswith(f"{game.kind}/") and claim not in given
        given.add(claim)
        if last["status"]["phase"] == "Running" and ours:
            arena.tally[f"owners through {door}"] += 1
        else:
            arena.note("owners lost", f"{owner} through {door}: {seen.pods[owner]}")
    for path, body in game.rooms:
        api.delete(f"{path}/{body['metadata']['name']}")
    arena.lookout.until(
        "the node is empty", lambda now: not any(now.node(each) == game.node for each in now.pods)
    )
