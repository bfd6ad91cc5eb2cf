"""Informers merged into one stream, and events counted up, against a scripted API server."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from headroom.core.actions import DeletePod, Done, Tell, Unavailable
from headroom.core.objects import Key, Pod
from headroom.kube.client import Client, Tuning
from headroom.kube.cluster import KubeCluster
from headroom.kube.errors import Closed, KubeError, RequestForbidden
from headroom.kube.watch_scope import Trouble, WatchScope, WatchTuning
from headroom.ports import Event, Seen, Synced
from headroom.wire.kinds import NODES, PODS
from tests.kube.fakeapi import (
    Cut,
    FakeApi,
    Reply,
    Stream,
    bookmark,
    line,
    pod_json,
    refusal,
    run,
)

SCOPES = (WatchScope(PODS), WatchScope(NODES))
HASTY = WatchTuning(first_backoff=0.001, longest_backoff=0.004)
EVENTS = "/api/v1/namespaces/shop/events"
TELL = Tell(
    "v1",
    "Pod",
    Key("shop", "web-0"),
    "uid-1",
    "Normal",
    "Claimed",
    "got nightly",
    datetime(2027, 1, 4, tzinfo=UTC),
)


def cluster_at(api: FakeApi, troubles: list[Trouble] | None = None) -> KubeCluster:
    client = Client(api.access(), Tuning(attempts=2, first_backoff=0.001))
    note = (troubles if troubles is not None else []).append
    return KubeCluster(client, SCOPES, HASTY, note)


async def first(cluster: KubeCluster, count: int) -> list[Event]:
    events: list[Event] = []
    async with aclosing(cluster.watch()) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                break
    return events


def test_synced_comes_once_and_only_when_every_kind_is_listed() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            end = bookmark(9, ends_list=True)
            pods = (line("ADDED", pod_json("a")), end, line("MODIFIED", pod_json("a", 10)))
            api.script("/api/v1/pods", Stream(pods, "hang"))
            api.script("/api/v1/nodes", *[refusal(500)] * 3, Stream((end,), "hang"))
            troubles: list[Trouble] = []
            cluster = cluster_at(api, troubles)
            events = await first(cluster, 3)
            await cluster.close()
        versions = [
            event.thing.version
            for event in events
            if isinstance(event, Seen) and isinstance(event.thing, Pod)
        ]
        assert versions == ["1", "10"]
        assert events[2] == Synced()
        assert cluster.stats.troubles["nodes"] == 3
        assert len(troubles) == 1  # The same thing is reported once.
        assert cluster.stats.events == {"Seen": 2, "Synced": 1}

    run(main())


def test_a_kind_we_may_not_see_ends_the_whole_stream_with_its_reason() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/api/v1/pods", Stream((bookmark(9, ends_list=True),), "hang"))
            api.script("/api/v1/nodes", refusal(403, "nodes is forbidden"))
            cluster = cluster_at(api)
            with pytest.raises(RequestForbidden, match="cannot watch nodes: nodes is forbidden"):
                await first(cluster, 1)
            await cluster.close()

    run(main())


def test_a_closed_client_ends_the_stream_without_a_word() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            for path in ("/api/v1/pods", "/api/v1/nodes"):
                api.script(path, Stream((bookmark(9, ends_list=True),), "hang"))
            troubles: list[Trouble] = []
            cluster = cluster_at(api, troubles)
            async with aclosing(cluster.watch()) as stream:
                assert await anext(stream) == Synced()
                await cluster.close()
                with pytest.raises(Closed):
                    await anext(stream)
        assert troubles == []

    run(main())


def test_an_event_that_has_expired_is_made_anew() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script(EVENTS, Reply(201, {"metadata": {"uid": "e"}}))
            cluster = cluster_at(api)
            assert await cluster.perform(TELL) == Done("e")
            assert await cluster.perform(TELL) == Done("e")  # The patch meets a 404.
            await cluster.close()
        assert [asked.method for asked in api.asked] == ["POST", "PATCH", "POST"]

    run(main())


def test_a_write_without_an_answer_is_unavailable() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/api/v1/namespaces/shop/pods/web-0", Cut())
            cluster = cluster_at(api)
            outcome = await cluster.perform(DeletePod(Key("shop", "web-0"), "uid-1"))
            await cluster.close()
        assert isinstance(outcome, Unavailable)
        assert cluster.stats.outcomes == {("DeletePod", "Unavailable"): 1}

    run(main())


def test_the_version_says_that_it_is_an_api_server() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/version", Reply(body={"gitVersion": "v1.36.4"}), Reply(body={"a": 1}))
            cluster = cluster_at(api)
            assert await cluster.probe() == "v1.36.4"
            with pytest.raises(KubeError, match="not a Kubernetes API server"):
                await cluster.probe()
            await cluster.close()

    run(main())


def test_a_watch_that_dies_for_whatever_reason_ends_the_stream_loudly() -> None:
    def broken(trouble: Trouble) -> None:
        raise ZeroDivisionError("a bug")

    async def main() -> None:
        async with FakeApi() as api:
            end = bookmark(9, ends_list=True)
            odd = {**pod_json("odd"), "spec": "nonsense"}
            api.script("/api/v1/pods", Stream((end, line("ADDED", odd)), "hang"))
            api.script("/api/v1/nodes", Stream((end,), "hang"))
            client = Client(api.access(), Tuning(attempts=2, first_backoff=0.001))
            cluster = KubeCluster(client, SCOPES, HASTY, broken)
            async with aclosing(cluster.watch()) as stream:
                assert await anext(stream) == Synced()
                with pytest.raises(ZeroDivisionError):
                    await anext(stream)
            await cluster.close()

    run(main())


def test_objects_that_cannot_be_read_are_told_once_each_and_not_without_end() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            end = bookmark(9, ends_list=True)
            odd = [{**pod_json(f"odd-{number}"), "spec": "nonsense"} for number in range(100)]
            lines = (line("ADDED", each) for _ in range(3) for each in odd)
            good = line("ADDED", pod_json("good"))
            api.script("/api/v1/pods", Stream((*lines, good, end), "hang"))
            api.script("/api/v1/nodes", Stream((end,), "hang"))
            troubles: list[Trouble] = []
            cluster = cluster_at(api, troubles)
            events = await first(cluster, 2)
            await cluster.close()
        assert isinstance(events[0], Seen)
        assert events[1] == Synced()
        assert cluster.stats.troubles["pods"] == 300
        assert 0 < len(troubles) <= 30

    run(main())
