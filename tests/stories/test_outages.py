"""kube-scheduler, the API server and its store fail in mid-handover, at moments drawn by a seed.

Round after round, owners come through both doors onto holds that fill their nodes, one after the
other, and something breaks while they do. In the end each owner runs in its hold or the hold is
back, nothing of ours is left over, and the operator, a process of its own, has survived it all: or
the outage was so long that it lost the lead, ended as it promises, and was started again.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headroom.wire.kinds import HOLDS, PODS
from testbed.api import ApiFailure, Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects
from tests.e2e.lookout import NO_ANSWER, Lookout, Sight
from tests.e2e.processes import OperatorProcess
from tests.stories.things import NAMESPACE, hold, pod

pytestmark = pytest.mark.e2e
OWNERS = 8
SPREAD_S = 0.6  # Owners come, and things break, within this time.
FROZEN_S = 3.0
NOW = {"gracePeriodSeconds": 0}
CONFLICT = 409
Outage = Callable[[ControlPlane], None]


@dataclass
class House:
    """A control plane to break, an operator that must not, and somebody who looks."""

    plane: ControlPlane
    operator: OperatorProcess
    lookout: Lookout

    def create(self, path: str, body: Json) -> None:
        """Create an object, however long the API server is away."""
        while True:
            try:
                self.plane.api.create(path, body)
                return
            except ApiFailure as failure:
                if failure.status == CONFLICT:
                    return  # The answer to an earlier try was lost.
            except NO_ANSWER:
                pass
            time.sleep(0.05)  # It comes back at its own pace.

    def until(self, what: str, true: Callable[[Sight], bool], seconds: float = 90) -> Sight:
        """Wait, and do meanwhile for the operator what its Deployment would."""

        def looked(now: Sight) -> bool:
            self.operator.start_if_it_lost_the_lead()
            assert self.operator.alive
            return true(now)

        return self.lookout.until(what, looked, seconds)


@pytest.fixture(scope="module")
def house(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    work = tmp_path_factory.mktemp("outages")
    with ControlPlane.start(work / "plane", kwok=True) as plane:
        install(plane, our_objects())
        plane.add_fake_nodes(OWNERS, cpu="2")
        plane.wait_nodes_ready(OWNERS)
        with OperatorProcess(plane.kubeconfig, work / "operator.log") as operator:
            lookout = Lookout(plane.api)
            yield House(plane, operator, lookout)
            lookout.close()


def crash(component: str) -> Outage:
    def happens(plane: ControlPlane) -> None:
        plane.kill(component)
        plane.start_component(component)

    return happens


def freeze(component: str) -> Outage:
    def happens(plane: ControlPlane) -> None:
        plane.pause(component)
        time.sleep(FROZEN_S)  # The length of the outage.
        plane.resume(component)

    return happens


ROUNDS = [
    *((crash("kube-scheduler"), seed) for seed in range(8)),
    *((crash("kube-apiserver"), seed) for seed in range(4)),
    *((freeze("kube-apiserver"), seed) for seed in range(2)),
    *((freeze("etcd"), seed) for seed in range(2)),
]
NAMES = [f"scheduler-crash-{number}" for number in range(8)]
NAMES += [f"server-crash-{number}" for number in range(4)]
NAMES += ["server-freeze-0", "server-freeze-1", "etcd-freeze-0", "etcd-freeze-1"]


@pytest.mark.parametrize(("outage", "seed"), ROUNDS, ids=NAMES)
def test_every_owner_runs_or_its_hold_is_back(house: House, outage: Outage, seed: int) -> None:
    moments = random.Random(seed)
    numbers = range(OWNERS)
    for number in numbers:
        house.create(HOLDS.path(NAMESPACE), hold(f"h-{number}", cpu=2, app=f"app-{number}"))
    house.until(
        "all are held",
        lambda now: all(now.hold_phase(f"h-{number}") == "Available" for number in numbers),
    )
    arrivals = sorted((moments.uniform(0, SPREAD_S), number) for number in numbers)
    stream = threading.Thread(target=come, args=(house, arrivals))
    breaks_at = moments.uniform(0, SPREAD_S)
    stream.start()
    time.sleep(breaks_at)  # The moment that the seed drew.
    outage(house.plane)
    stream.join()
    seen = house.until("every owner runs or its hold is back", settled)
    served = sum(seen.phase(f"owner-{number}") == "Running" for number in numbers)
    print(f"\nbroken at {breaks_at:.2f} s: {served} of {OWNERS} owners served")
    clear(house)


def come(house: House, arrivals: list[tuple[float, int]]) -> None:
    """Let the owners appear at their moments, through either door in turn."""
    began = time.monotonic()
    for moment, number in arrivals:
        time.sleep(max(0.0, began + moment - time.monotonic()))  # Its moment.
        door = "gated" if number % 2 else "ours"
        owner = pod(f"owner-{number}", cpu=2, app=f"app-{number}", **{door: True})
        house.create(PODS.path(NAMESPACE), owner)
    house.plane.api.close()


def settled(now: Sight) -> bool:
    """Everybody runs in its hold or the hold is back; nothing of ours stands around."""
    for number in range(OWNERS):
        owner, phase = f"owner-{number}", now.hold_phase(f"h-{number}")
        claim = now.pods.get(owner, {}).get("metadata", {}).get("annotations", {})
        runs = now.phase(owner) == "Running" and phase == "Succeeded"
        back = not now.node(owner) and phase == "Available"
        if not (runs and "headroom.dev/claimed" in claim) and not back:
            return False
    held = sum(now.hold_phase(f"h-{number}") == "Available" for number in range(OWNERS))
    return not now.ours("latch") and not now.gated() and len(now.ours("guardian")) == held


def clear(house: House) -> None:
    house.plane.api.delete(HOLDS.path(NAMESPACE))
    house.plane.api.delete(PODS.path(NAMESPACE), NOW)
    house.until("all is gone", lambda now: not now.pods and not now.holds)
