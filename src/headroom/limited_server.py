"""A web server with limits on connections, time and bytes.

aiohttp implements HTTP. A `_Guard` in front of each connection, from the moment that it is accepted
(before TLS), ends those that take too long for the handshake, for a header or for reading an
answer. If all places are taken, the connection whose request began longest ago is closed, so that a
client that only opens connections keeps no other client out. `Bodies` reads request bodies, with
limits for one and for all of them. The operator's port and the webhook's port use this.

No request can fill the log either. A request that is not HTTP gets status 400 and no log line: by
itself, aiohttp writes a traceback for each. A handler that raises gets status 500 and the line
`request_failed`, which names the route and the place in the code, at a limited rate.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from headroom.errors import described, place_of
from headroom.throttle import Throttle

log = structlog.get_logger("headroom.limited_server")

TURNS_TO_NOTICE = 3  # of the event loop: transport, TLS, reader.
FAILED = "this request could not be answered; the log says why\n"
PLAIN = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
SILENT = logging.Logger("headroom.aiohttp", logging.CRITICAL + 1)  # For what aiohttp logs itself.


@dataclass(frozen=True, slots=True)
class ServingLimits:
    """The limits of a server; times are in seconds, sizes in bytes."""

    connections: int = 256
    header_seconds: float = 5.0  # From the first byte (or the connection) to the end of the header.
    body_seconds: float = 5.0
    answer_seconds: float = 10.0
    idle_seconds: float = 120.0  # API servers close idle connections after 90 s, and must be first.
    stop_seconds: float = 2.0
    largest_body: int = 2**16
    all_bodies: int = 2**25  # What one body has beyond `small_body` counts.
    small_body: int = 2**16


class LimitedServer:
    """Serves an application between `start` and `stop`."""

    def __init__(self, app: web.Application, limits: ServingLimits | None = None) -> None:
        self._limits = limits or ServingLimits()
        self._app = app
        app.middlewares.insert(0, self._noted)
        self._guards: dict[object, _Guard] = {}  # By aiohttp's protocol.
        self._open: dict[_Guard, None] = {}  # The one with the newest request is the last.
        self._runner: web.AppRunner | None = None
        self._server: asyncio.Server | None = None
        self._throttle = Throttle()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._open)

    async def start(
        self, host: str, port: int, tls: ssl.SSLContext | None = None
    ) -> tuple[str, int]:
        """Listen and return the address; port 0 selects a free port."""
        runner = web.AppRunner(
            self._app,
            access_log=None,
            logger=SILENT,
            keepalive_timeout=self._limits.idle_seconds,
            shutdown_timeout=self._limits.stop_seconds,
            lingering_time=1.0,
            auto_decompress=False,  # A small body could become a large one.
        )
        await runner.setup()
        self._runner = runner
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Guard(self, tls), host, port)
        taken = self._server.sockets[0].getsockname()
        return str(taken[0]), int(taken[1])

    async def stop(self) -> None:
        """Close the port; it may be called twice."""
        server, self._server = self._server, None
        runner, self._runner = self._runner, None
        if server is not None:
            server.close()
        if runner is not None:
            await runner.cleanup()
        for guard in list(self._open):  # A graceful end of TLS would wait for the other side.
            guard.abort()
        for _ in range(TURNS_TO_NOTICE):
            await asyncio.sleep(0)

    @web.middleware
    async def _noted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Report to a request's guard that its header is complete, and when it is answered."""
        guard = self._guards.get(request.protocol)
        if guard is not None:
            self._open[guard] = self._open.pop(guard, None)
            guard.begin()
        try:
            return await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as trouble:  # Whatever a request contains, only that request fails.
            self._report(request, trouble)
            raise _closing(web.HTTPInternalServerError(text=FAILED, headers=PLAIN)) from None
        finally:
            if guard is not None:
                guard.finish()

    def _report(self, request: web.Request, trouble: Exception) -> None:
        """Log a handler that raised. Callers choose the path, so the line names the route."""
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "unknown"
        if self._throttle.allows(f"{route} {place_of(trouble)}", time.monotonic()):
            log.error("request_failed", route=route, why=described(trouble), at=place_of(trouble))

    def admit(self, guard: _Guard) -> asyncio.Protocol | None:
        """Accept a new connection; if all places are taken, close an old one."""
        if len(self._open) >= self._limits.connections:
            oldest = next(iter(self._open))
            self.forget(oldest)
            oldest.abort()
        if self._runner is None or self._runner.server is None:
            return None
        inner = self._runner.server()
        self._open[guard] = None
        self._guards[inner] = guard
        return inner

    def forget(self, guard: _Guard) -> None:
        self._open.pop(guard, None)
        self._guards.pop(guard.inner, None)

    @property
    def limits(self) -> ServingLimits:
        return self._limits


