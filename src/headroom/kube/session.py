"""Streams, and requests through a proxy, by aiohttp; short direct requests go through `http1`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from headroom.kube.access import Access
from headroom.kube.answers import Answer, seconds_to_wait
from headroom.kube.openings import Openings
from headroom.kube.passport import JSON, Passport
from headroom.kube.transport import TRANSPORT_ERRORS, translated

READ_BUFFER = 2**18
TURNS_TO_NOTICE = 3  # of the event loop: transport, TLS, reader. aiohttp would not wake the reader.


class Session:
    """One aiohttp session to one API server; made when first used, inside the running loop."""

    def __init__(self, access: Access, passport: Passport, connect_seconds: float) -> None:
        self._access = access
        self._passport = passport
        self._connect_seconds = connect_seconds
        self._session: aiohttp.ClientSession | None = None
        self._streams: set[aiohttp.ClientResponse] = set()
        self._openings: Openings[aiohttp.ClientResponse] = Openings(hang_up)

    async def open_stream(self, path: str, quiet: float) -> aiohttp.ClientResponse:
        """Start an answer without an end; silence for `quiet` seconds will break it."""
        limits = aiohttp.ClientTimeout(
            total=None, sock_connect=self._connect_seconds, sock_read=quiet
        )
        stream = await self._request("GET", path, None, JSON, limits)
        self._streams.add(stream)
        return stream

    def end_stream(self, stream: aiohttp.ClientResponse) -> None:
        """Let go of a stream, whatever it may still have to say."""
        self._streams.discard(stream)
        hang_up(stream)

    async def send(
        self, method: str, path: str, body: bytes | None, content_type: str, seconds: float
    ) -> Answer:
        """Send one request and read the whole answer."""
        limits = aiohttp.ClientTimeout(total=seconds, sock_connect=self._connect_seconds)
        return await self.finish(await self._request(method, path, body, content_type, limits))

    async def finish(self, response: aiohttp.ClientResponse) -> Answer:
        """Read an answer to its end, so that the connection can serve again."""
        try:
            content = await response.read()
        except TRANSPORT_ERRORS as error:
            raise translated(error, self._access) from error
        return Answer(
            response.status, content, seconds_to_wait(response.headers.get("Retry-After"))
        )

    async def chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """What a stream says, as it comes."""
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except TRANSPORT_ERRORS as error:
            raise translated(error, self._access) from error

    async def close(self) -> None:
        """End every stream, so that its reader is told, and close every connection."""
        if self._session is not None:
            await self._openings.settle()
            for stream in list(self._streams):
                _cut(stream)
            for _ in range(TURNS_TO_NOTICE):
                await asyncio.sleep(0)
            await self._session.close()
            self._session = None

    async def _request(
        self,
        method: str,
        path: str,
        body: bytes | None,
        content_type: str,
        limits: aiohttp.ClientTimeout,
    ) -> aiohttp.ClientResponse:
        if self._session is None:
            self._session = _new_session()
        endpoint = self._access.endpoint
        tls = self._passport.tls
        request = self._session.request(
            method,
            URL(endpoint.server + path, encoded=True),
            data=body,
            headers=CIMultiDict(self._passport.headers(content_type)),
            timeout=limits,
            ssl=tls if tls is not None else True,
            server_hostname=endpoint.tls_server_name or None,
            proxy=endpoint.proxy or None,
            allow_redirects=False,
        )
        try:
            return await self._openings.open(_opened(request))
        except TRANSPORT_ERRORS as error:
            if isinstance(error, aiohttp.ClientSSLError):
                self._passport.forget()
            raise translated(error, self._access) from error


def hang_up(response: aiohttp.ClientResponse) -> None:
    """End a stream at once: a polite end of TLS would wait for the server's answer."""
    _cut(response)
    response.close()


def _cut(response: aiohttp.ClientResponse) -> None:
    """Break the connection under a response, which tells whoever reads it."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def _opened(request: Awaitable[aiohttp.ClientResponse]) -> aiohttp.ClientResponse:
    return await request


def _new_session() -> aiohttp.ClientSession:
    # Requests are bounded by the client's slots; streams must never wait for a place in the pool.
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=READ_BUFFER,
        auto_decompress=False,
        trust_env=False,
    )
