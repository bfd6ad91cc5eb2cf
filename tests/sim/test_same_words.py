"""The embedded API server beside the real one: the same requests, the same outcomes and words.

Two differences are meant: a container without an image is taken (with a note), and a version that
is no number is stale rather than an error of the server.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headroom.core.actions import Outcome
from headroom.kube.client import Client
from headroom.kube.kubeconfig import find_access
from headroom.kube.outcomes import outcome_of
from headroom.sim.requests import carry_out
from headroom.sim.world import SimWorld
from headroom.wire.kinds import HOLDS, PODS, Resource
from headroom.wire.writes import JSON_PATCH, MERGE_PATCH, Write
from testbed.controlplane import ControlPlane
from tests.contract.conftest import bare_plane
from tests.sim.things import budget, deployment, hold, pod

NAMESPACE = "same-words"
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
GATED: dict[str, Any] = {"schedulingGates": [{"name": "x/a"}, {"name": "x/b"}]}
TWINS = [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]
GREEDY = [
    {
        "name": "c",
        "image": "i",
        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    }
]


@dataclass(frozen=True, slots=True)
class Case:
    """Requests that only set the scene, then the one that counts; `words`: these must agree too."""

    name: str
    last: Write
    scene: tuple[Write, ...] = ()
    words: bool = True


def make(thing: dict[str, Any], resource: Resource = PODS, namespace: str = NAMESPACE) -> Write:
    metadata = {**thing["metadata"], "namespace": namespace}
    return Write("create", resource, namespace, "", {**thing, "metadata": metadata})


def change(name: str, body: Any, subresource: str = "") -> Write:
    kind = MERGE_PATCH if isinstance(body, dict) else JSON_PATCH
    return Write("patch", PODS, NAMESPACE, name, body, subresource, kind)


def bind(name: str, node: str = "a", **metadata: str) -> Write:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": NAMESPACE, **metadata},
        "target": {"kind": "Node", "name": node},
    }
    return Write("create", PODS, NAMESPACE, name, body, "binding")


def delete(name: str, **options: Any) -> Write:
    body = {"apiVersion": "v1", "kind": "DeleteOptions", **options}
    return Write("delete", PODS, NAMESPACE, name, body)


def new_pods() -> Iterator[Case]:
    yield Case("taken", make(pod("a1")), (make(pod("a1")),))
    yield Case("class", make(pod("a2", priorityClassName="nope")))
    yield Case("priority", make(pod("a3", priority=5)))
    yield Case("policy", make(pod("a4", preemptionPolicy="Never")))
    yield Case("no containers", make(pod("a5", containers=[])))
    yield Case("bad name", make(pod("Bad_Name")))
    yield Case("long name", make(pod("x" * 254)))
    yield Case("label key", make(pod("a6", labels={"a b": "c"})))
    yield Case("label value", make(pod("a7", labels={"a": "b c"})))
    yield Case("twins", make(pod("a8", containers=TWINS)))
    yield Case("gated and bound", make(pod("a9", nodeName="a", **GATED)))
    yield Case("beyond its limit", make(pod("a10", containers=GREEDY)))
    yield Case("nameless container", make(pod("a11", containers=[{"image": "i"}])))
    yield Case("no such namespace", make(pod("a12"), namespace="nowhere"))
    yield Case("no quantity", make(pod("a13", cpu="lots")), words=False)
    yield Case("negative", make(pod("a14", cpu="-1")), words=False)


def changes() -> Iterator[Case]:
    selector = {"spec": {"nodeSelector": {"a": "b"}}}
    gate = {"spec": {"schedulingGates": [{"name": "x/c"}]}}
    tolerant = pod("b8", tolerations=[{"key": "k", "operator": "Exists"}])
    image = [{"op": "replace", "path": "/spec/containers/0/image", "value": "z"}]
    test = [{"op": "test", "path": "/metadata/uid", "value": "z"}]
    both = {"spec": {"nodeName": "a"}, "status": {"nominatedNodeName": "a"}}
    old = {"metadata": {"resourceVersion": "1", "labels": {"x": "y"}}}
    older = [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]
    yield Case("new gate", change("b1", gate), (make(pod("b1", **GATED)),))
    yield Case("first gate", change("b2", gate), (make(pod("b2")),))
    yield Case("gated selector", change("b3", selector), (make(pod("b3", **GATED)),))
    yield Case("selector", change("b4", selector), (make(pod("b4")),), words=False)
    yield Case("not there", change("b5", {"spec": {}}))
    yield Case("other uid", change("b6", {"metadata": {"uid": "other"}}), (make(pod("b6")),))
    yield Case("old version", change("b7", old), (make(pod("b7")),))
    yield Case("old version by path", change("b13", older), (make(pod("b13")),))
    yield Case("toleration", change("b8", {"spec": {"tolerations": []}}), (make(tolerant),))
    yield Case("image", change("b9", image), (make(pod("b9")),))
    yield Case("rename", change("b10", {"metadata": {"name": "c"}}), (make(pod("b10")),))
    yield Case("status", change("b11", both, "status"), (make(pod("b11")),))
    yield Case("failed test", change("b12", test), (make(pod("b12")),), words=False)


def bindings_and_ends() -> Iterator[Case]:
    yield Case("bind gated", bind("c1"), (make(pod("c1", **GATED)),))
    yield Case("bind twice", bind("c2", "b"), (make(pod("c2")), bind("c2")))
    yield Case("bind other", bind("c3", uid="other"), (make(pod("c3")),), words=False)
    yield Case("bind nowhere", bind("c4", ""), (make(pod("c4")),), words=False)
    yield Case("bind", bind("c5"), (make(pod("c5")),))
    yield Case("delete other", delete("c6", preconditions={"uid": "other"}), (make(pod("c6")),))
    yield Case("delete", delete("c7"), (make(pod("c7")),))
    yield Case("delete nobody", delete("c8"))


def evict(name: str, **options: Any) -> Write:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "deleteOptions": options,
    }
    return Write("create", PODS, NAMESPACE, name, body, "eviction")


def evictions() -> Iterator[Case]:
    """Nobody counts budgets here: they are as they were made."""
    runs: dict[str, Any] = {"status": {"phase": "Running"}}
    keep = (make(budget("e2", "e2", minAvailable=1), BUDGETS), make(pod("e2", "", {"app": "e2"})))
    twice = (
        make(budget("e3a", "e3", minAvailable=1), BUDGETS),
        make(budget("e3b", "e3", maxUnavailable=1), BUDGETS),
        make(pod("e3", "", {"app": "e3"})),
    )
    away = budget("e6", "e6", minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")
    yield Case("evict", evict("e1"), (make(pod("e1")), bind("e1"), change("e1", runs, "status")))
    yield Case("evict waiting", evict("e2"), keep)
    yield Case("evict kept", evict("e2"), (*keep, change("e2", runs, "status")))
    scene = (*twice, change("e3", runs, "status"))
    yield Case("evict kept twice", evict("e3"), scene, words=False)
    yield Case("evict nobody", evict("e4"))
    other = {"preconditions": {"uid": "other"}}
    yield Case("evict other", evict("e5", **other), (make(pod("e5")),))
    odd = (make(away, BUDGETS), make(pod("e6", "", {"app": "e6"})), change("e6", runs, "status"))
    yield Case("evict unready", evict("e6"), odd)


def other_kinds() -> Iterator[Case]:
    stranger = deployment("d1", 1)
    stranger["spec"]["selector"] = {"matchLabels": {"z": "z"}}
    yield Case("selector of others", make(stranger, DEPLOYMENTS))
    yield Case("no owners", make(hold("d2", owners=[]), HOLDS), words=False)
    yield Case("empty rule", make(hold("d3", owners=[{}]), HOLDS), words=False)
    yield Case("no duration", make(hold("d4", ttl="soon"), HOLDS), words=False)
    yield Case("hold", make(hold("d5"), HOLDS))


CASES = [*new_pods(), *changes(), *bindings_and_ends(), *evictions(), *other_kinds()]


@pytest.fixture(scope="module")
def real(binaries: Path) -> dict[str, Outcome]:
    """What the real API server says to every case."""
    with bare_plane() as plane:
        return answers_of(plane)


def answers_of(plane: ControlPlane) -> dict[str, Outcome]:
    plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    async def ask() -> dict[str, Outcome]:
        client = Client(find_access(str(plane.kubeconfig)))

        async def send(write: Write) -> Outcome:
            body = _encoded(write)
            answer = await client.send(write.method, write.path, body, write.content_type, False)
            return outcome_of(write, answer)

        try:
            found = {}
            for case in CASES:
                for write in case.scene:
                    await send(write)
                found[case.name] = await send(case.last)
            return found
        finally:
            await client.close()

    return asyncio.run(ask())


def _encoded(write: Write) -> bytes:
    return msgspec.json.encode(write.body)


@pytest.mark.e2e
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_say_the_same(case: Case, real: dict[str, Outcome], world: SimWorld) -> None:
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    world.server.create(made)
    for write in case.scene:
        carry_out(world.server, write)
    ours = carry_out(world.server, case.last)
    theirs = real[case.name]
    assert type(ours) is type(theirs)
    if case.words:
        assert _words(ours) == _words(theirs)


def _words(outcome: Outcome) -> str:
    """The message, uids left out."""
    return re.sub(r"\([0-9a-f-]{36}\)", "(uid)", getattr(outcome, "message", ""))