class _Guard(asyncio.Protocol):
    """Wraps aiohttp's protocol for one connection, and enforces the times."""

    def __init__(self, server: LimitedServer, tls: ssl.SSLContext | None) -> None:
        self.inner: asyncio.Protocol | None = None
        self.busy = False
        self._server = server
        self._limits = server.limits
        self._tls = tls
        self._transport: asyncio.Transport | None = None
        self._ready = False
        self._early: list[bytes] = []
        self._header: asyncio.TimerHandle | None = None
        self._answer: asyncio.TimerHandle | None = None
        self._shaking: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.inner = self._server.admit(self)
        if self.inner is None:
            self._transport.abort()
            return
        self._expect_header()
        if self._tls is None:
            self._connected(self._transport)
            return
        self._transport.pause_reading()  # What arrives now is for TLS.
        self._shaking = asyncio.get_running_loop().create_task(self._shake_hands(self._tls))

    async def _shake_hands(self, tls: ssl.SSLContext) -> None:
        if self._transport is None:
            return
        try:
            encrypted = await asyncio.get_running_loop().start_tls(
                self._transport,
                self,
                tls,
                server_side=True,
                ssl_handshake_timeout=self._limits.header_seconds,
                ssl_shutdown_timeout=self._limits.stop_seconds,
            )
        except (TimeoutError, OSError):
            encrypted = None
        if encrypted is None:
            self.abort()
            return
        self._connected(encrypted)

    def _connected(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        if self.inner is None or transport.is_closing():
            self.abort()
            return
        self.inner.connection_made(transport)
        self._ready = True
        early, self._early = self._early, []
        for data in early:
            self.data_received(data)

    def data_received(self, data: bytes) -> None:
        if not self._ready:
            self._early.append(data)
            return
        if not self.busy and self._header is None:
            self._expect_header()
        if self.inner is not None:
            self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self.inner.eof_received() if self._ready and self.inner is not None else None

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_times()
        self._server.forget(self)
        if self._shaking is not None and not self._ready:
            self._shaking.cancel()
        if self._ready and self.inner is not None:
            self.inner.connection_lost(exc)
        self._ready = False

    def pause_writing(self) -> None:
        if self._ready and self.inner is not None:
            self.inner.pause_writing()

    def resume_writing(self) -> None:
        if self._ready and self.inner is not None:
            self.inner.resume_writing()

    def begin(self) -> None:
        """The header is complete: the handler limits the time of the body."""
        self.busy = True
        self._forget_times()

    def finish(self) -> None:
        """The answer is being sent, and must be read in time."""
        self.busy = False
        loop = asyncio.get_running_loop()
        self._answer = loop.call_later(self._limits.answer_seconds, self._was_taken)

    def _was_taken(self) -> None:
        self._answer = None
        if self._transport is not None and self._transport.get_write_buffer_size() > 0:
            self.abort()

    def _expect_header(self) -> None:
        loop = asyncio.get_running_loop()
        self._header = loop.call_later(self._limits.header_seconds, self.abort)

    def _forget_times(self) -> None:
        for timer in (self._header, self._answer):
            if timer is not None:
                timer.cancel()
        self._header = self._answer = None

    def abort(self) -> None:
        """End the connection at once."""
        self._forget_times()
        if self._transport is not None:
            self._transport.abort()


class Bodies:
    """Reads request bodies: one body is limited, and all bodies together."""

    def __init__(self, limits: ServingLimits) -> None:
        self._limits = limits
        self._taken = 0

    @contextmanager
    def room(self) -> Iterator[list[int]]:
        """Count the bytes of one body until it is processed."""
        mine = [0]
        try:
            yield mine
        finally:
            self._taken -= max(0, mine[0] - self._limits.small_body)

    async def read(self, request: web.Request, mine: list[int]) -> bytes:
        """The whole body; raises the answer if it is too large or too slow."""
        if request.headers.get("Content-Encoding", "identity") != "identity":
            raise _closing(web.HTTPUnsupportedMediaType(text="send it uncompressed\n"))
        largest = self._limits.largest_body
        if (request.content_length or 0) > largest:
            raise _closing(web.HTTPRequestEntityTooLarge(largest, request.content_length or 0))
        chunks: list[bytes] = []
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while chunk := await request.content.readany():
                    chunks.append(chunk)
                    self._count(mine, len(chunk))
            return b"".join(chunks)
        except TimeoutError:
            raise _closing(web.HTTPRequestTimeout(text="the body takes too long\n")) from None
        except (ConnectionError, web.RequestPayloadError):
            raise _closing(web.HTTPBadRequest(text="the body does not end\n")) from None
        finally:
            chunks.clear()  # Exceptions keep their frames alive.

    def _count(self, mine: list[int], size: int) -> None:
        before = max(0, mine[0] - self._limits.small_body)
        mine[0] += size
        self._taken += max(0, mine[0] - self._limits.small_body) - before
        if mine[0] > self._limits.largest_body:
            raise _closing(web.HTTPRequestEntityTooLarge(self._limits.largest_body, mine[0]))
        if self._taken > self._limits.all_bodies:
            raise _closing(web.HTTPServiceUnavailable(text="too much at once; come again\n"))


def _closing(answer: web.HTTPException) -> web.HTTPException:
    """The answer, which also ends the connection."""
    answer.force_close()
    return answer
