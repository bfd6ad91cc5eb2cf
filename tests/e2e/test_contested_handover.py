"""Three hundred handovers through each door while five rivals wait for the very same room.

Real kubelets admit and refuse here. On each node, round after round: a hold, five rivals of the
owner's priority that kube-scheduler has refused already, the owner. Rivals are deleted before the
owner is, so whatever they get they can only have got by a hole in the handover. The answer to their
deletion shows whether they had a node.
"""

from __future__ import annotations

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

pytestmark = pytest.mark.e2e
NODES = 10
ROUNDS = 60  # On each node, through either door in turn.
RIVALS = 5
SIZE = "800m"
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

    def create_pod(self, body: Json) -> None:
        self.plane.api.create(PODS.path(NAMESPACE), body)

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


def test_contested_handovers_lose_nobody_and_let_nobody_in(arena: Arena) -> None:
    with ThreadPoolExecutor(NODES) as pool:
        list(pool.map(lambda node: play(arena, node), arena.nodes))
    arena.lookout.until(
        "nothing is left", lambda now: not (now.ours("latch") + now.ours("guardian") + now.gated())
    )
    print(f"\ncontested handovers: {dict(sorted(arena.tally.items()))}")
    wanted = {f"owners through {door}": NODES * ROUNDS // 2 for door in DOORS}
    assert dict(arena.tally) == wanted, "\n".join(arena.tales)


def play(arena: Arena, node: str) -> None:
    """Hand the room of one node over, again and again."""
    for number in range(ROUNDS):
        contest(arena, node, f"{node}-{number}", DOORS[number % 2])
    arena.plane.api.close()


def contest(arena: Arena, node: str, name: str, door: str) -> None:
    """One handover with rivals at the door."""
    there: Json = {"nodeSelector": {"kubernetes.io/hostname": node}}
    rivals = [f"{name}-rival-{number}" for number in range(RIVALS)]
    owner = f"{name}-owner"
    arena.plane.api.create(HOLDS.path(NAMESPACE), hold(name, SIZE, app=name, template=there))
    arena.lookout.until(f"hold {name} available", lambda now: now.hold_phase(name) == "Available")
    for rival in rivals:
        arena.create_pod(pod(rival, SIZE, **there))
    arena.lookout.until("rivals refused", lambda now: all(now.refused(rival) for rival in rivals))
    arena.create_pod(pod(owner, SIZE, app=name, **there, **{door: True}))
    seen = arena.lookout.until(
        f"{owner} runs or has failed", lambda now: now.phase(owner) in ("Running", "Failed")
    )
    for rival in rivals:
        last = arena.delete_pod(rival)
        if last["spec"].get("nodeName"):
            arena.note("rivals let in", f"{rival} through {door}")
    last = arena.delete_pod(owner)
    claim = last["metadata"].get("annotations", {}).get("headroom.dev/claimed")
    if last["status"]["phase"] == "Running" and claim == f"Hold/{NAMESPACE}/{name}":
        arena.tally[f"owners through {door}"] += 1
    else:
        arena.note("owners lost", f"{owner} through {door}: {seen.pods[owner]}")
    arena.plane.api.delete(HOLDS.path(NAMESPACE, name))
    arena.lookout.until(
        "the node is empty", lambda now: not any(now.node(each) == node for each in now.pods)
    )
