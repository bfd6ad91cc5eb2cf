"""The operator stopped for good: nobody's pods wait for it, and those it left gated are not lost.

Pods here name no gate: the admission policy puts it on, as long as the operator keeps saying that
it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from headroom.wire.kinds import CLAIM_INDEXES, HOLDS, NAMESPACES, PODS
from testbed.api import Json
from testbed.controlplane import ControlPlane
from tests.e2e.installing import install, our_objects, until
from tests.e2e.lookout import Lookout, Sight
from tests.e2e.processes import OperatorProcess
from tests.stories.things import GATE, hold, pod
from tests.versions import needs

pytestmark = [pytest.mark.e2e, needs("mutating-policy")]
SHOP = "shop"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SHOP}/deployments"
LONGEST_WAIT = timedelta(seconds=30)


@dataclass
class Shop:
    """A namespace that has opted in, its holds, and the operator that may die."""

    plane: ControlPlane
    operator: OperatorProcess
    lookout: Lookout

    def create(self, name: str) -> list[str]:
        """Create a pod that an owner rule matches, and return the gates that it was born with."""
        made = self.plane.api.create(PODS.path(SHOP), web(name))
        return gates_of(made)

    def would_be_gated(self) -> bool:
        made = self.plane.api.create(f"{PODS.path(SHOP)}?dryRun=All", web("nobody"))
        return gates_of(made) == [GATE]

    def scale(self, replicas: int) -> None:
        self.plane.api.patch(f"{DEPLOYMENTS}/web", {"spec": {"replicas": replicas}})

    def fresh_until(self) -> datetime:
        index = self.plane.api.items(CLAIM_INDEXES.path(SHOP))[0]
        return datetime.fromisoformat(index["spec"]["freshUntil"])


def web(name: str) -> Json:
    return pod(name, cpu=1, app="web", namespace=SHOP)


def gates_of(made: Json) -> list[str]:
    return [gate["name"] for gate in made["spec"].get("schedulingGates", ())]


def deployment() -> Json:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": web("any")["spec"]}
    template["spec"]["terminationGracePeriodSeconds"] = 0
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": 1, "selector": selector, "template": template}
    return {"metadata": {"name": "web", "namespace": SHOP}, "spec": spec}


def of_deployment(now: Sight) -> list[str]:
    return sorted(name for name in now.pods if name.startswith("web-"))


def claims(now: Sight, names: list[str]) -> list[str]:
    """The holds that these pods have got."""
    found = (now.pods[name]["metadata"].get("annotations", {}) for name in names)
    return sorted(each.get("headroom.dev/claimed", "") for each in found)


@pytest.fixture(scope="module")
def shop(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    work = tmp_path_factory.mktemp("switch")
    with ControlPlane.start(work / "plane", kwok=True) as plane:
        labels = {"headroom.dev/claims": "enabled"}
        install(plane, our_objects())
        plane.api.create(NAMESPACES.path(), {"metadata": {"name": SHOP, "labels": labels}})
        plane.add_fake_nodes(3, cpu="4")
        plane.wait_nodes_ready(3)
        with OperatorProcess(plane.kubeconfig, work / "operator.log") as operator:
            lookout = Lookout(plane.api)
            yield Shop(plane, operator, lookout)
            lookout.close()


def test_the_gate_goes_with_the_operator_and_comes_back_with_it(shop: Shop) -> None:
    holds = [f"h-{number}" for number in range(3)]
    for name in holds:
        shop.plane.api.create(HOLDS.path(SHOP), hold(name, cpu=1, namespace=SHOP))
    shop.lookout.until(
        "all are held", lambda now: all(now.hold_phase(name) == "Available" for name in holds)
    )
    until("the policy is in force", shop.would_be_gated)

    claim_while_it_lives(shop)
    left = die(shop)
    start_without_it(shop)

    shop.operator.start()
    seen = shop.lookout.until(
        "those that were left gated run",
        lambda now: all(now.phase(each) == "Running" for each in left),
    )
    assert claims(seen, left) == ["", f"Hold/{SHOP}/h-2"]  # One is served, one is let go.
    shop.lookout.until("nothing is left", lambda now: not now.gated() + now.ours("latch"))
    shop.plane.api.create(HOLDS.path(SHOP), hold("h-3", cpu=1, namespace=SHOP))
    until("pods are gated again", shop.would_be_gated)


def claim_while_it_lives(shop: Shop) -> None:
    """A bare pod and a pod of a Deployment, neither of which says a word about us."""
    assert shop.create("bare") == [GATE]
    shop.lookout.until("the bare pod runs", lambda now: now.phase("bare") == "Running")
    shop.plane.api.create(DEPLOYMENTS, deployment())
    seen = shop.lookout.until(
        "the Deployment's pod runs",
        lambda now: [now.phase(name) for name in of_deployment(now)] == ["Running"],
    )
    served = ["bare", *of_deployment(seen)]
    assert claims(seen, served) == [f"Hold/{SHOP}/h-0", f"Hold/{SHOP}/h-1"]


def die(shop: Shop) -> list[str]:
    """Kill the operator; return pods that were gated when nobody was there any more."""
    shop.operator.kill()
    died_at = datetime.now(UTC)
    left = ["left-0", "left-1"]
    assert [shop.create(name) for name in left] == [[GATE], [GATE]]
    assert shop.fresh_until() < died_at + LONGEST_WAIT
    return left


def start_without_it(shop: Shop) -> None:
    """Once the index is stale, pods are created and start as if we had never been there."""
    until("the index is stale", lambda: not shop.would_be_gated(), seconds=60)
    assert shop.create("alone") == []
    shop.scale(2)
    seen = shop.lookout.until(
        "they run",
        lambda now: (
            now.phase("alone") == "Running"
            and [now.phase(name) for name in of_deployment(now)] == ["Running"] * 2
        ),
    )
    assert claims(seen, ["alone"]) == [""]
    assert seen.gated() == ["left-0", "left-1"]


def test_an_operator_that_is_asked_to_stop_leaves_no_pod_behind_its_gate(shop: Shop) -> None:
    """Pods are created without a pause around the stop: each is served, released or not gated."""
    if not shop.operator.alive:
        shop.operator.start()
    shop.plane.api.create(HOLDS.path(SHOP), hold("h-4", cpu=1, namespace=SHOP))
    until("pods are gated", shop.would_be_gated)
    stop = Thread(target=shop.operator.stop)
    names = [f"late-{number}" for number in range(60)]
    gates = []
    for number, name in enumerate(names):
        if number == 10:
            stop.start()
        gates.append(shop.create(name))
    stop.join()
    names += ["after-0", "after-1"]
    assert [shop.create(name) for name in names[-2:]] == [[], []]
    seen = shop.lookout.until("all are there", lambda now: set(names) <= set(now.pods))
    assert gates[0] == [GATE]
    assert seen.gated() == []
