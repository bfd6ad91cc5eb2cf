"""What one caller of the webhook's port can take: places, time and bytes are all bounded."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path

import pytest

from headroom.limited_server import ServingLimits
from headroom.webhook.reviews import NoReview, claims_judge
from headroom.webhook.server import Server, WebhookMetrics
from headroom.wire.kind_codecs import NATIVE
from testbed.certs import Authority
from tests.kube.fakeapi import run, server_context
from tests.webhook.test_reviews import INDEXES, review

AUTHORITY = Authority("webhook-test")
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
SHORT = ServingLimits(
    connections=4,
    header_seconds=0.3,
    body_seconds=0.3,
    answer_seconds=0.3,
    largest_body=2**20,
    small_body=2**10,
)
REVIEW = json.dumps(review("shop")).encode()


class Port:
    """A server with few places and little patience."""

    def __init__(self, folder: Path, limits: ServingLimits = SHORT) -> None:
        self._tls = server_context(AUTHORITY, folder)
        judges = {"/claims": claims_judge(INDEXES.get, NATIVE)}
        self._server = Server(judges, WebhookMetrics(), str, limits, metrics=True)
        self._open: list[Pair] = []

    async def __aenter__(self) -> Port:
        self.host, self.port = await self._server.start("127.0.0.1", 0, self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        for _reader, writer in self._open:
            writer.transport.abort()
        await self._server.stop()

    async def connect(self, encrypted: bool = True) -> Pair:
        tls = ssl.create_default_context(cadata=AUTHORITY.pem) if encrypted else None
        made = await asyncio.open_connection(self.host, self.port, ssl=tls)
        self._open.append(made)
        return made

    async def ask(self, body: bytes = REVIEW, *headers: str) -> bytes:
        """One review over a connection of its own; the whole answer."""
        reader, writer = await self.connect()
        writer.write(post(len(body), "Connection: close", *headers) + body)
        return await reader.read()

    async def deserted(self) -> None:
        """Wait until nobody is connected; the test's own time bounds it."""
        while self._server.connections:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)  # Connections end without telling this side.

    @property
    def connections(self) -> int:
        return self._server.connections


def post(length: int, *headers: str) -> bytes:
    lines = ("POST /claims HTTP/1.1", "Host: x", f"Content-Length: {length}", *headers, "", "")
    return "\r\n".join(lines).encode()


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What comes before the other side ends the connection."""
    try:
        return await reader.read()
    except (ConnectionError, ssl.SSLError):
        return b""


def test_a_header_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            reader, writer = await port.connect()
            writer.write(b"POST /claims HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            assert b"200" not in await ended(reader)
            assert b"200 OK" in await port.ask()

    run(main())


def test_the_header_of_a_second_request_has_its_time_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            reader, writer = await port.connect()
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"200 OK" in await reader.readuntil(b"alive\n")
            writer.write(b"GET /healthz HTTP/1.1\r\nHo")
            assert await ended(reader) == b""

    run(main())


def test_a_connection_that_says_nothing_is_ended_before_and_after_its_handshake(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            for encrypted in (True, False):
                reader, _ = await port.connect(encrypted)
                assert await ended(reader) == b""

    run(main())


def test_a_body_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            reader, writer = await port.connect()
            writer.write(post(1000) + b"{")
            assert b"408 Request Timeout" in await ended(reader)

    run(main())


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in-chunks"])
def test_a_body_that_is_too_large_is_refused(tmp_path: Path, declared: bool) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            reader, writer = await port.connect()
            if declared:
                writer.write(post(2**20 + 1))
            else:
                writer.write(post(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
                for _ in range(17):
                    writer.write(b"10000\r\n" + b" " * 2**16 + b"\r\n")
            assert b"413 Request Entity Too Large" in await ended(reader)
            assert b"200 OK" in await port.ask()

    run(main())


def test_a_body_that_would_grow_when_unpacked_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            for packed in ("gzip", "deflate"):
                answer = await port.ask(b"x" * 100, f"Content-Encoding: {packed}")
                assert b"415 Unsupported Media Type" in answer

    run(main())


def test_large_bodies_that_come_together_share_what_there_is_and_small_ones_still_pass(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        patient = ServingLimits(
            connections=20, body_seconds=10, largest_body=2**20, all_bodies=3 * 2**18
        )
        async with Port(tmp_path, patient) as port:
            pairs = [await port.connect() for _ in range(8)]
            for _, writer in pairs:
                writer.write(post(2**19) + b" " * (2**19 - 1))
            refused = [asyncio.create_task(ended(reader)) for reader, _ in pairs]
            first = await asyncio.wait(refused, return_when=asyncio.FIRST_COMPLETED)
            assert all(b"503 Service Unavailable" in each.result() for each in first[0])
            assert b"200 OK" in await port.ask()
            for _, writer in pairs:
                writer.transport.abort()
            await asyncio.gather(*refused)
            large = json.dumps({**review("shop"), "filling": "x" * 2**19}).encode()
            assert b"200 OK" in await port.ask(large)  # What they had is free again.

    run(main())


def test_somebody_who_takes_every_place_keeps_nobody_out(tmp_path: Path) -> None:
    async def main() -> None:
        patient = ServingLimits(connections=4, header_seconds=30)
        async with Port(tmp_path, patient) as port:
            idle = [await port.connect() for _ in range(10)]
            for _, writer in idle:
                writer.write(b"POST /claims HTTP/1.1\r\n")
            for _ in range(5):
                assert b"200 OK" in await port.ask()
            assert port.connections <= 4

    run(main())


def test_an_answer_that_nobody_takes_is_not_kept(tmp_path: Path) -> None:
    async def main() -> None:
        async with Port(tmp_path) as port:
            reader, writer = await port.connect()
            writer.transport.pause_reading()  # type: ignore[attr-defined]  # a plain transport has it
            flood = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20000
            writer.write(flood)
            await port.deserted()
            assert not reader.at_eof()

    run(main())


@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
@pytest.mark.parametrize("place", ["review", "object", "spec", "unknown"])
def test_json_that_is_nested_too_deeply_is_answered_like_other_nonsense(
    depth: int, place: str
) -> None:
    deep = "[" * depth + "]" * depth
    text = json.dumps(review("shop"))
    match place:
        case "review":
            text = deep
        case "object":
            text = text.replace('"object": {', f'"object": {{"status": {deep}, ', 1)
        case "spec":
            text = text.replace('"spec": {', f'"spec": {{"affinity": {deep}, ', 1)
        case "unknown":
            text = text.replace('{"', f'{{"x": {deep}, "', 1)
    judge = claims_judge(INDEXES.get, NATIVE)
    try:
        body = judge.answer(text.encode()).body
    except NoReview:
        body = b'{"response": {"allowed": true}}'  # Answered with 400: the webhook can stop no pod.
    assert json.loads(body)["response"]["allowed"] is True
