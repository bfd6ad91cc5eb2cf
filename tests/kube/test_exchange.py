"""Requests on connections that answer late, half, twice or not in HTTP: no answer is mixed up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from headroom.kube.access import Access, Endpoint, User
from headroom.kube.answers import Answer
from headroom.kube.client import Client, Tuning
from headroom.kube.errors import CannotReach, ConfigError, Uncertain
from tests.kube.fakeapi import run

HASTY = Tuning(first_backoff=0.001, attempts=1, connect_seconds=1.0, request_seconds=0.1)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nO\r\n1\r\nK\r\n0\r\n\r\n"
UNTIL_END = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nOK"
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nOK"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
HEADS_END = b"\r\n\r\n"


class RawServer:
    """Answers with bytes: what it says to the n-th request of a connection is up to the test."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.heard = asyncio.Event()
        self.connections = 0
        self.port = 0

    @asynccontextmanager
    async def serving(self, *says: bytes | None) -> AsyncIterator[RawServer]:
        """Say these one after the other, on any connection; None closes the connection."""
        answers = iter(says)

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            try:
                while True:
                    self.asked.append(await reader.readuntil(HEADS_END))
                    self.heard.set()
                    answer = next(answers)
                    if answer is None:
                        return
                    writer.write(answer)
                    if answer == UNTIL_END:
                        return
            except asyncio.IncompleteReadError:
                return
            finally:
                writer.close()

        async with await asyncio.start_server(handle, "127.0.0.1", 0) as listener:
            self.port = listener.sockets[0].getsockname()[1]
            yield self

    def client(self, tuning: Tuning = HASTY, path: str = "") -> Client:
        endpoint = Endpoint(f"http://127.0.0.1:{self.port}{path}", plain_http=True)
        return Client(Access(endpoint, User(token="t")), tuning)


async def post(client: Client) -> Answer:
    return await client.send("POST", "/x")


@pytest.mark.parametrize("answer", [OK, CHUNKED, UNTIL_END, EARLY_HINTS + OK, EARLY_HINTS * 3 + OK])
def test_an_answer_is_read_whatever_its_form(answer: bytes) -> None:
    async def main() -> None:
        async with RawServer().serving(answer, answer) as api, api.client() as client:
            for _ in range(2):
                got = await post(client)
                assert (got.status, got.body) == (200, b"OK")
            assert api.connections == (2 if answer == UNTIL_END else 1)

    run(main())


@pytest.mark.parametrize("answer", [HALF, b"", EARLY_HINTS, OK[:20], UNTIL_END[:-1]])
def test_a_connection_with_half_an_answer_is_not_used_again(answer: bytes) -> None:
    async def main() -> None:
        async with RawServer().serving(answer, OK) as api, api.client() as client:
            with pytest.raises(Uncertain, match="no answer in time"):
                await post(client)
            assert (await post(client)).body == b"OK"
            assert api.connections == 2

    run(main())


def test_each_request_has_its_own_time_and_the_answered_ones_are_forgotten() -> None:
    async def main() -> None:
        async with RawServer().serving(OK, b"", OK, b"", OK) as api, api.client() as client:
            for _ in range(2):
                assert (await post(client)).body == b"OK"
                with pytest.raises(Uncertain, match="no answer in time"):
                    await post(client)
            assert (await post(client)).body == b"OK"
            assert api.connections == 3

    run(main())


def test_an_answer_that_comes_late_is_not_taken_for_the_next() -> None:
    async def main() -> None:
        late = asyncio.Event()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(HEADS_END)
            if not late.is_set():
                await late.wait()
                writer.write(OK.replace(b"OK", b"LA"))
            else:
                writer.write(OK)
            await reader.read()
            writer.close()

        async with await asyncio.start_server(handle, "127.0.0.1", 0) as listener:
            api = RawServer()
            api.port = listener.sockets[0].getsockname()[1]
            async with api.client() as client:
                with pytest.raises(Uncertain):
                    await post(client)
                late.set()
                assert (await post(client)).body == b"OK"

    run(main())


