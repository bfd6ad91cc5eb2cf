"""One aiohttp session to one API server: the only module that sends requests.

`client` decides what to send and to repeat, `request_auth` has the credentials, `transport`
translates errors. The path of a request is short: headers and limits are built in advance, URLs are
already encoded, bodies are bytes. A request is sent by `exchange`; only streams, and requests
through a proxy, need aiohttp's ClientSession. `connector` has the connections of both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import aiohttp
from yarl import URL

from headroom.kube.access import Access
from headroom.kube.answers import Answer, seconds_to_wait
from headroom.kube.connections.connector import Connector
from headroom.kube.connections.deadlines import Deadline, Deadlines
from headroom.kube.connections.exchange import Exchange, abort
from headroom.kube.connections.silence import SilenceTimer
from headroom.kube.errors import Closed, TooLarge
from headroom.kube.request_auth import JSON, RequestAuth
from headroom.kube.servertime import ServerTime
from headroom.kube.transport import TRANSPORT_ERRORS, translated

READ_BUFFER = 2**18
LARGEST_REFUSAL = 2**20


class Session:
    """Sends requests; the aiohttp session is created at the first use, inside the running loop."""

    def __init__(
        self,
        access: Access,
        auth: RequestAuth,
        connect_seconds: float,
        request_seconds: float,
        largest: int,
    ) -> None:
        self.closed = False
        self.server_time = ServerTime()
        self._access = access
        self._auth = auth
        self._connect_seconds = connect_seconds
        self._largest = largest
        self._deadlines = Deadlines(request_seconds)
        self._limits = self._limited(total=request_seconds)
        self._exchange = Exchange(access.endpoint, auth, self._limited(), READ_BUFFER)
        login = access.endpoint.proxy_login
        # aiohttp turns it into Proxy-Authorization, in CONNECT and in plain requests.
        self._proxy_headers = {"Authorization": login.basic} if login else None
        self._pool: tuple[Connector, aiohttp.ClientSession] | None = None

    async def send(self, method: str, path: str, body: bytes | None, content_type: str) -> Answer:
        """Send one request and read the whole answer."""
        if self._access.endpoint.proxy:
            response = await self._request(method, path, body, content_type, self._limits)
            return await self.finish(response)
        connector, _ = self._opened()
        deadline: Deadline | None = None
        try:
            request = self._exchange.encoded(method, path, body, content_type)
            connection = await self._exchange.connect(connector)
            deadline = self._deadlines.begin(connection)
            try:
                message, content = await self._exchange.send(connection, request)
                self.server_time.note(message.headers.get("Date"))
                whole = await self._whole(content, message.code)
                if deadline.late:  # The end of the connection may look like that of the answer.
                    raise TimeoutError
            except BaseException:
                abort(connection)
                raise
            finally:
                deadline.connection = None
        except TRANSPORT_ERRORS as error:
            if isinstance(error, aiohttp.ClientSSLError):
                self._auth.forget()
            late = deadline is not None and deadline.late
            raise translated(TimeoutError() if late else error, self._access) from error
        connection.release()
        return Answer(message.code, whole, seconds_to_wait(message.headers.get("Retry-After")))

    async def open_stream(self, path: str, quiet: float) -> aiohttp.ClientResponse:
        """Open an endless answer; silence for `quiet` seconds before it begins is an error."""
        response = await self._request("GET", path, None, JSON, self._limited(sock_read=quiet))
        if response.connection is not None and response.connection.protocol is not None:
            response.connection.protocol.read_timeout = None  # From now on, `chunks` counts.
        return response

    async def chunks(
        self, response: aiohttp.ClientResponse, quiet: float
    ) -> AsyncGenerator[bytes, None]:
        """The chunks of a stream, as they arrive; silence for `quiet` seconds is an error."""
        timer = SilenceTimer(response.content, quiet, asyncio.get_running_loop())
        try:
            while chunk := await timer.next_chunk():
                yield chunk
        except TRANSPORT_ERRORS as error:
            raise translated(error, self._access) from error
        finally:
            timer.stop()

    async def finish(self, response: aiohttp.ClientResponse) -> Answer:
        """Read an answer to its end, so that the connection can be used again."""
        try:
            content = await self._whole(response.content, response.status)
        except TRANSPORT_ERRORS as error:
            hang_up(response)
            raise translated(error, self._access) from error
        except BaseException:
            hang_up(response)
            raise
        return Answer(
            response.status, content, seconds_to_wait(response.headers.get("Retry-After"))
        )

    async def _whole(self, content: aiohttp.StreamReader, status: int) -> bytes:
        largest = self._largest if status < 300 else LARGEST_REFUSAL
        parts: list[bytes] = []
        size = 0
        while not content.at_eof():
            part = await content.readany()
            parts.append(part)
            size += len(part)
            if size > largest:
                server = self._access.endpoint.server
                raise TooLarge(f"{server}: an answer of more than {largest} bytes")
        return b"".join(parts)

    async def close(self) -> None:
        """Close every connection; pending requests fail at once."""
        self.closed = True
        if self._pool is not None:
            connector, session = self._pool
            await connector.break_all()
            await session.close()

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
        tls = self._auth.tls
        _, session = self._opened()
        try:
            response = await session.request(
                method,
                URL(endpoint.server + path, encoded=True),
                data=body,
                headers=self._auth.headers(content_type),
                timeout=limits,
                ssl=tls if tls is not None else True,
                server_hostname=endpoint.tls_server_name or None,
                proxy=endpoint.proxy or None,
                proxy_headers=self._proxy_headers,
                allow_redirects=False,
            )
        except TRANSPORT_ERRORS as error:
            if isinstance(error, aiohttp.ClientSSLError):
                self._auth.forget()
            raise translated(error, self._access) from error
        self.server_time.note(response.headers.get("Date"))
        return response

    def _opened(self) -> tuple[Connector, aiohttp.ClientSession]:
        if self.closed:
            raise Closed(f"{self._access.endpoint.server}: this client was closed")
        if self._pool is None:
            connector = Connector()
            self._pool = (
                connector,
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    read_bufsize=READ_BUFFER,
                    auto_decompress=False,
                    trust_env=False,
                ),
            )
        return self._pool


def hang_up(response: aiohttp.ClientResponse) -> None:
    """End a stream at once: a graceful end of TLS would wait for the server's answer."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()
