"""Informers on the real API server: many pods, lost connections, restarts and compaction."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from headroom.core.objects import Key, Pod
from headroom.kube.client import Client
from headroom.kube.cluster import KubeCluster
from headroom.kube.kubeconfig import find_access
from headroom.kube.watch_scope import WatchScope, WatchTuning
from headroom.ports import Event, Lost, Seen, Synced
from headroom.wire.kinds import NODES, PODS
from testbed.controlplane import ControlPlane
from tests.contract.ground import Watching, pod_manifest
from tests.e2e.relay import Relay

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("binaries")]

HASTY = WatchTuning(quiet_seconds=1.0, first_backoff=0.02, longest_backoff=0.2)
PODS_PATH = "/api/v1/namespaces/default/pods"
MANY = 2000


@pytest.fixture(scope="module")
def plane(binaries: object) -> Iterator[ControlPlane]:
    """An API server of our own, since it is restarted."""
    with ControlPlane.start(scheduler=False, controller_manager=False) as plane:
        yield plane


def run(story: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(120):
            await story

    asyncio.run(bounded())


def cluster_at(client: Client, *scopes: WatchScope) -> KubeCluster:
    return KubeCluster(client, scopes or (WatchScope(PODS, "default"),), HASTY)


def make(plane: ControlPlane, *names: str) -> None:
    plane.api.for_each(lambda name: plane.api.create(PODS_PATH, pod_manifest(name)), names)


def remove(plane: ControlPlane, *names: str) -> None:
    body = {"gracePeriodSeconds": 0}
    plane.api.for_each(lambda name: plane.api.delete(f"{PODS_PATH}/{name}", body), names)


def restart_api_server(plane: ControlPlane) -> None:
    plane.restart("kube-apiserver")
    plane.api.close()  # This thread's connection; the thread ends.


def told(events: list[Event]) -> list[str]:
    """The pod events in words."""
    words = []
    for event in events:
        match event:
            case Seen(Pod() as pod):
                words.append(f"{pod.key.name} seen")
            case Lost(Pod(key=Key(_, name))):
                words.append(f"{name} gone")
    return words


def test_a_missed_deletion_and_a_missed_creation_are_told_after_a_cut(plane: ControlPlane) -> None:
    async def story() -> None:
        make(plane, "stays", "goes")
        async with Relay(find_access(str(plane.kubeconfig))) as relay:
            client = Client(relay.access)
            async with Watching(cluster_at(client)) as watching:
                await watching.synced()
                await relay.cut()
                remove(plane, "goes")
                make(plane, "comes")
                relay.mend()
                await watching.pod(Key("default", "comes"))
                await watching.pod_gone(Key("default", "goes"))
                after = watching.events[watching.events.index(Synced()) + 1 :]
                assert told(after)[-2:] == ["goes gone", "comes seen"]
                assert "stays seen" not in told(after)
            await client.close()
        remove(plane, "stays", "comes")

    run(story())


def test_a_frozen_connection_is_left_for_a_new_one(plane: ControlPlane) -> None:
    async def story() -> None:
        async with Relay(find_access(str(plane.kubeconfig))) as relay:
            client = Client(relay.access)
            noticed = asyncio.Event()
            scopes = (WatchScope(PODS, "default"),)
            cluster = KubeCluster(client, scopes, HASTY, lambda _: noticed.set())
            async with Watching(cluster) as watching:
                await watching.synced()
                relay.freeze()
                make(plane, "unseen")
                await noticed.wait()
                relay.thaw()
                await watching.pod(Key("default", "unseen"))
            await client.close()
        remove(plane, "unseen")

    run(story())


def test_a_restarted_api_server_is_met_again_and_nothing_is_told_twice(plane: ControlPlane) -> None:
    async def story() -> None:
        make(plane, "before")
        client = Client(find_access(str(plane.kubeconfig)))
        async with Watching(cluster_at(client)) as watching:
            await watching.synced()
            await asyncio.to_thread(restart_api_server, plane)
            make(plane, "after")
            await watching.pod(Key("default", "after"))
            assert told(watching.events) == ["before seen", "after seen"]
        await client.close()
        remove(plane, "before", "after")

    run(story())


def test_a_version_compacted_away_is_told_as_a_difference(binaries: object) -> None:
    async def story(plane: ControlPlane) -> None:
        make(plane, "changes", "goes", "stays")
        async with Relay(find_access(str(plane.kubeconfig))) as relay:
            client = Client(relay.access)
            async with Watching(cluster_at(client)) as watching:
                await watching.synced()
                await relay.cut()
                remove(plane, "goes")
                plane.api.patch(f"{PODS_PATH}/changes", {"metadata": {"labels": {"a": "b"}}})
                make(plane, "comes")
                await compacted(plane)
                relay.mend()
                await watching.pod_gone(Key("default", "goes"))
                after = watching.events[watching.events.index(Synced()) + 1 :]
                assert told(after) == ["changes seen", "comes seen", "goes gone"]
            await client.close()

    # Without a watch cache the API server asks etcd, which remembers nothing older than 2 s.
    arguments = ("--watch-cache=false", "--etcd-compaction-interval=1s")
    with ControlPlane.start(
        scheduler=False, controller_manager=False, apiserver_args=arguments
    ) as plane:
        run(story(plane))


async def compacted(plane: ControlPlane) -> None:
    """Wait until a version that is current now has been compacted away."""
    version = plane.api.get(PODS_PATH)["metadata"]["resourceVersion"]
    client = Client(find_access(str(plane.kubeconfig)))
    path = f"{PODS_PATH}?resourceVersion={version}&resourceVersionMatch=Exact&limit=1"
    while True:
        if (await client.send("GET", path)).status == 410:
            break
        await asyncio.sleep(0.1)
    await client.close()


@pytest.mark.slow
def test_thousands_of_pods_are_all_told_before_synced(plane: ControlPlane) -> None:
    async def story() -> None:
        names = [f"many-{number}" for number in range(MANY)]
        make(plane, *names)
        client = Client(find_access(str(plane.kubeconfig)))
        scopes = (WatchScope(PODS), WatchScope(NODES))
        async with Watching(cluster_at(client, *scopes)) as watching:
            await watching.synced()
            seen = told(watching.events[: watching.events.index(Synced())])
            assert sorted(seen) == sorted(f"{name} seen" for name in names)
        await client.close()

    run(story())
