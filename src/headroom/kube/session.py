"""One aiohttp session to one API server: the only module that sends requests.

`client` decides what to send and to repeat, `request_auth` has the credentials, `transport`
translates errors. The path of a request is short: headers and limits are built in advance, URLs are
already encoded, bodies are bytes. The connector below works around lost connections in aiohttp and
asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace
from yarl import URL

from headroom.kube.access import Access
from headroom.kube.answers import Answer, seconds_to_wait
from headroom.kube.errors import Closed, TooLarge
from headroom.kube.request_auth import JSON, RequestAuth
from headroom.kube.servertime import ServerTime
from headroom.kube.transport import TRANSPORT_ERRORS, translated

IDLE_SECONDS = 60.0  # The API server closes idle connections after 90 s; we must be first.
READ_BUFFER = 2**18
LARGEST_REFUSAL = 2**20
SETTLE_SECONDS = 1.0
TURNS_TO_NOTICE = 3  # of the event loop: transport, TLS, reader.


class Session:
    """Sends requests; the aiohttp session is created at the first use, inside the running loop."""

    def __init__(
        self,
        access: Access,
        passport: RequestAuth,
        connect_seconds: float,
        request_seconds: float,
        largest: int,
    ) -> None:
        self.closed = False
        self.server_time = ServerTime()
        self._access = access
        self._passport = passport
        self._connect_seconds = connect_seconds
        self._largest = largest
        self._limits = self._limited(total=request_seconds)
        login = access.endpoint.proxy_login
        # aiohttp turns it into Proxy-Authorization, in CONNECT and in plain requests.
        self._proxy_headers = {"Authorization": login.basic} if login else None
        self._connector: _Connector | None = None
        self._session: aiohttp.ClientSession | None = None

    async def send(self, method: str, path: str, body: bytes | None, content_type: str) -> Answer:
        """Send one request and read the whole answer."""
        response = await self._request(method, path, body, content_type, self._limits)
        return await self.finish(response)

    async def open_stream(self, path: str, quiet: float) -> aiohttp.ClientResponse:
        """Open an endless answer; silence for `quiet` seconds is an error."""
        return await self._request("GET", path, None, JSON, self._limited(sock_read=quiet))

    async def chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """The chunks of a stream, as they arrive."""
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except TRANSPORT_ERRORS as error:
            raise translated(error, self._access) from error

    async def finish(self, response: aiohttp.ClientResponse) -> Answer:
        """Read an answer to its end, so that the connection can be used again."""
        largest = self._largest if response.status < 300 else LARGEST_REFUSAL
        try:
            content = await self._read(response, largest)
        except TRANSPORT_ERRORS as error:
            raise translated(error, self._access) from error
        return Answer(
            response.status, content, seconds_to_wait(response.headers.get("Retry-After"))
        )

    async def _read(self, response: aiohttp.ClientResponse, largest: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async for part in response.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > largest:
                    server = self._access.endpoint.server
                    raise TooLarge(f"{server}: an answer of more than {largest} bytes")
        except BaseException:
            hang_up(response)
            raise
        return b"".join(parts)

    async def close(self) -> None:
        """Close every connection; pending requests fail at once."""
        self.closed = True
        if self._session is not None and self._connector is not None:
            await self._connector.break_all()
            await self._session.close()

    def _limited(
        self, total: float | None = None, sock_read: float | None = None
    ) -> aiohttp.ClientTimeout:
        connect = self._connect_seconds  # `connect` also limits the DNS lookup.
        return aiohttp.ClientTimeout(
            total=total, connect=connect, sock_connect=connect, sock_read=sock_read
        )

    async def _request(
        self,
        method: str,
        path: str,
        body: bytes | None,
        content_type: str,
        limits: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        endpoint = self._access.endpoint
        tls = self._passport.tls
        try:
            response = await self._opened().request(
                method,
                URL(endpoint.server + path, encoded=True),
                data=body,
                headers=self._passport.headers(content_type),
                timeout=limits,
                ssl=tls if tls is not None else True,
                server_hostname=endpoint.tls_server_name or None,
                proxy=endpoint.proxy or None,
                proxy_headers=self._proxy_headers,
                allow_redirects=False,
            )
        except TRANSPORT_ERRORS as error:
            if isinstance(error, aiohttp.ClientSSLError):
                self._passport.forget()
            raise translated(error, self._access) from error
        self.server_time.note(response.headers.get("Date"))
        return response

    def _opened(self) -> aiohttp.ClientSession:
        if self.closed:
            raise Closed(f"{self._access.endpoint.server}: this client was closed")
        if self._session is None:
            self._connector = _Connector()
            self._session = aiohttp.ClientSession(
                connector=self._connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                read_bufsize=READ_BUFFER,
                auto_decompress=False,
                trust_env=False,
            )
        return self._session


class _Connector(aiohttp.TCPConnector):
    """Completes every connection that it starts, and can break all of them.

    asyncio (3.11) leaks the socket of a TLS connection that is cancelled before its handshake
    begins. So a cancelled caller leaves, the connection is completed in the background, and then
    closed.
    """

    def __init__(self) -> None:
        # The client limits requests; streams must never wait for a place.
        super().__init__(limit=0, keepalive_timeout=IDLE_SECONDS)
        self._leaving = False
        self._making: set[asyncio.Task[ResponseHandler]] = set()
        self._transports: WeakSet[asyncio.Transport] = WeakSet()

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Trace], limits: aiohttp.ClientTimeout
    ) -> ResponseHandler:
        if self._leaving:  # aiohttp retries by itself when a connection breaks.
            raise TimeoutError
        making = asyncio.create_task(super()._create_connection(req, traces, limits))
        self._making.add(making)
        making.add_done_callback(self._making.discard)
        try:
            await asyncio.wait({making})
        except asyncio.CancelledError:
            making.add_done_callback(_throw_away)
            raise
        if making.cancelled():
            raise TimeoutError
        protocol = making.result()
        if protocol.transport is not None:
            self._transports.add(protocol.transport)
        return protocol

    async def break_all(self) -> None:
        """Break every connection under its reader; with aiohttp's close the reader waits."""
        self._leaving = True
        if self._making:
            _, late = await asyncio.wait(list(self._making), timeout=SETTLE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for transport in list(self._transports):
            transport.abort()
        for _ in range(TURNS_TO_NOTICE):
            await asyncio.sleep(0)


def hang_up(response: aiohttp.ClientResponse) -> None:
    """End a stream at once: a graceful end of TLS would wait for the server's answer."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()


def _throw_away(making: asyncio.Task[ResponseHandler]) -> None:
    if making.cancelled() or making.exception() is not None:
        return
    transport = making.result().transport
    if transport is not None:
        transport.abort()
