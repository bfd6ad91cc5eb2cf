"""The short path of a request: answers in any pieces, connections used again or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from headroom.kube.answers import Answer
from headroom.kube.http1 import ConnectionBroken
from headroom.kube.pool import Pool, Target
from tests.kube.fakeapi import run

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """Answers the n-th request with the n-th script: pieces, sent one after the other."""

    def __init__(self, scripts: tuple[tuple[bytes, ...], ...]) -> None:
        self.scripts = list(scripts)
        self.connections = 0
        self.handlers: list[asyncio.Task[None] | None] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.handlers.append(asyncio.current_task())
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                pieces = self.scripts.pop(0)
                for piece in pieces:
                    if piece == b"<close>":
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.001)  # So that pieces arrive as pieces.
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def serving(*scripts: tuple[bytes, ...]) -> AsyncIterator[tuple[Server, Pool]]:
    server = Server(scripts)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    pool = Pool(Target("127.0.0.1", server.port, None), idle_seconds=60, connect_seconds=1)
    try:
        yield server, pool
    finally:
        await pool.close()
        listener.close()
        await asyncio.gather(*(task for task in server.handlers if task is not None))


async def ask(pool: Pool, now: float = 0.0) -> Answer:
    connection = pool.take(now) or await pool.connect()
    try:
        return await connection.exchange(REQUEST)
    finally:
        pool.give_back(connection, now)


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ((OK,), Answer(200, b"{}")),
        (tuple(OK[index : index + 1] for index in range(len(OK))), Answer(200, b"{}")),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", OK), Answer(200, b"{}")),
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), Answer(204, b"")),
        (
            (b"HTTP/1.1 429 Busy\r\nretry-after: 3\r\ncontent-length:0\r\n\r\n",),
            Answer(429, b"", 3.0),
        ),
        (
            (
                b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nab\r\n",
                b"c\r\n1",
                b"0\r\n0123456789abcdef\r\n0\r\n",
                b"\r\n",
            ),
            Answer(201, b"ab\r\nc0123456789abcdef"),
        ),
        (
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: 1\r\n\r\n",),
            Answer(200, b"a"),
        ),
    ],
    ids=["whole", "byte by byte", "interim", "no body", "wait", "chunks", "trailer"],
)
def test_an_answer_is_read_whatever_its_form(pieces: tuple[bytes, ...], answer: Answer) -> None:
    async def main() -> None:
        async with serving(pieces, (OK,)) as (server, pool):
            assert await ask(pool) == answer
            assert await ask(pool) == Answer(200, b"{}")
            assert server.connections == 1

    run(main())


def test_an_answer_may_end_with_its_connection() -> None:
    async def main() -> None:
        async with serving((b"HTTP/1.0 200 OK\r\n\r\nall of it", b"<close>"), (OK,)) as (
            server,
            pool,
        ):
            assert await ask(pool) == Answer(200, b"all of it")
            assert await ask(pool) == Answer(200, b"{}")
            assert server.connections == 2

    run(main())


@pytest.mark.parametrize(
    "pieces",
    [
        (b"<close>",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{", b"<close>"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b"<close>"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",),
        (b"SSH-2.0-OpenSSH_9.9\r\n\r\n",),
        (b"HTTP/1.1 abc\r\n\r\n",),
        (b"x" * 70_000,),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",),
    ],
)
def test_an_answer_that_is_none_breaks_the_connection(pieces: tuple[bytes, ...]) -> None:
    async def main() -> None:
        async with serving(pieces, (OK,)) as (server, pool):
            with pytest.raises(ConnectionBroken):
                await ask(pool)
            assert await ask(pool) == Answer(200, b"{}")
            assert server.connections == 2

    run(main())


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"HTTP/1.1 200 OK\r\n",
    ],
    ids=["the server says so", "it says more than it was asked"],
)
def test_a_connection_is_not_used_again_if(first: bytes) -> None:
    async def main() -> None:
        async with serving((first,), (OK,)) as (server, pool):
            await ask(pool)
            await ask(pool)
            assert server.connections == 2

    run(main())


def test_a_connection_idle_for_too_long_is_not_trusted() -> None:
    async def main() -> None:
        async with serving((OK,), (OK,), (OK,)) as (server, pool):
            await ask(pool, now=0)
            await ask(pool, now=59)
            assert server.connections == 1
            await ask(pool, now=120)
            assert server.connections == 2

    run(main())


def test_a_retired_pool_keeps_nothing() -> None:
    async def main() -> None:
        async with serving((OK,), (OK,)) as (_, pool):
            await ask(pool)
            pool.retire()
            assert pool.take(0) is None

    run(main())
