"""Requests that no browser sends: each gets its refusal, and none of them fills the log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from headroom.dashboard.access import Gate, Local, Reviewed
from headroom.dashboard.document import Document
from headroom.dashboard.hub import Hub
from headroom.dashboard.pages import Pages, StreamLimits
from headroom.runtime.http import Address, Health, HttpServer
from headroom.runtime.metrics import Metrics
from tests.dashboard.test_pages import TOKENS, Feed, Reviews, ran

AS_ADMIN = b"Host: localhost\r\nAuthorization: Bearer admin\r\n"
DEEP = b'{"a":' + b"[" * 995
ODD: dict[str, tuple[bytes, int]] = {
    "a token that is not text": (
        b"GET /api/v1/snapshot HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\r\n\r\n",
        401,
    ),
    "no HTTP": (b"hello\r\n\r\n", 400),
    "a path that is not text": (b"GET /api/v1/node?name=\xff HTTP/1.1\r\n" + AS_ADMIN, 400),
    "half of a surrogate pair": (
        b"GET /api/v1/pods?name=%ed%a0%80 HTTP/1.1\r\n" + AS_ADMIN + b"\r\n",
        200,
    ),
    "an id that is not text": (
        b"GET /api/v1/stream HTTP/1.1\r\nLast-Event-ID: \xff.9\r\n" + AS_ADMIN + b"\r\n",
        200,
    ),
    "a moment that is no number": (
        b"GET /api/v1/frame?at=nan HTTP/1.1\r\n" + AS_ADMIN + b"\r\n",
        400,
    ),
    "a moment that never comes": (
        b"GET /api/v1/frame?at=1e999 HTTP/1.1\r\n" + AS_ADMIN + b"\r\n",
        400,
    ),
    "a deep wish": (
        b"POST /api/v1/control HTTP/1.1\r\nX-Headroom-Control: 1\r\nContent-Length: 1000\r\n"
        + AS_ADMIN
        + b"\r\n"
        + DEEP,
        400,
    ),
}


class Clock:
    """A simulation that does what it is told, and was seen at every moment."""

    def control(self, wish: dict[str, Any]) -> dict[str, Any]:
        return wish

    def frame(self, at: float) -> Document | None:
        return {"at": int(at)}


async def status_of(address: Address, said: bytes) -> int:
    """The status that raw bytes are answered with."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(said)
        line = await reader.readline()
        return int(line.split()[1])
    finally:
        writer.close()


async def statuses(gate: Gate, said: list[bytes]) -> list[int]:
    pages = Pages(Hub(Feed(), lambda trouble: None, 0.02), gate, Clock())
    place = Address("127.0.0.1", 0)
    server = HttpServer(place, Health(synced=True), Metrics("0"), mount=pages.mount)
    address = await server.start()
    try:
        return [await status_of(address, each) for each in said]
    finally:
        await server.stop()


@pytest.mark.parametrize("said", ODD)
def test_an_odd_request_is_refused_and_writes_no_log_line(
    said: str, caplog: pytest.LogCaptureFixture
) -> None:
    request, expected = ODD[said]

    async def story() -> None:
        assert await statuses(Reviewed(Reviews(TOKENS)), [request] * 3) == [expected] * 3

    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        ran(story)
    assert [each for each in caplog.records if each.name.startswith("aiohttp")] == []
    assert logs == []


def test_a_handler_that_raises_is_logged_once_and_named_by_its_route(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(request: web.Request) -> web.Response:
        raise RuntimeError("no\x1b[31m answer")

    def mount(app: web.Application) -> None:
        app.router.add_get("/x/{name}", broken)

    async def story() -> None:
        server = HttpServer(Address("127.0.0.1", 0), Health(synced=True), mount=mount)
        address = await server.start()
        try:
            for number in range(50):
                said = f"GET /x/{number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                assert await status_of(address, said) == 500
            healthy = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            assert await status_of(address, healthy) == 200
        finally:
            await server.stop()

    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        ran(story)
    (line,) = logs
    assert (line["event"], line["route"]) == ("request_failed", "/x/{name}")
    assert line["why"] == "RuntimeError: no [31m answer"
    assert [each for each in caplog.records if each.name.startswith("aiohttp")] == []


def test_rights_that_end_in_the_middle_end_the_stream() -> None:
    class Ended(Local):
        asked = 0

        async def scope(self, request: web.Request, namespaces: Any) -> Any:
            self.asked += 1
            if self.asked > 1:
                raise web.HTTPForbidden(text="no more\n")
            return await super().scope(request, namespaces)

    async def story() -> None:
        limits = StreamLimits(review_seconds=0.0)
        pages = Pages(Hub(Feed(), lambda trouble: None, 0.02), Ended(), limits=limits)
        server = HttpServer(Address("127.0.0.1", 0), Health(), mount=pages.mount)
        address = await server.start()
        try:
            reader, writer = await asyncio.open_connection(address.host, address.port)
            said = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            writer.write(said)
            whole = await reader.read()
            writer.close()
        finally:
            await server.stop()
        assert whole.count(b"HTTP/1.1") == 1
        assert whole.endswith(b"0\r\n\r\n")  # The last, empty chunk: a whole answer.

    ran(story)