def test_a_request_that_is_cancelled_leaves_no_answer_to_the_next() -> None:
    async def main() -> None:
        async with RawServer().serving(b"", OK) as api, api.client() as client:
            waiting = asyncio.create_task(post(client))
            await api.heard.wait()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert (await post(client)).body == b"OK"
            assert api.connections == 2

    run(main())


def test_more_bytes_than_one_answer_end_the_connection() -> None:
    async def main() -> None:
        async with RawServer().serving(OK + OK.replace(b"OK", b"NO"), OK) as api:
            async with api.client() as client:
                assert (await post(client)).body == b"OK"
                assert (await post(client)).body == b"OK"
            assert api.connections == 2

    run(main())


def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next() -> None:
    async def main() -> None:
        said = asyncio.Event()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(HEADS_END)
            writer.write(OK)
            if not said.is_set():
                said.set()
                await asyncio.sleep(0.02)  # The first answer was read by then.
                writer.write(OK.replace(b"OK", b"NO"))
            await reader.read()
            writer.close()

        async with await asyncio.start_server(handle, "127.0.0.1", 0) as listener:
            api = RawServer()
            api.port = listener.sockets[0].getsockname()[1]
            async with api.client(replace(HASTY, attempts=2)) as client:
                await post(client)
                await asyncio.sleep(0.06)  # until the second answer has arrived
                assert (await post(client)).body == b"OK"

    run(main())


@pytest.mark.parametrize("answer", [None, b"220 mail.invalid ESMTP\r\n\r\n", b"\x16\x03\x01\x00"])
def test_what_is_no_answer_leaves_the_fate_open(answer: bytes | None) -> None:
    async def main() -> None:
        async with RawServer().serving(answer, OK) as api, api.client() as client:
            with pytest.raises(Uncertain):
                await post(client)
            assert (await post(client)).body == b"OK"

    run(main())


def test_a_connection_that_the_server_closed_meanwhile_is_not_used() -> None:
    async def main() -> None:
        closing: list[asyncio.StreamWriter] = []

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            closing.append(writer)
            await reader.readuntil(HEADS_END)
            writer.write(OK)

        async with await asyncio.start_server(handle, "127.0.0.1", 0) as listener:
            api = RawServer()
            api.port = listener.sockets[0].getsockname()[1]
            async with api.client() as client:
                await post(client)
                closing[0].close()
                await closing[0].wait_closed()
                for _ in range(20):  # turns of the event loop, until the end has arrived
                    await asyncio.sleep(0)
                assert (await post(client)).body == b"OK"
            assert len(closing) == 2
            closing[1].close()

    run(main())


def test_nobody_listens_any_more() -> None:
    async def main() -> None:
        api = RawServer()
        async with api.serving(UNTIL_END):
            client = api.client()
            await post(client)
        with pytest.raises(CannotReach, match="cannot connect") as refused:
            await post(client)
        assert not isinstance(refused.value, Uncertain)
        await client.close()

    run(main())


def test_a_request_is_written_as_http() -> None:
    async def main() -> None:
        async with RawServer().serving(OK, OK) as api, api.client(path="/behind/") as client:
            await client.send("GET", "/x?limit=1")
            await client.send("PATCH", "/x", b"", "application/merge-patch+json")
        listed, patched = (asked.decode().split("\r\n") for asked in api.asked)
        assert listed[0] == "GET /behind/x?limit=1 HTTP/1.1"
        assert listed[1] == f"Host: 127.0.0.1:{api.port}"
        assert "Authorization: Bearer t" in listed
        assert not any(line.startswith("Content-Length") for line in listed)
        assert patched[0] == "PATCH /behind/x HTTP/1.1"
        assert "Content-Type: application/merge-patch+json" in patched
        assert "Content-Length: 0" in patched

    run(main())


@pytest.mark.parametrize("path", ["/a b", "/a\r\nX: y", "/\x00", "/ä", ""])
def test_a_path_cannot_bring_a_second_request(path: str) -> None:
    async def main() -> None:
        async with RawServer().serving(OK) as api, api.client() as client:
            with pytest.raises(ConfigError):
                await client.send("GET", path)
            assert not api.asked

    run(main())
