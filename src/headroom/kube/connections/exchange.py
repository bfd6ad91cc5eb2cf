"""One request and its answer on a connection of aiohttp's pool, without the rest of its client.

aiohttp's ClientSession makes twice as many calls for a write, and its task that sends the body
takes another turn of the event loop. The pool, TLS and the parser are aiohttp's here, too. Streams,
and requests through a proxy, use the ClientSession (`session`).

A connection belongs to one request until its answer was read to the end. If anything happens
before, it is broken: the answer of one request must never be taken for that of the next.
"""

from __future__ import annotations

import asyncio
import re

import aiohttp
from aiohttp.connector import Connection
from aiohttp.http import HttpProcessingError, RawResponseMessage
from aiohttp.streams import StreamReader
from multidict import CIMultiDict
from yarl import URL

from headroom.kube.access import Endpoint
from headroom.kube.request_auth import RequestAuth

ONE_WORD = re.compile(r"[!-~]+")  # A space or a line break would end the target of a request.

Received = tuple[RawResponseMessage, StreamReader]


class Exchange:
    """Sends requests to one server, and reads the heads of their answers."""

    def __init__(
        self, endpoint: Endpoint, auth: RequestAuth, limits: aiohttp.ClientTimeout, buffer: int
    ) -> None:
        self._url = URL(endpoint.server, encoded=True)
        self._prefix = self._url.raw_path.rstrip("/")
        self._name = endpoint.tls_server_name or None
        self._auth = auth
        self._limits = limits  # for connecting
        self._buffer = buffer
        self._target: aiohttp.ClientRequest | None = None
        self._heads: dict[str, tuple[CIMultiDict[str], bytes]] = {}  # by type of body

    def encoded(self, method: str, path: str, body: bytes | None, content_type: str) -> bytes:
        """A whole request as bytes."""
        if ONE_WORD.fullmatch(path) is None:
            raise aiohttp.InvalidURL(path)
        headers = self._auth.headers(content_type)
        made = self._heads.get(content_type)
        if made is None or made[0] is not headers:  # New credentials have new headers.
            made = self._heads[content_type] = headers, self._head(headers)
        first = f"{method} {self._prefix}{path} HTTP/1.1\r\n".encode("ascii")
        if body is None:
            return b"%b%b\r\n" % (first, made[1])
        return b"%b%bContent-Length: %d\r\n\r\n%b" % (first, made[1], len(body), body)

    async def connect(self, connector: aiohttp.TCPConnector) -> Connection:
        """A connection from the pool, or a new one; the caller releases or breaks it.

        Raises ConnectionTimeoutError or ClientConnectorError: nothing was sent.
        """
        try:
            return await connector.connect(self._destination(), [], self._limits)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError from error

    async def send(self, connection: Connection, request: bytes) -> Received:
        """Send one request; the caller reads the content of the answer.

        Raises what aiohttp raises: ServerDisconnectedError and others after it was sent.
        """
        protocol, transport = connection.protocol, connection.transport
        # Bytes that nobody has asked for would be taken for the answer.
        if protocol is None or transport is None or protocol.should_close:
            raise aiohttp.ClientConnectionResetError
        protocol.set_response_params(
            read_until_eof=True, auto_decompress=False, read_bufsize=self._buffer
        )
        transport.write(request)
        try:
            while True:
                message, content = await protocol.read()
                if not 100 <= message.code < 200 or message.code == 101:  # Not a provisional one.
                    return message, content
        except HttpProcessingError as error:
            raise aiohttp.ClientPayloadError(f"not HTTP: {error}") from error

    def _destination(self) -> aiohttp.ClientRequest:
        """What the pool must know to find a connection, or to make one."""
        tls = self._auth.tls if self._auth.tls is not None else True
        if self._target is None or self._target.ssl is not tls:
            loop = asyncio.get_running_loop()
            self._target = aiohttp.ClientRequest(
                "GET", self._url, loop=loop, ssl=tls, server_hostname=self._name
            )
        return self._target

    def _head(self, headers: CIMultiDict[str]) -> bytes:
        lines = [("Host", self._destination().headers["Host"]), *headers.items()]
        return "".join(f"{name}: {value}\r\n" for name, value in lines).encode()


def abort(connection: Connection) -> None:
    """Break a connection at once: a graceful end of TLS would wait for the server's answer."""
    if connection.transport is not None:
        connection.transport.abort()
    connection.close()
