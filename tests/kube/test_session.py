"""Connections: used again, never lost, and none left waiting when the client is closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headroom.kube.access import Access, Endpoint, User
from headroom.kube.client import Client, Tuning
from headroom.kube.errors import Closed, Uncertain
from testbed.certs import Authority
from tests.kube.fakeapi import FakeApi, Reply, Stream, run, server_context

HASTY = Tuning(first_backoff=0.001, attempts=2, connect_seconds=1.0)
TURNS_TO_CONNECT = 30  # of the event loop, and then some, until a TLS connection stands.


def test_one_connection_serves_one_request_after_the_other(tmp_path: Path) -> None:
    authority = Authority("ours")

    async def main() -> None:
        async with FakeApi(server_context(authority, tmp_path)) as api:
            api.script("/x", Reply(), Reply(404), Reply(201))
            client = Client(api.access(ca=authority.pem), HASTY)
            for method in ("GET", "POST", "PATCH"):
                await client.send(method, "/x", b"{}")
            await client.close()
        assert len(api.callers) == 1

    run(main())


def test_requests_at_the_same_time_leave_no_more_connections_than_slots() -> None:
    async def main() -> None:
        async with FakeApi() as api:
            api.script("/x", Reply())
            client = Client(api.access(), Tuning(in_flight=3))
            for _ in range(2):
                await asyncio.gather(*(client.send("GET", "/x") for _ in range(9)))
            await client.close()
        assert len(api.asked) == 18
        assert len(api.callers) == 3

    run(main())


def test_a_request_cancelled_at_any_moment_loses_no_socket(tmp_path: Path) -> None:
    authority = Authority("ours")

    async def main() -> None:
        async with FakeApi(server_context(authority, tmp_path)) as api:
            api.script("/x", Reply())
            for turns in range(TURNS_TO_CONNECT):
                client = Client(api.access(ca=authority.pem), HASTY)
                request = asyncio.create_task(client.send("GET", "/x"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                request.cancel()
                await asyncio.gather(request, return_exceptions=True)
                await client.close()
                await api.wait_deserted()

    run(main())


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_closing_ends_a_request_that_waits_for_its_answer(method: str, tmp_path: Path) -> None:
    authority = Authority("ours")

    async def main() -> None:
        async with FakeApi(server_context(authority, tmp_path)) as api:
            api.gate = asyncio.Event()
            client = Client(api.access(ca=authority.pem), HASTY)
            request = asyncio.create_task(client.send(method, "/x"))
            await api.wait_asked(1)
            await client.close()
            with pytest.raises(Closed if method == "GET" else Uncertain):
                await request
            assert len(api.asked) == 1

    run(main())


def test_closing_ends_a_stream_that_waits_for_more(tmp_path: Path) -> None:
    authority = Authority("ours")

    async def main() -> None:
        async with FakeApi(server_context(authority, tmp_path)) as api:
            api.script("/x", Stream((b"one\n",), "hang"))
            client = Client(api.access(ca=authority.pem), HASTY)
            async with client.stream("/x", "watch", quiet=60) as chunks:
                assert await anext(chunks) == b"one\n"
                more = asyncio.ensure_future(anext(chunks))
                await client.close()
                with pytest.raises(Uncertain):
                    await more

    run(main())


def test_closing_does_not_wait_for_a_server_that_never_greets() -> None:
    async def main() -> None:
        connected, over = asyncio.Event(), asyncio.Event()

        async def mute(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connected.set()
            await over.wait()
            writer.transport.abort()

        async with await asyncio.start_server(mute, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            access = Access(Endpoint(f"https://127.0.0.1:{port}", insecure=True), User())
            client = Client(access, Tuning(connect_seconds=60, request_seconds=60))
            request = asyncio.create_task(client.send("POST", "/x"))
            await connected.wait()
            await client.close()
            with pytest.raises(Closed):
                await request
            over.set()

    run(main())
