"""Dialects on a real control plane: installed, with rights that suffice, not beside rivals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headroom.cli.dialects import NAMES, chosen
from headroom.core.actions import WriteIndex
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.kubeconfig import find_access
from headroom.kube.other_controllers import ControllerConflict, check_rivals
from headroom.ports import Synced
from headroom.wire.kind_codecs import KindCodecs
from headroom.wire.manifests import Installation, install_objects
from headroom.wire.policy import policy_objects
from headroom.wire.render import render
from headroom.wire.times import format_micro_time
from testbed.controlplane import ControlPlane
from tests.e2e.gate_cases import gates_of, pod
from tests.e2e.installing import install, remove_asking_policy, until
from tests.e2e.test_cli import headroom
from tests.versions import skip_without
from tests.wire.toydialect import ASKS, TOY

pytestmark = pytest.mark.e2e
HOME = "headroom-system"
SHOP, LABELLED = "asks-shop", "asks-labelled"
GATE = "headroom.dev/claim"
ALL = chosen(NAMES)
SYNC_SECONDS = 60.0

Gates = Callable[..., list[str]]


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The shared control plane with every dialect installed, but no operator."""
    everything = Installation("example.com/headroom:1", replicas=0, codecs=ALL)
    install(control_plane, install_objects(everything))
    yield control_plane
    control_plane.kubectl("delete", "deployment,pdb", "headroom-operator", "-n", HOME)
    remove_asking_policy(control_plane)


@pytest.fixture(scope="module")
def gates(plane: ControlPlane) -> Gates:
    """Ask which gates a new pod would get, with a fresh index in both namespaces."""
    skip_without("mutating-policy")
    for name, labels in ((SHOP, {}), (LABELLED, {"headroom.dev/claims": "enabled"})):
        plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        write_index(plane, name, 600)
    install(plane, policy_objects((ASKS,), HOME))

    def ask(namespace: str, labels: dict[str, str], **annotations: str) -> list[str]:
        path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
        told = {f"theatre.example.com/{key}": value for key, value in annotations.items()}
        return gates_of(plane.api.create(path, pod(labels, annotations=told)))

    until("the policy is in force", lambda: ask(SHOP, {}, seat="a") == [GATE])
    until("the other one too", lambda: ask(LABELLED, {"app": "web"}) == [GATE])
    return ask


def write_index(plane: ControlPlane, namespace: str, seconds: float) -> None:
    until_then = datetime.now(UTC) + timedelta(seconds=seconds)
    keys = (f"asks:{ASKS}", "label:app=web")
    body = render(WriteIndex(namespace, keys, until_then)).body
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=json.dumps(body))


def test_a_pod_that_asks_is_gated_wherever_it_is(gates: Gates) -> None:
    assert gates(SHOP, {}, seat="front") == [GATE]


def test_two_policies_that_mean_the_same_pod_gate_it_once(gates: Gates) -> None:
    assert gates(LABELLED, {"app": "web"}, seat="front") == [GATE]


def test_a_pod_that_does_not_ask_is_left_alone(gates: Gates) -> None:
    assert gates(SHOP, {"app": "web"}) == []
    assert gates(SHOP, {}, other="front") == []


def test_where_there_is_nothing_to_ask_for_nobody_waits(gates: Gates) -> None:
    assert gates("default", {}, seat="front") == []


@pytest.mark.parametrize("namespace", ["kube-system", HOME])
def test_pods_of_the_cluster_and_of_ours_never_wait(
    plane: ControlPlane, gates: Gates, namespace: str
) -> None:
    write_index(plane, namespace, 600)
    labels = {"theatre.example.com/seat": "front"}
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
    restricted = {
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
    assert gates_of(plane.api.create(path, pod({}, restricted, annotations=labels))) == []


def test_an_operator_that_is_gone_stops_no_pod_that_asks(plane: ControlPlane, gates: Gates) -> None:
    write_index(plane, SHOP, 3)
    until("the index is stale", lambda: gates(SHOP, {}, seat="front") == [])
    write_index(plane, SHOP, 600)
    until("the index is fresh again", lambda: gates(SHOP, {}, seat="front") == [GATE])


def run(work: Callable[[Client], Awaitable[None]], kubeconfig: Path) -> None:
    """Do something with a client of its own."""

    async def main() -> None:
        client = Client(find_access(str(kubeconfig)))
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                await work(client)
        finally:
            await client.close()

    asyncio.run(main())


def test_the_operators_own_rights_suffice_to_follow_every_dialect(plane: ControlPlane) -> None:
    async def follow(client: Client) -> None:
        stream = KubeCluster(client, codecs=ALL).watch()
        try:
            while not isinstance(await anext(stream), Synced):
                pass
        finally:
            await stream.aclose()

    run(follow, plane.operator_kubeconfig())


def test_the_operators_own_rights_suffice_to_look_for_rivals(plane: ControlPlane) -> None:
    async def look(client: Client) -> None:
        await check_rivals(client, ALL, datetime.now(UTC))

    run(look, plane.operator_kubeconfig())


def test_a_rival_at_work_is_found_wherever_it_lives(plane: ControlPlane) -> None:
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{SHOP}/leases"
    plane.api.ensure("/api/v1/namespaces", {"metadata": {"name": SHOP}})
    rival = ALL.rivals[0]
    spec = {
        "holderIdentity": "manager-0",
        "leaseDurationSeconds": 600,
        "renewTime": format_micro_time(datetime.now(UTC)),
    }
    plane.api.create(leases, {"metadata": {"name": rival.lease}, "spec": spec})
    name = next(dialect.name for dialect in ALL.dialects if rival in dialect.rivals)
    try:

        async def look(client: Client) -> None:
            with pytest.raises(
                ControllerConflict, match=f"{SHOP}/{rival.lease} is held by manager-0"
            ):
                await check_rivals(client, ALL, datetime.now(UTC))
            await check_rivals(client, KindCodecs((TOY,)), datetime.now(UTC))

        run(look, plane.kubeconfig)
        refused = headroom(plane.kubeconfig, "run", "--dialect", name, "--log-format", "json")
        assert refused.returncode == 3
        assert refused.stdout == ""
        assert "is at work here" in refused.stderr
        assert "Traceback" not in refused.stderr
    finally:
        plane.api.delete(f"{leases}/{rival.lease}")


def test_the_definitions_of_dialects_have_no_complaints(plane: ControlPlane) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for made in ALL.definitions():
        status = plane.api.get(f"{path}/{made['metadata']['name']}")["status"]
        conditions = {each["type"]: each["status"] for each in status["conditions"]}
        assert conditions["Established"] == "True"
        assert conditions.get("NonStructuralSchema", "False") == "False"
